"""Pictures that the tests draw themselves, pleasant and hostile, through `fgpvae.images`."""

import gc
import io
import struct
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps
from scipy import ndimage

from fgpvae.data import unseen
from fgpvae.errors import UserError
from fgpvae.images import Options, normalise, read_picture, squares, strip, to_gif, to_png

PEN = {  # strokes of a digit in the unit square
    "0": [[(0.5, 0), (0.1, 0.3), (0.1, 0.7), (0.5, 1), (0.9, 0.7), (0.9, 0.3), (0.5, 0)]],
    "2": [[(0.05, 0.25), (0.4, 0), (0.85, 0.2), (0.6, 0.6), (0.05, 1), (0.95, 1)]],
    "3": [[(0.1, 0.05), (0.5, 0), (0.85, 0.2), (0.4, 0.48), (0.9, 0.75), (0.6, 1), (0.1, 0.92)]],
    "4": [[(0.3, 0), (0.05, 0.6), (0.95, 0.6)], [(0.7, 0.3), (0.65, 1)]],
    "5": [
        [(0.2, 0.13), (0.15, 0.45), (0.85, 0.6), (0.7, 0.95), (0.1, 0.95)],
        [(0.28, 0), (0.9, 0)],
    ],
    "7": [[(0.05, 0.05), (0.9, 0), (0.4, 1)]],
}


def drawn(
    digit: str = "3",
    height: float = 150,
    canvas: tuple[int, int] = (200, 200),
    width: float = 16,
    at: tuple[float, float] | None = None,
    ink: int = 0,
    paper: int = 255,
) -> Image.Image:
    """A digit in pen strokes, `at` its upper left corner, smooth by fourfold oversampling."""
    fold = 4 if max(canvas) <= 600 else 1
    picture = Image.new("L", (canvas[0] * fold, canvas[1] * fold), paper)
    pen = ImageDraw.Draw(picture)
    left, top = at or ((canvas[0] - 0.7 * height) / 2, (canvas[1] - height) / 2)
    for stroke in PEN[digit]:
        points = [(fold * (left + 0.7 * height * x), fold * (top + height * y)) for x, y in stroke]
        pen.line(points, ink, max(1, round(width * fold)), joint="curve")
        radius = width * fold / 2
        for x, y in (points[0], points[-1]) if radius > 1 else ():
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), ink)
    return picture.resize(canvas, Image.Resampling.BOX)


def printed(text: str, size: int = 150, canvas: int = 250, stroke: int = 0) -> Image.Image:
    picture = Image.new("L", (canvas, canvas), 255)
    ImageDraw.Draw(picture).text(
        (canvas / 2, canvas / 2),
        text,
        0,
        ImageFont.load_default(size=size),
        anchor="mm",
        stroke_width=stroke,
    )
    return picture


LIGHT: dict[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "gradient": lambda x, y: 0.35 + 0.65 * x,
    "vignette": lambda x, y: 1 - 1.3 * ((x - 0.5) ** 2 + (y - 0.5) ** 2),
    "dark corner": lambda x, y: 1 - 0.8 * np.exp(-(x**2 + y**2) / 0.15),
    "lamp": lambda x, y: 0.4 + 0.6 * np.exp(-((x - 0.3) ** 2 + (y - 0.3) ** 2) / 0.2),
    "shadow of a hand": lambda x, y: 0.45 + 0.55 / (1 + np.exp(-25 * (x + 0.2 * y - 0.55))),
    "shadow with an edge": lambda x, y: np.where(x + 0.3 * y > 0.6, 1, 0.5),
}


def lit(picture: Image.Image, light: str) -> Image.Image:
    y, x = np.mgrid[0 : picture.height, 0 : picture.width]
    share = LIGHT[light](x / picture.width, y / picture.height)
    return Image.fromarray(np.uint8(np.asarray(picture) * share))


def noisy(picture: Image.Image, sigma: float) -> Image.Image:
    pixels = np.asarray(picture, float)
    noise = np.random.default_rng(0).normal(0, 255 * sigma, pixels.shape)
    return Image.fromarray(np.uint8(np.clip(pixels + noise, 0, 255)))


def encoded(picture: Image.Image, kind: str = "PNG", **settings: object) -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind, **settings)
    return buffer.getvalue()


def coloured(ink: tuple[int, int, int], paper: tuple[int, int, int]) -> Image.Image:
    return ImageOps.colorize(drawn(), ink, paper)


def alike(one: np.ndarray, other: np.ndarray) -> float:
    """Correlation; a shift by one pixel is how a centre of mass is rounded, and allowed."""
    shifts = [(down, right) for down in (-1, 0, 1) for right in (-1, 0, 1)]
    return max(
        float(np.corrcoef(np.roll(one, shift, (0, 1)).ravel(), other.ravel())[0, 1])
        for shift in shifts
    )


