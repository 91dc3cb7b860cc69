"""Pictures that the tests draw themselves, pleasant and hostile, through `fgpvae.images`."""

import io
import struct
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont, ImageOps
from scipy import ndimage

from fgpvae.data import unseen
from fgpvae.errors import UserError
from fgpvae.images import Options, enlarged, normalise, read_picture, to_gif, to_png

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


def test_mnist_digits_come_back_nearly_unchanged() -> None:
    digits = unseen()
    for image in digits.images[::7]:
        for picture in (np.asarray(image), to_png(image, 3)):
            found = normalise(picture).digit
            assert np.mean((found - np.clip(image, 0, 1)) ** 2) < 2e-3


def test_pictures_in_colour_that_are_not_square_are_written_as_they_are() -> None:
    views = np.zeros((5, 3, 9, 12), np.float32)
    views[:, 0] = 1  # red
    for content in (to_png(enlarged(views[0], 48), 1), to_gif(enlarged(views, 48), 1)):
        image = Image.open(io.BytesIO(content)).convert("RGB")
        assert image.size == (48, 36)
        assert image.getpixel((20, 20)) == (255, 0, 0)


CLEAN = {"3": drawn("3"), "5": drawn("5")}
SAME_DIGIT: dict[str, tuple[str, Callable[[], object]]] = {
    "poor JPEG": ("3", lambda: encoded(drawn(), "JPEG", quality=8)),
    "WebP": ("3", lambda: encoded(drawn(), "WEBP", quality=30)),
    "light on dark": ("3", lambda: drawn(ink=255, paper=0)),
    "faint": ("3", lambda: drawn(ink=225, paper=250)),
    "chalk": ("3", lambda: noisy(drawn(ink=200, paper=60), 0.06)),
    "yellow on white": ("3", lambda: coloured((255, 240, 80), (255, 255, 255))),
    "red on green, equally bright": ("3", lambda: coloured((220, 90, 60), (60, 170, 60))),
    "off centre": ("3", lambda: drawn(canvas=(500, 300), at=(30, 120))),
    "tiny in a large picture": (
        "3",
        lambda: drawn(height=90, canvas=(1800, 1500), width=9, at=(250, 1200)),
    ),
    "enormous": ("3", lambda: drawn(height=2600, canvas=(3500, 3400), width=280)),
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


@pytest.mark.parametrize("degrees", [30, 200])
def test_turned_pictures_keep_their_angle(degrees: int) -> None:
    large = drawn("7", canvas=(260, 260))
    found = normalise(large.rotate(degrees, fillcolor=255, resample=Image.Resampling.BICUBIC))
    check_form(found.digit)
    upright = Image.fromarray(normalise(large).digit).resize((280, 280))
    turned = np.asarray(upright.rotate(degrees, resample=Image.Resampling.BILINEAR))
    assert alike(found.digit, normalise(np.clip(turned, 0, 1)).digit) > 0.85


@pytest.mark.parametrize(("width", "expected"), [(1, "thicker"), (3, "thicker"), (42, "thinner")])
def test_stroke_width_is_brought_near_mnist(width: float, expected: str) -> None:
    found = normalise(drawn("2", height=150, width=width))
    check_form(found.digit)
    assert any(expected in note for note in found.notes)
    ink = [image.sum() for image in unseen([2]).images]
    assert min(ink) < found.digit.sum() < max(ink)


@pytest.mark.parametrize(
    "picture",
    [
        printed("42", 110),
        printed("88", 110, stroke=4),
        printed("31415", 70),
        printed("3\n4", 80),
        printed("42", 90).rotate(35, fillcolor=255),
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
    ],
)
def test_broken_strokes_are_one_digit(picture: Image.Image) -> None:
    found = normalise(picture)
    check_form(found.digit)
    rows, columns = np.nonzero(np.asarray(picture) < 128)
    ratio = np.ptp(rows) / np.ptp(columns)
    assert box(found.digit)[0] / box(found.digit)[1] == pytest.approx(ratio, rel=0.25)


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
    "blank photo": noisy(lit(Image.new("L", (400, 300), 220), "lamp"), 0.03),
    "ramp": Image.fromarray(np.uint8(np.linspace(0, 255, 200)[None].repeat(200, 0))),
    "transparent": Image.new("RGBA", (200, 200), (0, 0, 0, 0)),
    "noise": Image.fromarray(RNG.integers(0, 256, (300, 300), np.uint8)),
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
    "solid square": ImageOps.expand(Image.new("L", (100, 100), 0), 50, 255),
    "empty sheet on a table": on_table(Image.new("L", (240, 260), 235)),
    "a word": printed("hello", 80),
    "a strip of few pixels": printed("8").resize((8, 2000)),
}


@pytest.mark.parametrize("name", NOT_A_DIGIT)
def test_pictures_without_a_digit_are_refused(name: str) -> None:
    with pytest.raises(UserError):
        normalise(NOT_A_DIGIT[name])


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


@pytest.mark.parametrize("orientation", range(1, 9))
def test_exif_orientation(orientation: int) -> None:
    exif = Image.Exif()
    exif[0x010F] = "maker"
    exif[0x0112] = orientation
    for kind in ("JPEG", "PNG", "WEBP"):
        data = encoded(drawn(canvas=(120, 90), height=60), kind, exif=exif)
        with Image.open(io.BytesIO(data)) as picture:
            expected = ImageOps.exif_transpose(picture).convert("RGB")
        found = read_picture(data)
        assert found.size == expected.size
        assert np.abs(np.asarray(found, int) - np.asarray(expected, int)).max() <= 1


@pytest.mark.parametrize(
    "array",
    [
        "three.png",
        np.zeros(5),
        np.zeros((0, 0)),
        np.zeros((30, 30, 5)),
        np.full((30, 30), np.nan),
        np.zeros((30, 30), complex),
        np.zeros((30, 30), object),
        np.full((30, 30), 1e300),
        np.full((30, 30), -5),
    ],
)
def test_what_is_no_picture_is_refused(array: object) -> None:
    with pytest.raises(UserError):
        normalise(array)  # type: ignore[arg-type]


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
BMP = encoded(drawn(), "BMP")
WEBP = encoded(drawn().convert("RGBA"), "WEBP", save_all=True, append_images=[drawn("7")])


def test_compressed_metadata_is_never_unpacked() -> None:
    bomb = zlib.compress(bytes(50_000_000))
    extra = chunk(b"zTXt", b"a\0\0" + bomb) + chunk(b"iCCP", b"a\0\0" + bomb)
    assert read_picture(png(50, 50, extra * 5)).size == (50, 50)


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


@given(
    hnp.arrays(
        st.sampled_from([np.uint8, np.uint16, np.float32, np.int16, bool]),
        hnp.array_shapes(min_dims=2, max_dims=3, min_side=1, max_side=40),
    )
)
@settings(max_examples=80)
def test_random_arrays_give_a_digit_or_a_sentence(array: np.ndarray) -> None:
    digit_or_sentence(array)
