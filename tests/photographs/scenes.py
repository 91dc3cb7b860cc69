"""Photographs of a sheet of paper: ruling, ink, light, perspective, blur, noise and JPEG."""

import io
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageFilter
from scipy import ndimage

from tests.photographs.pens import Shape

PAPERS = ("plain", "ruled", "squared")
_INKS = {  # share of red, green and blue light that the ink swallows
    "black": (0.85, 0.85, 0.82),
    "blue": (0.85, 0.75, 0.35),
    "red": (0.2, 0.8, 0.75),
    "green": (0.8, 0.4, 0.7),
    "pencil": (0.5, 0.5, 0.48),
}
_RULINGS = {"grey": (0.9, 0.9, 0.9), "blue": (1, 0.7, 0.35), "violet": (0.8, 1, 0.5)}
_SIZES = ((640, 480), (1280, 960), (2016, 1512), (4000, 3000))


@dataclass(frozen=True)
class Scene:
    """How a sheet was photographed; lengths are in heights of the digit."""

    paper: str
    size: tuple[int, int]  # pixels
    digit: float  # height of the digit, as a share of the picture's shorter side
    at: tuple[float, float]  # middle of the digit, as shares of the picture
    turn: float  # degrees of the sheet against the camera
    tilt: tuple[float, float]  # perspective
    bend: float  # how far the sheet bulges
    spacing: float  # of the ruling
    line: float  # width of a line of the ruling
    line_ink: tuple[float, float, float]
    margin: bool  # a red line down the page
    pen: float  # width of the stroke
    ink: tuple[float, float, float]
    grain: float  # unevenness of the ink
    harsh: bool  # hard light: dark shadows with sharp edges, of fingers and of a pen
    shadow: str
    shade: float  # light left in the shadow
    lamp: float  # fall of the light across the picture
    tone: float  # brightness of the paper
    blur: float  # share of the shorter side
    shake: float
    noise: float
    quality: int  # of the JPEG
    seed: int

    @property
    def pale(self) -> bool:
        return max(self.ink) < 0.4


@dataclass(frozen=True)
class Photograph:
    scene: Scene
    file: bytes  # JPEG
    centre: np.ndarray  # [m, 2] x and y of the centre line in the picture, in pixels


def draw_scene(rng: np.random.Generator) -> Scene:
    """Choose a scene at random."""
    size = _SIZES[rng.choice(4, p=[0.3, 0.3, 0.25, 0.15])]
    portrait = rng.random() < 0.4
    digit = float(rng.uniform(0.18, 0.7))
    room = digit / 2 + 0.06
    harsh = bool(rng.random() < 0.2)
    shadows = ("none", "edge", "hand", "strip") if harsh else ("none", "edge", "hand")
    chances = [0.1, 0.3, 0.3, 0.3] if harsh else [0.4, 0.35, 0.25]
    ink = np.array(_INKS[str(rng.choice(list(_INKS)))]) * rng.uniform(0.75, 1.1)
    if rng.random() < 0.2:
        ink = ink * 0.3 / ink.max()
    strength = rng.uniform(0.08, 0.3) if rng.random() < 0.8 else rng.uniform(0.3, 0.42)
    ruling = np.array(_RULINGS[str(rng.choice(list(_RULINGS)))]) * min(strength, 0.75 * ink.max())
    return Scene(
        paper=str(rng.choice(PAPERS)),
        size=size[::-1] if portrait else size,
        digit=digit,
        at=(float(rng.uniform(room, 1 - room)), float(rng.uniform(room, 1 - room))),
        turn=float(rng.uniform(-9, 9)),
        tilt=(float(rng.normal(0, 0.07)), float(rng.normal(0, 0.07))),
        bend=float(rng.choice([0, 0, 0.02, 0.04]) * rng.choice([-1, 1])),
        spacing=float(rng.uniform(0.16, 0.75)),
        line=float(rng.uniform(0.006, 0.02)),
        line_ink=(float(ruling[0]), float(ruling[1]), float(ruling[2])),
        margin=bool(rng.random() < 0.25),
        pen=float(np.exp(rng.uniform(np.log(0.035), np.log(0.16)))),
        ink=(float(ink[0]), float(ink[1]), float(ink[2])),
        grain=float(rng.choice([0, 0.1, 0.25])),
        harsh=harsh,
        shadow=str(rng.choice(shadows, p=chances)),
        shade=float(rng.uniform(0.4, 0.85) if harsh else rng.uniform(0.55, 0.9)),
        lamp=float(rng.uniform(0, 0.45)),
        tone=float(rng.uniform(0.7, 0.97)),
        blur=float(rng.choice([0, 0.001, 0.003])),
        shake=float(rng.choice([0, 0, 0.006])),
        noise=float(rng.choice([0.005, 0.015, 0.03])),
        quality=int(rng.choice([35, 60, 80, 92])),
        seed=int(rng.integers(2**31)),
    )