def box(digit: np.ndarray) -> tuple[int, int]:
    rows, columns = np.nonzero(digit > 0.02)
    return int(np.ptp(rows)) + 1, int(np.ptp(columns)) + 1


def check_form(digit: np.ndarray) -> None:
    assert digit.shape == (28, 28)
    assert digit.dtype == np.float32
    assert digit.min() >= 0
    assert 0.9 <= digit.max() <= 1
    assert 17 <= max(box(digit)) <= 24  # 20 on average, as the size does not depend on the angle
    assert np.abs(np.array(ndimage.center_of_mass(digit)) - 14).max() < 0.6


def pixel(png_mode: str) -> Image.Image:
    """The standard picture in one of Pillow's modes."""
    grey = drawn()
    if png_mode == "I;16":
        return Image.fromarray(np.asarray(grey).astype(np.uint16) * 257)
    if png_mode == "P":
        return coloured((200, 30, 30), (250, 250, 220)).quantize(16)
    return grey.convert(png_mode)


# --- the form of MNIST


def test_mnist_digits_come_back_nearly_unchanged() -> None:
    digits = unseen()
    for image in digits.images[::7]:
        for picture in (np.asarray(image), to_png(image, 3)):
            found = normalise(picture).digit
            assert np.mean((found - np.clip(image, 0, 1)) ** 2) < 2e-3


def test_enlarged_handwriting_comes_back() -> None:
    scores = []
    for image in unseen().images[::23]:
        grey = Image.fromarray(np.uint8(255 * np.clip(image, 0, 1)))
        large = ImageOps.invert(grey.resize((196, 196), Image.Resampling.BICUBIC))
        page = Image.new("L", (320, 260), 255)
        page.paste(large, (100, 20))
        found = normalise(page).digit
        check_form(found)
        scores.append(alike(found, image))
    assert np.median(scores) > 0.93  # sizes differ by a few percent
    assert min(scores) > 0.75  # the thinnest and thickest strokes are adapted


CLEAN = {"3": drawn("3"), "5": drawn("5")}
SAME_DIGIT: dict[str, tuple[str, Callable[[], object]]] = {
    "array": ("3", lambda: np.asarray(drawn())),
    "PNG": ("3", lambda: encoded(drawn())),
    "poor JPEG": ("3", lambda: encoded(drawn(), "JPEG", quality=8)),
    "WebP": ("3", lambda: encoded(drawn(), "WEBP", quality=30)),
    "BMP": ("3", lambda: encoded(drawn(), "BMP")),
    "GIF": ("3", lambda: encoded(drawn(), "GIF")),
    "light on dark": ("3", lambda: drawn(ink=255, paper=0)),
    "faint": ("3", lambda: drawn(ink=225, paper=250)),
    "grey on grey": ("3", lambda: drawn(ink=90, paper=140)),
    "chalk": ("3", lambda: noisy(drawn(ink=200, paper=60), 0.06)),
    "red on white": ("3", lambda: coloured((220, 30, 30), (255, 255, 255))),
    "yellow on white": ("3", lambda: coloured((255, 240, 80), (255, 255, 255))),
    "red on green, equally bright": ("3", lambda: coloured((220, 90, 60), (60, 170, 60))),
    "off centre": ("3", lambda: drawn(canvas=(500, 300), at=(30, 120))),
    "tiny in a large picture": (
        "3",
        lambda: drawn(height=90, canvas=(1800, 1500), width=9, at=(250, 1200)),
    ),
    "enormous": ("3", lambda: drawn(height=2600, canvas=(3500, 3400), width=280)),
    "small": ("3", lambda: drawn(height=30, canvas=(40, 40), width=3.2)),
    "noise": ("3", lambda: noisy(drawn(), 0.2)),
    "blurred": ("3", lambda: drawn().filter(ImageFilter.GaussianBlur(4))),
    "touching the edge": ("3", lambda: drawn(height=178, canvas=(146, 198), width=19)),
    "specks": ("3", lambda: specks(drawn())),
    "framed": ("3", lambda: ImageOps.expand(drawn().crop((8, 8, 192, 192)), 8, 0)),
    "sheet on a table": ("3", lambda: on_table(drawn(canvas=(240, 260)))),
    "ruled paper": ("3", lambda: ruled(drawn(canvas=(300, 300), height=225, width=24))),
    "broken stroke": ("3", lambda: cut(drawn(), np.s_[95:101, :])),
    "photo of a bar apart": (
        "5",
        lambda: encoded(
            noisy(lit(drawn("5", 300, (600, 450), 30, ink=60, paper=220), "lamp"), 0.03),
            "JPEG",
            quality=60,
        ),
    ),
}


