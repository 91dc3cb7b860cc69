"""Convert a photo, scan, drawing or screenshot to a 28 x 28 digit in MNIST's form, step by step."""

from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw, ImageOps, ImageStat
from scipy import ndimage

from fgpvae.errors import UserError, require
from fgpvae.images.boxes import Box
from fgpvae.images.export import picture as to_image
from fgpvae.images.ink import Ink, find_ink
from fgpvae.images.picture_files import MIN_SIDE, as_picture
from fgpvae.images.pieces import bounds, find_digit, find_sheet, rim, stroke_width

SIDE = 28
BOX = 20  # approximate longer side of an upright digit's bounding box
CENTRE = 14.0  # row and column of the centre of mass, as in MNIST
STEP_SIDE = 280
_FINE = 8 * BOX  # minimum size at which strokes are reshaped
# stroke widths in the 20 x 20 box: quantiles 15 % and 97 % of MNIST, and targets of widths beyond
_THINNEST, _THICKEST, _THIN_TO, _THICK_TO = 1.9, 4.0, 2.3, 3.3
_GRAIN = 0.2  # pixels of the 28 x 28 digit over which grainy ink is evened out
_PINHOLE = 0.5  # maximum area of a pinhole, in such pixels
_HOLE = 1.0  # minimum radius that a larger hole retains, in pixels of the 28 x 28 digit
# log(upright box / longest span) of MNIST = a + b log(shortest / longest) + c log(mean / longest),
# and how far a box may be from that: see docs/photographs.md
_SIZE, _SIZE_TOLERANCE = (-0.034, -0.31, 1.364), 0.07
_TURNS = np.deg2rad(np.arange(0, 180, 7.5))
_THICKNESS_STEP = 2.0  # pixels of the 28 x 28 digit for thickness = 1


@dataclass(frozen=True)
class Options:
    """Manual corrections; by default everything is inferred from the picture."""

    invert: bool | None = None  # True: ink is dark, False: ink is light
    crop: Box | None = None
    thickness: float = 0.0  # -1 thinner .. 1 thicker strokes


@dataclass(frozen=True)
class Step:
    name: str
    caption: str
    image: np.ndarray  # [H, W] or [H, W, 3] uint8, at most STEP_SIDE on a side


@dataclass(frozen=True)
class Normalised:
    digit: np.ndarray  # [28, 28] float32 in 0..1, white ink on black
    steps: tuple[Step, ...]
    notes: tuple[str, ...]
    window: Box  # what these pixels show; of a digit near the edge it reaches beyond the picture


_DEFAULTS = Options()
_Pixels = tuple[int, int, int, int]  # left, top, right, bottom