def take(shape: Shape, scene: Scene) -> Photograph:
    """Photograph a shape as the scene says."""
    rng = np.random.default_rng(scene.seed)
    camera = _camera(scene)
    width, height = scene.size
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    # x and y of each pixel on the sheet, in heights of the digit
    w = camera[2, 0] * x + camera[2, 1] * y + camera[2, 2]
    u = (camera[0, 0] * x + camera[0, 1] * y + camera[0, 2]) / w
    v = (camera[1, 0] * x + camera[1, 1] * y + camera[1, 2]) / w
    v += scene.bend * np.sin(1.7 * u)
    unit = 1 / (scene.digit * min(scene.size))  # size of a pixel on the sheet, about
    cover = {"line": _ruling(u, v, scene, unit), "ink": _ink(u, v, shape, scene, unit, rng)}
    red = _stripe(u + 1.3, 1.5 * scene.line, unit) if scene.margin else None
    del u, v, w, x, y
    light = _light(scene, rng) * scene.tone
    picture = np.empty((height, width, 3), np.uint8)
    cast = 1 - rng.uniform(0, 0.12, 3)
    noise = rng.normal(0, 255 * scene.noise, (height, width)).astype(np.float32)
    for channel in range(3):
        seen = light * cast[channel]
        seen = seen * (1 - scene.line_ink[channel] * cover["line"])
        if red is not None:
            seen = seen * (1 - (0.1, 0.35, 0.3)[channel] * red)
        seen = seen * (1 - scene.ink[channel] * cover["ink"])
        seen = 255 * _blurred(seen, scene) + np.roll(noise, 37 * channel, (0, 1))
        picture[:, :, channel] = np.clip(seen, 0, 255)
    return Photograph(scene, _jpeg(picture, scene.quality), _seen_at(shape, scene, camera))


def _camera(scene: Scene) -> np.ndarray:
    """[3, 3] homography from pixels of the picture to the sheet."""
    width, height = scene.size
    scale = scene.digit * min(scene.size)
    angle = np.deg2rad(scene.turn)
    turned = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) * scale
    place = np.eye(3)
    place[:2, :2] = turned
    place[:2, 2] = scene.at[0] * width, scene.at[1] * height
    tilted = np.eye(3)
    tilted[2, :2] = np.array(scene.tilt) * scene.digit
    return np.linalg.inv(place @ tilted)


def _seen_at(shape: Shape, scene: Scene, camera: np.ndarray) -> np.ndarray:
    """[m, 2] where points of the centre line come to lie in the picture."""
    u, v = shape.centre.T
    sheet = np.stack([u, v - scene.bend * np.sin(1.7 * u), np.ones_like(u)])
    x, y, w = np.linalg.inv(camera) @ sheet
    return np.stack([x / w, y / w], axis=1)


def _stripe(offset: np.ndarray, width: float, unit: float) -> np.ndarray:
    return np.clip((width / 2 - np.abs(offset)) / unit + 0.5, 0, min(1.0, width / unit))