def specks(picture: Image.Image) -> Image.Image:
    pen = ImageDraw.Draw(picture)
    for x, y in np.random.default_rng(3).integers(0, 200, (30, 2)):
        pen.point((x, y), 0)
    return picture


def on_table(sheet: Image.Image) -> Image.Image:
    table = Image.new("L", (450, 400), 50)
    table.paste(sheet, (90, 60))
    return noisy(table, 0.02)


def ruled(picture: Image.Image) -> Image.Image:
    lines = Image.new("L", picture.size, 255)
    for y in range(15, picture.height, 30):
        ImageDraw.Draw(lines).line((0, y, picture.width, y), 205, 2)
    return ImageChops.darker(lines, picture)


def cut(picture: Image.Image, where: tuple[slice, slice]) -> Image.Image:
    pixels = np.array(picture)
    pixels[where] = 255
    return Image.fromarray(pixels)


@pytest.mark.parametrize("name", SAME_DIGIT)
def test_the_same_digit_in_another_picture(name: str) -> None:
    digit, picture = SAME_DIGIT[name]
    found = normalise(picture()).digit
    check_form(found)
    assert alike(found, normalise(CLEAN[digit]).digit) > 0.9


@pytest.mark.parametrize("light", LIGHT)
def test_uneven_light(light: str) -> None:
    clean = normalise(drawn("2", canvas=(300, 220))).digit
    photo = lit(drawn("2", canvas=(300, 220), ink=40, paper=235), light)
    for picture in (photo, encoded(noisy(photo, 0.03), "JPEG", quality=70)):
        found = normalise(picture)
        check_form(found.digit)
        assert alike(found.digit, clean) > 0.9
        assert any("light was uneven" in note for note in found.notes)


@pytest.mark.parametrize("digit", "0123456789")
def test_printed_digits(digit: str) -> None:
    found = normalise(printed(digit)).digit
    check_form(found)
    inverted = normalise(ImageOps.invert(printed(digit))).digit
    assert alike(found, inverted) > 0.999
    # independent of the pipeline: Pillow's own reduction of the glyph's bounding box
    glyph = ImageOps.invert(printed(digit))
    glyph = glyph.crop(glyph.getbbox())
    rows, columns = np.nonzero(found > 0.02)
    scores = []
    for longer in (max(box(found)) - 1, max(box(found))):  # the outermost pixels may be faint
        size = [max(1, round(longer * side / max(glyph.size))) for side in glyph.size]
        reference = np.asarray(glyph.resize(size, Image.Resampling.BOX), float)
        height, width = reference.shape
        part = np.zeros_like(reference)
        seen = found[rows.min() : rows.min() + height, columns.min() : columns.min() + width]
        part[: seen.shape[0], : seen.shape[1]] = seen
        scores.append(alike(part, reference))
    assert max(scores) > 0.88


@pytest.mark.parametrize("degrees", [30, 90, 135, 200])
def test_turned_pictures_keep_their_angle(degrees: int) -> None:
    large = drawn("7", canvas=(260, 260))
    found = normalise(large.rotate(degrees, fillcolor=255, resample=Image.Resampling.BICUBIC))
    check_form(found.digit)
    upright = Image.fromarray(normalise(large).digit).resize((280, 280))
    turned = np.asarray(upright.rotate(degrees, resample=Image.Resampling.BILINEAR))
    assert alike(found.digit, normalise(np.clip(turned, 0, 1)).digit) > 0.85


def test_a_larger_picture_with_more_paper_gives_the_same_digit() -> None:
    small, large = drawn(), Image.new("L", (380, 340), 255)
    large.paste(small, (150, 90))
    assert np.abs(normalise(small).digit - normalise(large).digit).max() < 0.05


@pytest.mark.parametrize("height", [185, 196, 230])
def test_ink_that_the_picture_cuts_off_is_kept(height: float) -> None:
    tight = drawn(height=height, canvas=(150, 200), width=22)
    with_paper = normalise(ImageOps.expand(tight, 40, 255)).digit
    assert alike(normalise(tight).digit, with_paper) > 0.98


@pytest.mark.parametrize(("width", "expected"), [(1, "thicker"), (3, "thicker"), (42, "thinner")])
def test_stroke_width_is_brought_near_mnist(width: float, expected: str) -> None:
    found = normalise(drawn("2", height=150, width=width))
    check_form(found.digit)
    assert any(expected in note for note in found.notes)
    ink = [image.sum() for image in unseen([2]).images]
    assert min(ink) < found.digit.sum() < max(ink)