def normalise(
    picture: bytes | Image.Image | np.ndarray, options: Options = _DEFAULTS
) -> Normalised:
    """Find the digit in a picture and convert it to MNIST's form, or raise a UserError."""
    whole = as_picture(picture)
    if whole.width == whole.height and whole.width % SIDE == 0:
        # undo an enlargement without smoothing, as in exports of this package
        small = whole.resize((SIDE, SIDE), Image.Resampling.NEAREST)
        again = small.resize(whole.size, Image.Resampling.NEAREST)
        whole = small if np.array_equal(np.asarray(again), np.asarray(whole)) else whole
    part = _part(whole, options)
    ink, digit, box, notes = _locate(whole, part, options.invert)
    # soft ink of the digit and its rim, without the empty margin
    reach, faintest = (1, 0) if max(digit.shape) < 100 else (2, 0.1)
    soft = np.where(ndimage.binary_dilation(digit, np.ones((3, 3)), reach), ink.level, 0)
    shape = soft[bounds(soft > faintest)]  # [h, w]
    stroked, stroke_notes = _with_stroke_width(shape, options.thickness)
    final = _centred(stroked)
    if part[2] - part[0] == part[3] - part[1] == SIDE and options.thickness == 0:
        extent = max(ink.level[bounds(ink.level > 0)].shape)
        away = np.abs(np.array(ndimage.center_of_mass(ink.level)) - CENTRE)
        if extent == BOX and away.max() < 0.6:
            final = ink.level.astype(np.float32)
            stroke_notes = ["The picture already has the form of an MNIST digit."]
    steps = (
        Step("Picture", "The original picture, upright.", _shown(np.asarray(whole))),
        Step("Grey", "The part in use, in the light that shows its ink best.", _shown(ink.grey)),
        Step("Even light", "Shadows and uneven light taken out.", _shown(ink.even)),
        Step("Ink", "What counts as ink, white on black.", _shown(ink.level)),
        Step("Found", "The digit; everything else is left out.", _shown(_outlined(ink, digit))),
        Step("Strokes", "Strokes about as wide as the model knows them.", _shown(stroked)),
        Step("Digit", "28 x 28: the size of MNIST, centre of mass in the middle.", _shown(final)),
    )
    # the square around a digit of this size, with its centre of mass in the middle
    first, last = np.reshape(box, (2, 2))  # [2] x and y
    scale = (last - first) / digit.shape[::-1]
    mass = ndimage.center_of_mass(np.where(digit, ink.level, 0))[::-1]
    middle, half = first + (np.array(mass) + 0.5) * scale, 0.5 * SIDE / BOX * _size(shape) * scale
    left, top, right, bottom = np.concatenate([middle - half, middle + half]) / (whole.size * 2)
    window = float(left), float(top), float(right), float(bottom)
    return Normalised(final, steps, (*notes, *stroke_notes), window)


def _part(picture: Image.Image, options: Options) -> _Pixels:
    """The part of the picture that is in use, if the options are valid."""
    require(-1 <= options.thickness <= 1, "Thickness goes from -1 (thinner) to 1 (thicker).")
    left, top, right, bottom = options.crop or (0, 0, 1, 1)
    if not (0 <= left < right <= 1 and 0 <= top < bottom <= 1):
        raise UserError(
            "A crop is left, top, right and bottom between 0 and 1, left before right and top "
            "before bottom."
        )
    width, height = picture.size
    part = round(left * width), round(top * height), round(right * width), round(bottom * height)
    if min(part[2] - part[0], part[3] - part[1]) < MIN_SIDE:
        raise UserError("The part in use is too small to show a digit.")
    return part


def _locate(
    whole: Image.Image, box: _Pixels, invert: bool | None
) -> tuple[Ink, np.ndarray, _Pixels, tuple[str, ...]]:
    """Ink, digit [H, W] bool, the part of the picture that these are of, and notes.

    A sheet on a table, or a small digit, is enlarged and searched again.
    """
    part = whole.crop(box)
    ink = find_ink(part, invert)
    digit, notes = find_digit(ink.mask, ink.level)
    notes = (*ink.notes, *notes)
    sheet = None if ink.dark else find_sheet(digit)
    if sheet is not None:
        # the sheet in its bounding box, filled with its typical colour elsewhere
        mask = Image.fromarray(sheet).resize(part.size, Image.Resampling.NEAREST)
        ground = Image.new("RGB", part.size, tuple(ImageStat.Stat(part, mask).median))
        inner = mask.getbbox() or (0, 0, *part.size)
        part = Image.composite(part, ground, mask).crop(inner)
        box = _inside(box, inner)
        ink = find_ink(part)
        digit, notes = find_digit(ink.mask, ink.level)
        notes = ("A sheet was found in the picture, and the digit on it.", *ink.notes, *notes)
    rows, columns = bounds(digit)
    extent = max(rows.stop - rows.start, columns.stop - columns.start)
    scale = max(part.size) / max(digit.shape)
    if extent >= _FINE or scale < 1.5:
        return ink, digit, box, notes
    margin = 0.5 * extent
    inner = (
        max(0, round((columns.start - margin) * scale)),
        max(0, round((rows.start - margin) * scale)),
        min(part.width, round((columns.stop + margin) * scale)),
        min(part.height, round((rows.stop + margin) * scale)),
    )
    closer = find_ink(part.crop(inner), ink.dark, 2.5 * scale * stroke_width(digit))
    # only what was found before, at a higher resolution
    left, top, right, bottom = (side / scale for side in inner)
    shape = closer.mask.shape
    at = np.ix_(
        np.linspace(top, bottom, shape[0], endpoint=False).astype(int).clip(0, digit.shape[0] - 1),
        np.linspace(left, right, shape[1], endpoint=False).astype(int).clip(0, digit.shape[1] - 1),
    )
    near = ndimage.binary_dilation(digit, np.ones((3, 3)), 2)[at]
    found, _ = find_digit(closer.mask & near, closer.level)
    return closer, found, _inside(box, inner), notes