def _ruling(u: np.ndarray, v: np.ndarray, scene: Scene, unit: float) -> np.ndarray:
    if scene.paper == "plain":
        return np.zeros_like(u)
    phase = (scene.seed % 97) / 97
    across = (v / scene.spacing + phase + 0.5) % 1 - 0.5
    lines = _stripe(across * scene.spacing, scene.line, unit)
    if scene.paper == "squared":
        along = (u / scene.spacing + 2 * phase + 0.5) % 1 - 0.5
        lines = np.maximum(lines, _stripe(along * scene.spacing, scene.line, unit))
    return lines


def _ink(
    u: np.ndarray,
    v: np.ndarray,
    shape: Shape,
    scene: Scene,
    unit: float,
    rng: np.random.Generator,
) -> np.ndarray:
    """Share of each pixel that ink covers."""
    reach = 0.5 + scene.pen
    rows, columns = np.nonzero((np.abs(u) < reach) & (np.abs(v) < reach))
    window = np.s_[rows.min() : rows.max() + 1, columns.min() : columns.max() + 1]
    distance = shape.distance(u[window], v[window])
    half = 0.0 if shape.outlined else scene.pen / 2
    cover = np.clip((half - distance) / unit + 0.5, 0, 1)
    if scene.grain:
        speckle = rng.normal(0, 1, tuple(max(2, side // 3) for side in cover.shape))
        grain = Image.fromarray(speckle.astype(np.float32)).resize(cover.shape[::-1])
        cover = cover * np.clip(1 - scene.grain * np.abs(np.asarray(grain)), 0, 1)
    whole = np.zeros_like(u)
    whole[window] = cover
    return whole


def _light(scene: Scene, rng: np.random.Generator) -> np.ndarray:
    """[H, W] light that falls on the sheet; drawn small, since it is smooth."""
    width, height = scene.size
    small = (round(400 * width / max(scene.size)), round(400 * height / max(scene.size)))
    y, x = np.mgrid[0 : small[1], 0 : small[0]] / 400
    away = rng.uniform(0, 2 * np.pi)
    slope = (x - 0.5) * np.cos(away) + (y - 0.4) * np.sin(away)
    light = 1 - scene.lamp * (slope - slope.min()) / np.ptp(slope)
    away = rng.uniform(0, 2 * np.pi)
    across = (x - rng.uniform(0.3, 0.7)) * np.cos(away) + (y - rng.uniform(0.2, 0.6)) * np.sin(away)
    along = -(x - 0.5) * np.sin(away) + (y - 0.4) * np.cos(away)
    if scene.shadow == "none":
        dark = np.zeros_like(x)
    elif scene.shadow == "edge":
        dark = across > 0
    elif scene.shadow == "strip":
        dark = np.abs(across) < rng.uniform(0.04, 0.12)
    else:  # a palm and three fingers
        dark = np.hypot(across, along - 0.3) < 0.28
        for finger in (-0.16, 0.0, 0.16):
            dark |= (
                (np.abs(across - finger) < 0.05) & (along > -rng.uniform(0.05, 0.2)) & (along < 0.2)
            )
    blur = rng.uniform(2, 8) if scene.harsh else rng.uniform(8, 24)
    soft = ndimage.gaussian_filter(dark.astype(np.float32), blur)
    light = (light * (1 - (1 - scene.shade) * soft)).astype(np.float32)
    return np.asarray(Image.fromarray(light).resize(scene.size, Image.Resampling.BILINEAR))


def _blurred(seen: np.ndarray, scene: Scene) -> np.ndarray:
    side = min(scene.size)
    if scene.shake * side >= 2:
        seen = ndimage.uniform_filter1d(seen, round(scene.shake * side), axis=scene.seed % 2)
    if scene.blur * side < 0.3:
        return seen
    picture = Image.fromarray(np.uint8(np.clip(255 * seen, 0, 255)))
    return np.asarray(picture.filter(ImageFilter.GaussianBlur(scene.blur * side)), np.float32) / 255


def _jpeg(picture: np.ndarray, quality: int) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, "JPEG", quality=quality)
    return buffer.getvalue()
