"""Which pixels of a picture are ink: colour, uneven light, dark or light strokes."""

from dataclasses import dataclass

import numpy as np
from PIL import Image
from scipy import ndimage

from fgpvae.errors import UserError

WORK_SIDE = 512  # longest side of the arrays that are worked on
_LUMINANCE = np.array([0.299, 0.587, 0.114])
_FLAT = 0.03  # evenly lit paper varies less than this
_FAINTEST = 0.07  # contrast of ink against paper below which a page is called blank


@dataclass(frozen=True)
class Ink:
    grey: np.ndarray  # [H, W] the channel in which the ink stands out most
    even: np.ndarray  # [H, W] the same with uneven light taken out
    level: np.ndarray  # [H, W] 0 paper, 1 ink, soft in between
    mask: np.ndarray  # [H, W] bool, surely ink and what hangs on it
    dark: bool  # ink is darker than paper
    notes: tuple[str, ...]


def find_ink(picture: Image.Image, invert: bool | None = None) -> Ink:
    """Separate ink from paper; `invert` True says that the ink is dark, False that it is light."""
    factor = min(1.0, WORK_SIDE / max(picture.size))
    size = [max(1, round(side * factor)) for side in picture.size]
    colours = np.asarray(picture.resize(size, Image.Resampling.BOX), np.float32) / 255
    grey, notes = _most_telling_channel(colours)  # [H, W]
    level = _flat_paper(grey)
    detail = grey - (_surroundings(grey) if level is None else level)
    # strokes are the rare side of the distribution: a negative third moment means dark ink
    dark = bool((detail.astype(np.float64) ** 3).sum() < 0)
    if invert is not None:
        level = level if dark == invert else None
        dark = invert
        notes.append(f"Ink was taken to be {'darker' if dark else 'lighter'} than the paper.")
    elif dark:
        notes.append("Ink is darker than the paper, so it was inverted.")
    else:
        notes.append("Ink is lighter than the paper, as the model expects.")

    light = 1 - grey if not dark else grey  # from here on as if ink were dark
    evenly_lit = level is not None
    if level is None:
        paper = _uneven_paper(light)
        notes.append("The light was uneven and was evened out.")
    else:
        paper = np.full_like(light, level if dark else 1 - level)
    # share of the paper's light that the ink swallows
    swallowed = np.clip((paper - light) / np.maximum(paper, 0.15), 0, 1)
    even = 1 - swallowed if dark else swallowed
    sure_paper = np.abs(paper - light) < _FLAT if evenly_lit else np.ones(grey.shape, bool)
    ink, mask = _soft_threshold(swallowed, sure_paper)
    return Ink(grey, even, ink, mask, dark, tuple(notes))


def _most_telling_channel(colours: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Luminance, unless the ink stands out much more in one colour: [H, W, 3] -> [H, W]."""
    channels = {"luminance": colours @ _LUMINANCE.astype(np.float32)}
    if np.ptp(colours, axis=2).max() > 0.1:
        for index, name in enumerate(("red", "green", "blue")):
            channels[name] = colours[:, :, index]
    contrast = {name: _contrast(channel) for name, channel in channels.items()}
    best = max(contrast, key=contrast.__getitem__)
    if contrast[best] < 1.5 * contrast["luminance"]:
        return channels["luminance"], []
    return channels[best], [f"The ink stands out most in {best} light, so that was used."]


def _contrast(channel: np.ndarray) -> float:
    """How far strokes stand out from their surroundings, noise taken off."""
    detail = np.abs(channel - _surroundings(channel))
    return float(max(1e-3, np.percentile(detail, 99) - 3 * noise_of(channel)))


def _surroundings(grey: np.ndarray) -> np.ndarray:
    """Mean over about a third of the picture around each pixel."""
    reach = max(3, max(grey.shape) // 5)
    return ndimage.uniform_filter(ndimage.uniform_filter(grey, reach), reach)


def noise_of(grey: np.ndarray) -> float:
    """Standard deviation of pixel noise, from a mask that is blind to edges and slopes."""
    blind = np.array([[1, -2, 1], [-2, 4, -2], [1, -2, 1]]) / 6
    response = np.abs(ndimage.convolve(grey, blind.astype(grey.dtype)))
    return float(1.4826 * np.median(response))


def _flat_paper(grey: np.ndarray) -> float | None:
    """The level of evenly lit paper, seen at the rim of the picture, or None."""
    width = max(1, round(0.04 * min(grey.shape)))
    rim = np.ones(grey.shape, bool)
    rim[width:-width, width:-width] = False
    counts, edges = np.histogram(grey[rim], bins=64, range=(0, 1))
    middle = edges[counts.argmax()] + 1 / 128
    level = np.median(grey[rim & (np.abs(grey - middle) <= 1 / 128)])
    near = np.abs(grey - level) < _FLAT
    low, high = np.percentile(grey, [1, 99])
    ink = np.abs(grey - (low if level - low > high - level else high)) < 0.1
    two_tones = (near | ink).mean() > 0.92  # strokes may then run along the rim
    flat = near[rim].mean() > (0.5 if two_tones else 0.85) and near.mean() > 0.3
    return float(level) if flat else None


def _uneven_paper(light: np.ndarray) -> np.ndarray:
    """Paper under dark ink: a closing removes every dark thing narrower than a quarter."""
    reach = max(3, max(light.shape) // 4)
    calm = np.pad(ndimage.median_filter(light, 3), reach, mode="edge")
    return ndimage.grey_closing(calm, (reach, reach))[reach:-reach, reach:-reach]


def _soft_threshold(swallowed: np.ndarray, sure_paper: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """[H, W] contrast -> ink level in 0..1 and a mask with hysteresis; refuses a blank page."""
    noise = noise_of(swallowed)
    blur = 0.0 if noise < 0.02 else 1.0 if noise < 0.08 else 2.0
    smooth = ndimage.gaussian_filter(swallowed, blur) if blur else swallowed
    fewest = max(4, smooth.size // 10_000)
    peak = np.partition(smooth.ravel(), -fewest)[-fewest]
    floor = float(np.median(smooth[sure_paper]))
    spread = 1.4826 * float(np.median(np.abs(smooth[sure_paper] - floor)))
    if peak - floor < _FAINTEST:
        raise UserError("The picture looks blank: there is no ink that stands out from the paper.")
    if peak - floor < 5.5 * spread and spread > 0.02:
        raise UserError("The picture is full of noise: no digit stands out from the paper.")
    # threshold t = (mean paper + mean ink) / 2, from above, so that rare ink is enough
    threshold = (peak + floor) / 2
    for _ in range(30):
        ink = smooth > threshold
        following = (smooth[ink].mean() + smooth[~ink].mean()) / 2
        if abs(following - threshold) < 1e-4:
            break
        threshold = following
    low = min(threshold, max(0.55 * threshold, floor + 4 * spread))
    mask = ndimage.binary_propagation(smooth > threshold, np.ones((3, 3)), smooth > low)
    full = np.percentile(smooth[smooth > threshold], 70)
    black = floor + 3 * spread if spread > 0.004 else floor
    level = np.clip((smooth - black) / max(full - black, 1e-3), 0, 1)
    return level, mask