# --- what is not one digit


@pytest.mark.parametrize(
    "picture",
    [
        printed("12", 110),
        printed("42", 110),
        printed("88", 110, stroke=4),
        printed("11", 110),
        printed("31415", 70),
        printed("3\n4", 80),
        printed("42", 90).rotate(35, fillcolor=255),
        ImageChops.darker(
            drawn("3", canvas=(300, 200), at=(20, 25)), drawn("7", canvas=(300, 200), at=(160, 25))
        ),
    ],
)
def test_several_digits_are_refused(picture: Image.Image) -> None:
    with pytest.raises(UserError, match="crop it to a single digit"):
        normalise(picture)


@pytest.mark.parametrize(
    "picture",
    [
        drawn("5"),
        drawn("4"),
        cut(drawn("0"), np.s_[:, 97:103]),
        cut(printed("8", stroke=3), np.s_[123:128, :]),
        cut(drawn("2"), np.s_[:, 99:104]),
    ],
)
def test_broken_strokes_are_one_digit(picture: Image.Image) -> None:
    found = normalise(picture)
    check_form(found.digit)
    labels, pieces = ndimage.label(np.asarray(picture) < 128, np.ones((3, 3)))
    height = np.ptp(np.nonzero(labels)[0])
    width = np.ptp(np.nonzero(labels)[1])
    assert pieces == 1 or any("one digit" in note for note in found.notes)
    assert box(found.digit)[0] / box(found.digit)[1] == pytest.approx(height / width, rel=0.25)


def test_squares_are_those_of_scipy() -> None:
    rng = np.random.default_rng(0)
    for shape in ((30, 47), (12, 90)):
        image = rng.random(shape)
        for side in (3, 4, 7, 11):
            wide = np.pad(image, side, mode="edge")
            closed = ndimage.grey_closing(wide, (side, side))[side:-side, side:-side]
            assert np.array_equal(squares.closing(image, side), closed)
        assert np.array_equal(squares.opening(image, 11), ndimage.grey_opening(image, (11, 11)))
        assert np.array_equal(squares.largest_nearby(image), ndimage.maximum_filter(image, 3))
        mask = image > 0.2
        assert np.array_equal(squares.rim(mask), mask & ~ndimage.binary_erosion(mask))


def test_one_of_several_digits_by_crop() -> None:
    both = Image.new("L", (400, 200), 255)
    both.paste(drawn("3"), (0, 0))
    both.paste(drawn("7"), (200, 0))
    with pytest.raises(UserError):
        normalise(both)
    right = normalise(both, Options(crop=(0.5, 0, 1, 1))).digit
    assert np.array_equal(right, normalise(drawn("7")).digit)