def _inside(outer: _Pixels, inner: _Pixels) -> _Pixels:
    """Convert a box from coordinates relative to another box."""
    left, top = outer[:2]
    return inner[0] + left, inner[1] + top, inner[2] + left, inner[3] + top


def _with_stroke_width(shape: np.ndarray, thickness: float) -> tuple[np.ndarray, list[str]]:
    """Adjust strokes that are rare in MNIST, and apply the requested thickness."""
    fine = _enlarged(shape)
    unit = _size(fine) / BOX  # pixels of the fine picture per pixel of the digit
    mask = _without_grain(fine, unit)
    width = stroke_width(mask) / unit
    require(width <= 0.45 * BOX, "The picture shows a solid shape; a digit is made of strokes.")
    target, notes = width, []
    if max(shape.shape) > 1.5 * BOX:  # a digit this small is left unchanged
        if width < _THINNEST:
            target = _THIN_TO
            notes.append("Strokes are very thin and were made thicker.")
        elif width > _THICKEST:
            target = _THICK_TO
            notes.append("Strokes are very thick and were made thinner.")
    target = max(0.8, target + _THICKNESS_STEP * thickness)
    if target == width:
        return shape, notes
    outwards = (target - width) * unit / 2
    if thickness == 0:
        # half the width of the thinner strokes
        depth = ndimage.distance_transform_edt(np.pad(mask, 1))
        ridge = (depth > 0) & (depth == ndimage.maximum_filter(depth, 3))
        thin = float(np.percentile(depth[ridge], 20))
        outwards = max(outwards, min(0.0, 0.5 * _THIN_TO * unit - thin))
    return _offset(mask, outwards, _HOLE * unit), notes


def _without_grain(fine: np.ndarray, unit: float) -> np.ndarray:
    """[H, W] bool strokes without the pinholes of grainy ink, which make strokes seem thin."""
    margin = int(np.ceil(4 * _GRAIN * unit))
    soft = ndimage.gaussian_filter(np.pad(fine, margin), _GRAIN * unit)
    # a stroke thinner than the grain is unchanged
    mask = (fine > 0.5) | (soft[margin:-margin, margin:-margin] > 0.5)
    holes, count = ndimage.label(~np.pad(mask, 1))
    small = np.bincount(holes.ravel(), minlength=count + 1) < _PINHOLE * unit**2
    return mask | small[holes][1:-1, 1:-1]


def _enlarged(shape: np.ndarray) -> np.ndarray:
    factor = _FINE / max(shape.shape)
    if factor <= 1:
        return shape
    size = [max(1, round(side * factor)) for side in shape.shape[::-1]]
    picture = Image.fromarray(shape.astype(np.float32))
    return np.asarray(picture.resize(size, Image.Resampling.BICUBIC))


def _size(shape: np.ndarray) -> float:
    """Estimate the longer side of the box of the upright digit, in pixels."""
    y, x = np.nonzero(rim(shape > 0.1))
    spans = np.array([np.ptp(x * np.cos(turn) + y * np.sin(turn)) + 1 for turn in _TURNS])
    longest = spans.max()
    features = 1, np.log(spans.min() / longest), np.log(spans.mean() / longest)
    usual = longest * np.exp(np.dot(_SIZE, features))
    low, high = usual / (1 + _SIZE_TOLERANCE), usual * (1 + _SIZE_TOLERANCE)
    return float(np.clip(max(shape.shape), low, high))