RNG = np.random.default_rng(0)
NOT_A_DIGIT = {
    "white": Image.new("L", (200, 200), 255),
    "black": Image.new("L", (200, 200), 0),
    "paper with grain": noisy(Image.new("L", (200, 200), 200), 0.03),
    "blank photo": noisy(lit(Image.new("L", (400, 300), 220), "lamp"), 0.03),
    "ramp": Image.fromarray(np.uint8(np.linspace(0, 255, 200)[None].repeat(200, 0))),
    "transparent": Image.new("RGBA", (200, 200), (0, 0, 0, 0)),
    "noise": Image.fromarray(RNG.integers(0, 256, (300, 300), np.uint8)),
    "small noise": Image.fromarray(RNG.integers(0, 256, (28, 28), np.uint8)),
    "coloured noise": Image.fromarray(RNG.integers(0, 256, (700, 700, 3), np.uint8)),
    "blobs": Image.fromarray(
        np.uint8(255 * (ndimage.gaussian_filter(RNG.normal(size=(300, 300)), 5) > 0.02))
    ),
    "soft shadow": Image.fromarray(
        np.uint8(
            220
            - 120
            * np.exp(-np.add.outer(np.linspace(-7, 7, 300) ** 2, np.linspace(-2.5, 2.5, 300) ** 2))
        )
    ),
    "checkerboard": Image.fromarray(
        np.uint8(255 * ((np.indices((200, 200)) // 20).sum(axis=0) % 2))
    ),
    "stripes": Image.fromarray(np.uint8(255 * (np.indices((200, 200))[0] // 10 % 2))),
    "solid square": ImageOps.expand(Image.new("L", (100, 100), 0), 50, 255),
    "empty sheet on a table": on_table(Image.new("L", (240, 260), 235)),
    "a word": printed("hello", 80),
}


@pytest.mark.parametrize("name", NOT_A_DIGIT)
def test_pictures_without_a_digit_are_refused_in_one_sentence(name: str) -> None:
    with pytest.raises(UserError) as refusal:
        normalise(NOT_A_DIGIT[name])
    assert str(refusal.value).endswith(".")
    assert "\n" not in str(refusal.value)


# --- corrections and what is shown


def test_thickness_makes_strokes_thicker() -> None:
    ink = [
        normalise(drawn(), Options(thickness=thickness)).digit.sum()
        for thickness in (-1, -0.5, 0, 0.5, 1)
    ]
    assert ink == sorted(ink)
    assert ink[-1] > 1.5 * ink[0]


def test_invert_overrules() -> None:
    assert np.array_equal(normalise(drawn(), Options(invert=True)).digit, normalise(drawn()).digit)
    # the digit as a light gap in a dark sheet on a light table: only a person can know
    ring = ImageOps.expand(drawn("0", ink=255, paper=0), 30, 255)
    light = normalise(ring.crop((20, 20, 240, 240)), Options(invert=False)).digit
    assert alike(light, normalise(drawn("0")).digit) > 0.9


@pytest.mark.parametrize(
    "options",
    [
        Options(thickness=2),
        Options(thickness=float("nan")),
        Options(crop=(0.5, 0, 0.4, 1)),
        Options(crop=(0, 0, 1.2, 1)),
        Options(crop=(0, 0, 0.001, 1)),
        Options(crop=(0, float("nan"), 1, 1)),
    ],
)
def test_senseless_corrections_are_refused(options: Options) -> None:
    with pytest.raises(UserError):
        normalise(drawn(), options)


@pytest.mark.parametrize("canvas", [(200, 200), (28, 28), (900, 300), (60, 500)])
def test_every_step_can_be_shown(canvas: tuple[int, int]) -> None:
    height = 0.6 * min(canvas)
    found = normalise(drawn(height=height, width=height / 8, canvas=canvas))
    names = [step.name for step in found.steps]
    assert names == ["Picture", "Grey", "Even light", "Ink", "Found", "Strokes", "Digit"]
    for step in found.steps:
        assert step.image.dtype == np.uint8
        assert step.image.ndim == 2 or step.image.shape[2] == 3
        assert min(step.image.shape[:2]) >= 1
        assert max(step.image.shape[:2]) <= 280
        assert step.caption.endswith(".")
    assert np.array_equal(found.steps[-1].image[5::10, 5::10], np.rint(255 * found.digit))
    assert all(note.endswith(".") for note in found.notes)


# --- reading


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16", "I"])
def test_every_mode_of_png(mode: str) -> None:
    found = normalise(encoded(pixel(mode) if mode != "I" else pixel("I;16"))).digit
    assert alike(found, normalise(drawn()).digit) > 0.98


def test_cmyk_and_multi_picture_jpeg() -> None:
    clean = normalise(drawn()).digit
    for data in (
        encoded(drawn().convert("RGB").convert("CMYK"), "JPEG", quality=90),
        encoded(drawn(), "MPO", save_all=True, append_images=[drawn("7")]),
        encoded(drawn(), "JPEG", progressive=True, quality=90),
    ):
        assert alike(normalise(data).digit, clean) > 0.98


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_an_animation_is_its_first_frame(kind: str) -> None:
    data = encoded(drawn(), kind, save_all=True, append_images=[drawn("7"), drawn("0")])
    assert alike(normalise(data).digit, normalise(drawn()).digit) > 0.98


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_exif_orientation(orientation: int, kind: str) -> None:
    exif = Image.Exif()
    exif[0x010F] = "maker"
    exif[0x0112] = orientation
    data = encoded(drawn(canvas=(120, 90), height=60), kind, exif=exif)
    with Image.open(io.BytesIO(data)) as picture:
        expected = ImageOps.exif_transpose(picture).convert("RGB")
    found = read_picture(data)
    assert found.size == expected.size
    assert np.abs(np.asarray(found, int) - np.asarray(expected, int)).max() <= 1


@pytest.mark.parametrize("tone", [0, 255])
def test_ink_on_nothing(tone: int) -> None:
    alpha = ImageOps.invert(drawn())
    ink = Image.merge("LA", [Image.new("L", alpha.size, tone), alpha])
    for mode in ("LA", "RGBA"):
        found = normalise(encoded(ink.convert(mode))).digit
        assert alike(found, normalise(drawn()).digit) > 0.99


def test_round_picture_with_transparent_corners() -> None:
    mask = Image.new("L", (200, 200), 0)
    ImageDraw.Draw(mask).ellipse((2, 2, 198, 198), 255)
    sticker = drawn(height=110).convert("RGBA")
    sticker.putalpha(mask)
    assert alike(normalise(sticker).digit, normalise(drawn(height=110)).digit) > 0.98


def test_arrays_of_every_kind_are_the_same_picture() -> None:
    grey = np.asarray(drawn())
    clean = normalise(grey).digit
    same = {
        "float": grey / 255,
        "float to 255": grey.astype(np.float32),
        "16 bit": grey.astype(np.uint16) * 257,
        "12 bit": (grey.astype(np.int32) * 4095) // 255,
        "one channel": grey[:, :, None],
        "three": np.repeat(grey[:, :, None], 3, axis=2),
        "overshooting": grey / 255 * 1.2 - 0.1,
    }
    for name, array in same.items():
        assert alike(normalise(array).digit, clean) > 0.99, name
    assert alike(normalise(grey < 128).digit, clean) > 0.98


@pytest.mark.parametrize(
    "array",
    [
        np.zeros(5),
        np.zeros((0, 0)),
        np.zeros((30, 30, 5)),
        np.zeros((2, 2, 2, 2)),
        np.full((30, 30), np.nan),
        np.full((30, 30), np.inf),
        np.zeros((30, 30), complex),
        np.zeros((30, 30), object),
        np.full((30, 30), 1e300),
        np.full((30, 30), -5),
    ],
)
def test_arrays_that_are_no_picture(array: np.ndarray) -> None:
    with pytest.raises(UserError):
        normalise(array)


def test_something_else_is_refused() -> None:
    with pytest.raises(UserError):
        normalise("three.png")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"hello, this is text\n", "text"),
        (b"<!DOCTYPE html><script>alert(1)</script>", "web page"),
        (b'\xef\xbb\xbf<?xml version="1.0"?><svg xmlns="x"></svg>', "SVG"),
        (b"%PDF-1.7 ...", "PDF"),
        (b"PK\x03\x04" + bytes(30), "archive"),
        (b"\0\0\0\x18ftypheic" + bytes(30), "HEIC"),
        (encoded(drawn(), "TIFF"), "TIFF"),
        (encoded(drawn(), "PPM"), "not a known picture"),
        (bytes(1000), "not a known picture"),
        (bytes(33_000_000), "33 MB"),
        (encoded(Image.new("L", (5, 300))), "too small"),
    ],
)
def test_other_files_are_named_and_the_accepted_ones_listed(data: bytes, said: str) -> None:
    with pytest.raises(UserError, match=said) as refusal:
        read_picture(data)
    if said not in ("empty", "33 MB", "too small"):
        assert "PNG, JPEG, WebP, BMP or GIF" in str(refusal.value)


def chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png(width: int, height: int, extra: bytes = b"") -> bytes:
    rows = zlib.compress(bytes(min(height * (width + 1), 1_000_000)), 1)
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + extra
        + chunk(b"IDAT", rows)
        + chunk(b"IEND", b"")
    )


JPEG = encoded(drawn(), "JPEG")
FRAME = JPEG.index(b"\xff\xc0") + 5  # height and width follow
GIF = encoded(drawn(), "GIF")
GIF_BODY = 13 + 3 * 2 ** ((GIF[10] & 7) + 1)  # header and palette before it
BMP = encoded(drawn(), "BMP")
WEBP = encoded(drawn().convert("RGBA"), "WEBP", save_all=True, append_images=[drawn("7")])
PROGRESSIVE = encoded(drawn(), "JPEG", progressive=True)
LAST_SCAN = PROGRESSIVE[PROGRESSIVE.rindex(b"\xff\xda") : -2]


@pytest.mark.parametrize(
    "data",
    [
        png(30_000, 30_000),
        png(9000, 9000),
        png(2**31 - 1, 2**31 - 1),
        JPEG[:FRAME] + struct.pack(">HH", 65000, 65000) + JPEG[FRAME + 4 :],
        JPEG[:FRAME] + struct.pack(">HH", 8000, 9000) + JPEG[FRAME + 4 :],
        GIF[:6] + b"\xff\xff\xff\xff" + GIF[10:],
        BMP[:18] + struct.pack("<ii", 60_000, 60_000) + BMP[26:],
        WEBP[:24] + b"\xff\x3f\0\xff\x3f\0" + WEBP[30:],
        WEBP[:24] + b"\xff\xff\xff\xff\xff\xff" + WEBP[30:],
    ],
)
@pytest.mark.filterwarnings("ignore::PIL.Image.DecompressionBombWarning")
def test_bombs_are_refused_from_their_header(data: bytes) -> None:
    with pytest.raises(UserError, match="megapixels"):
        read_picture(data)


@pytest.mark.parametrize(
    "data",
    [
        png(50, 50, chunk(b"tEXt", b"") * 100_000),
        JPEG[:2] + b"\xff\xfe\0\2" * 100_000 + JPEG[2:],
        PROGRESSIVE[:-2] + LAST_SCAN * 100 + b"\xff\xd9",
        GIF[:GIF_BODY] + b"!\xfe\x01a\0" * 100_000 + GIF[GIF_BODY:],
        b"BM"
        + struct.pack("<IHHI", 0, 0, 0, 1078)
        + struct.pack("<IiiHHIIiiII", 40, 400, 400, 1, 8, 1, 0, 0, 0, 256, 0)
        + bytes(1024)
        + b"\x01\x05" * 400 * 400,
    ],
)
def test_files_of_endless_parts_are_refused(data: bytes) -> None:
    with pytest.raises(UserError, match="damaged"):
        read_picture(data)


@pytest.mark.parametrize(
    "data",
    [
        JPEG[:2] + b"\xff" * 1_000_000 + JPEG[2:],
        JPEG[:2] + (b"\xff\xe1\xff\xffExif\0\0II\x2b\0" + bytes(65523)) * 20 + JPEG[2:],
        JPEG[:2] + b"\xff\xe1\0\x14Exif\0\0II*\0\xff\xff\xff\xff\xff\xff\xff\xff" + JPEG[2:],
        JPEG + bytes(100_000),
        JPEG[:-2] + b"\xff\xd9<script>alert(1)</script>",
    ],
)
def test_odd_files_with_a_good_picture_are_read(data: bytes) -> None:
    assert np.array_equal(np.asarray(read_picture(data)), np.asarray(read_picture(JPEG)))


def test_compressed_metadata_is_never_unpacked() -> None:
    bomb = zlib.compress(bytes(50_000_000))
    extra = chunk(b"zTXt", b"a\0\0" + bomb) + chunk(b"iCCP", b"a\0\0" + bomb)
    assert read_picture(png(50, 50, extra * 5)).size == (50, 50)


FILES = {
    "PNG": encoded(drawn(canvas=(48, 48), height=36, width=4)),
    "palette PNG": encoded(pixel("P").resize((48, 48))),
    "16 bit PNG": encoded(pixel("I;16").resize((48, 48))),
    "JPEG": encoded(drawn(canvas=(48, 48), height=36, width=4), "JPEG"),
    "progressive JPEG": encoded(
        drawn(canvas=(48, 48), height=36, width=4).convert("RGB"), "JPEG", progressive=True
    ),
    "WebP": encoded(drawn(canvas=(48, 48), height=36, width=4), "WEBP"),
    "animated WebP": encoded(
        drawn(canvas=(48, 48), height=36, width=4).convert("RGBA"),
        "WEBP",
        lossless=True,
        save_all=True,
        append_images=[Image.new("RGBA", (48, 48))],
    ),
    "BMP": encoded(drawn(canvas=(48, 48), height=36, width=4), "BMP"),
    "GIF": encoded(drawn(canvas=(48, 48), height=36, width=4), "GIF"),
}


@pytest.mark.parametrize("name", FILES)
def test_truncated_files(name: str) -> None:
    data = FILES[name]
    normalise(data)
    for length in np.linspace(1, 0.9 * len(data), 25).astype(int):
        with pytest.raises(UserError):
            read_picture(data[:length])


@st.composite
def damaged_files(draw: st.DrawFn) -> bytes:
    data = bytearray(FILES[draw(st.sampled_from(sorted(FILES)))])
    for _ in range(draw(st.integers(1, 8))):
        at = draw(st.integers(0, max(0, len(data) - 1)))
        # headers are where it hurts
        at = at % 64 if draw(st.booleans()) else at
        match draw(st.sampled_from(["set", "delete", "insert", "repeat"])):
            case "set":
                data[at : at + 1] = draw(st.binary(min_size=1, max_size=4))
            case "delete":
                del data[at : at + draw(st.integers(1, 50))]
            case "insert":
                data[at:at] = draw(st.binary(max_size=20))
            case "repeat":
                data[at:at] = data[at : at + draw(st.integers(1, 200))]
    return bytes(data)


def digit_or_sentence(picture: object) -> None:
    try:
        found = normalise(picture).digit  # type: ignore[arg-type]
    except UserError as error:
        sentence = str(error)
    else:
        sentence = "Read."
        assert found.shape == (28, 28)
        assert np.isfinite(found).all()
        assert 0 <= found.min() <= found.max() <= 1
    assert sentence.endswith(".")
    assert "\n" not in sentence


FUZZ = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


@pytest.mark.filterwarnings("ignore")
@given(damaged_files())
@settings(FUZZ, max_examples=300)
def test_damaged_files_give_a_digit_or_a_sentence(data: bytes) -> None:
    digit_or_sentence(data)


@given(
    st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"BM"]),
    st.binary(max_size=200),
)
@settings(FUZZ, max_examples=150)
def test_random_bytes_give_a_sentence(start: bytes, rest: bytes) -> None:
    with pytest.raises(UserError):
        read_picture(start + rest)