def _offset(mask: np.ndarray, outwards: float, hole: float) -> np.ndarray:
    """Move the outline by a distance in pixels; no stroke breaks, and no hole closes."""
    margin = int(np.ceil(max(outwards, 0))) + 2
    mask = np.pad(mask, margin)
    # signed distance from the outline, positive inside
    inside = ndimage.distance_transform_edt(mask) - ndimage.distance_transform_edt(~mask)
    inside -= np.sign(inside) / 2
    pieces = ndimage.label(mask, np.ones((3, 3)))[1]
    holes, _ = ndimage.label(~mask)
    deepest = ndimage.maximum(-inside, holes, np.arange(holes.max() + 1))
    room = np.maximum(deepest - hole, 0)  # how far ink may go into each hole
    room[[0, holes[0, 0]]] = np.inf  # ink, and the paper around the digit
    for _ in range(8):
        moved = np.clip(inside + np.minimum(outwards, room[holes]) + 0.5, 0, 1)
        if outwards >= 0 or ndimage.label(moved > 0.5, np.ones((3, 3)))[1] == pieces:
            break
        outwards *= 0.75
    return moved[bounds(moved > 0)]


def _centred(shape: np.ndarray) -> np.ndarray:
    """[h, w] tight ink -> [28, 28]: an upright box of 20, centre of mass at (14, 14)."""
    scale = 1.0
    if not 0.95 < BOX / max(shape.shape) < 1.06:
        shape = _enlarged(shape)
        scale = min(BOX / _size(shape), (SIDE - 2) / max(shape.shape))
    margin = int(np.ceil(SIDE / scale))
    picture = Image.fromarray(np.pad(shape, margin).astype(np.float32))
    corner = []
    for length, mass in zip(shape.shape, ndimage.center_of_mass(shape), strict=True):
        # whole pixels of room before the box, so that its first row and column stay sharp
        room = round(CENTRE + 0.5 - (mass + 0.5) * scale)
        most = SIDE - int(np.ceil(length * scale - 1e-9))
        corner.append(margin - min(max(room, 0), most) / scale)
    top, left = corner
    window = (left, top, left + SIDE / scale, top + SIDE / scale)
    small = np.asarray(picture.resize((SIDE, SIDE), Image.Resampling.BOX, box=window))
    full = np.percentile(small[small > 0.3 * small.max()], 80)  # the middle of a stroke is white
    return np.clip(small / max(full, 0.3), 0, 1).astype(np.float32)


def _outlined(ink: Ink, digit: np.ndarray) -> np.ndarray:
    """The ink in grey, the digit in white, its box in a thin line: [H, W, 3] uint8."""
    tones = np.where(ndimage.binary_dilation(digit), ink.level, 0.35 * ink.level)
    picture = to_image(tones).convert("RGB")
    line = max(1, max(digit.shape) // 200)
    rows, columns = bounds(digit, 2 * line)
    frame = columns.start, rows.start, columns.stop - 1, rows.stop - 1
    ImageDraw.Draw(picture).rectangle(frame, outline=(230, 140, 51), width=line)
    return np.asarray(picture)


def _shown(image: np.ndarray) -> np.ndarray:
    """uint8 and at most STEP_SIDE on a side; small pictures enlarged without smoothing."""
    picture = Image.fromarray(image) if image.dtype == np.uint8 else to_image(image)
    if max(picture.size) <= STEP_SIDE // 2:
        picture = ImageOps.scale(picture, STEP_SIDE // max(picture.size), Image.Resampling.NEAREST)
    else:
        picture.thumbnail((STEP_SIDE, STEP_SIDE), Image.Resampling.BOX)
    return np.asarray(picture)