@given(
    hnp.arrays(
        st.sampled_from([np.uint8, np.uint16, np.float32, np.int16, bool]),
        hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=40),
    )
)
@settings(FUZZ, max_examples=80)
def test_random_arrays_give_a_digit_or_a_sentence(array: np.ndarray) -> None:
    digit_or_sentence(array)


@given(st.integers(8, 400), st.integers(8, 400), st.integers(0, 2**32 - 1))
@settings(FUZZ, max_examples=60)
def test_scribbles_of_any_shape_give_a_digit_or_a_sentence(w: int, h: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    picture = Image.new("L", (w, h), 255)
    points = [tuple(point) for point in rng.uniform(-0.1, 1.1, (5, 2)) * (w, h)]
    ImageDraw.Draw(picture).line(points, int(rng.integers(0, 200)), int(rng.integers(1, 30)))
    digit_or_sentence(picture)


WRITTEN: list[str] = []
WATCHING = [False]


def _watch(event: str, arguments: tuple[object, ...]) -> None:
    if WATCHING[0] and event == "open" and isinstance(arguments[1], str):
        if set(arguments[1]) & set("wax+"):
            WRITTEN.append(str(arguments[0]))
    elif WATCHING[0] and event in ("os.mkdir", "os.rename", "tempfile.mkstemp", "subprocess.Popen"):
        WRITTEN.append(event)


def test_nothing_is_written_to_disk() -> None:
    sys.addaudithook(_watch)
    WATCHING[0] = True
    try:
        for data in (*FILES.values(), encoded(drawn(canvas=(2100, 40)), "JPEG"), b"GIF89a"):
            digit_or_sentence(data)
    finally:
        WATCHING[0] = False
    assert WRITTEN == []


# --- files to take home


def test_png_keeps_every_pixel_as_a_square() -> None:
    image = np.array([[0, 0.5, 1], [-0.3, 1.4, 0.2]])
    with Image.open(io.BytesIO(to_png(image, 5))) as picture:
        pixels = np.asarray(picture)
    assert pixels.shape == (10, 15)
    expected = np.array([[0, 128, 255], [0, 255, 51]])
    assert np.array_equal(pixels, np.kron(expected, np.ones((5, 5))))


def test_gif_plays_every_frame_for_ever() -> None:
    frames = unseen([3]).images[:7]
    with Image.open(io.BytesIO(to_gif(frames, scale=3, milliseconds=40))) as picture:
        assert picture.n_frames == 7
        assert picture.size == (84, 84)
        assert picture.info["loop"] == 0
        for index, frame in enumerate(frames):
            picture.seek(index)
            assert picture.info["duration"] == 40
            shown = np.asarray(picture.convert("L"), float)[1::3, 1::3] / 255
            assert np.abs(shown - np.clip(frame, 0, 1)).max() < 0.01


def test_equal_frames_keep_the_length_of_a_turn() -> None:
    frames = np.zeros((5, 28, 28))
    with Image.open(io.BytesIO(to_gif(frames, milliseconds=60))) as picture:
        total = 0
        for index in range(picture.n_frames):
            picture.seek(index)
            total += picture.info["duration"]
    assert total == 300


def test_strip_is_a_row_with_gaps() -> None:
    images = unseen([7]).images[:4]
    row = strip(images, scale=2, gap=6)
    assert row.size == (4 * 56 + 3 * 6, 56)
    pixels = np.asarray(row, float) / 255
    for index, image in enumerate(images):
        part = pixels[:, index * 62 : index * 62 + 56]
        assert np.abs(part[::2, ::2] - np.clip(image, 0, 1)).max() < 0.01
    assert (pixels[:, 56:62] == 1).all()


def test_a_refused_picture_is_let_go_at_once():
    """Errors that hold their own frame would keep whole pictures until garbage is collected."""
    blank = np.full((300, 300), 255, np.uint8)
    with suppress(UserError):
        normalise(blank)  # what is made once
    gc.collect()
    gc.disable()
    try:
        with suppress(UserError):
            normalise(blank)
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_strip_of_a_few_pixels_gets_a_sentence():
    """Shrunk to a pixel in width, it has no half."""
    strip = np.full((2000, 8), 255, np.uint8)
    strip[::9] = 0
    for each in (strip, strip.T):
        with pytest.raises(UserError):
            normalise(each)
