"""Digits as things that a pen or a press leaves on paper: centre lines, outlines, fonts."""

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
import streamlit
from PIL import Image, ImageDraw, ImageFont
from scipy import ndimage

GRID = 128  # side of the square field in which a shape is described
_FOLD = 4  # a pixel of MNIST is this many of the field
_ALIKE = 0.72  # overlap of a digit with its redrawn line from which on the line is the digit
# fonts that come with Streamlit, beside Pillow's own; tuning and reporting share none
TUNING_FONTS = ("Pillow", "KaTeX_Main-Regular", "KaTeX_SansSerif-Bold", "KaTeX_Typewriter-Regular")
REPORT_FONTS = ("SourceSansVF-Upright", "SourceSerifVariable-Italic", "KaTeX_Main-Italic")


@dataclass(frozen=True)
class Shape:
    """A digit, or anything else, of unit size; y goes down and the middle of the box is 0."""

    field: np.ndarray  # [GRID, GRID] distance from the centre line, or from the outline
    pixel: float  # side of a field's pixel
    centre: np.ndarray  # [m, 2] x and y of points on the centre line
    outlined: bool  # the field is negative inside; else the pen has a width

    def distance(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Distance of points from the line or outline; far away is only said to be far."""
        middle = (GRID - 1) / 2
        at = [y / self.pixel + middle, x / self.pixel + middle]
        far = float(self.field.max())
        return ndimage.map_coordinates(self.field, at, order=1, mode="constant", cval=far)


def written(image: np.ndarray) -> Shape:
    """The centre line of an MNIST digit [28, 28], for a pen of any width."""
    picture = Image.fromarray(np.asarray(image, np.float32))
    large = np.asarray(picture.resize((28 * _FOLD, 28 * _FOLD), Image.Resampling.BICUBIC))
    mask = large > 0.45
    line = thinned(mask)
    half = 2 * float(ndimage.distance_transform_edt(mask)[mask].mean())
    again = ndimage.distance_transform_edt(~line) <= half
    # where ink has run together, the line alone would be another digit
    alike = (mask & again).sum() / (mask | again).sum()
    return _from_mask(mask, outlined=bool(alike < _ALIKE))


def drawn(lines: list[np.ndarray]) -> Shape:
    """Lines [n, 2] of x and y in the unit square, for a pen."""
    picture = Image.new("L", (GRID, GRID))
    pen = ImageDraw.Draw(picture)
    for line in lines:
        pen.line([tuple(point) for point in 8 + 112 * line], 255, 3, joint="curve")
    return _from_mask(np.asarray(picture) > 127, outlined=False)


def printed(text: str, font: str) -> Shape:
    """A character of a font."""
    picture = Image.new("L", (4 * GRID, 4 * GRID))
    ImageDraw.Draw(picture).text((2 * GRID, 2 * GRID), text, 255, _font(font), anchor="mm")
    glyph = picture.crop(picture.getbbox())
    factor = 0.85 * GRID / max(glyph.size)
    size = [max(2, round(side * factor)) for side in glyph.size]
    return _from_mask(np.asarray(glyph.resize(size, Image.Resampling.BOX)) > 127, outlined=True)


@lru_cache
def _font(name: str) -> ImageFont.FreeTypeFont:
    if name == "Pillow":
        return ImageFont.load_default(size=300)  # type: ignore[return-value]
    media = Path(streamlit.__file__).parent / "static" / "static" / "media"
    return ImageFont.truetype(next(media.glob(f"{name}.*")), 300)


def _from_mask(mask: np.ndarray, outlined: bool) -> Shape:
    rows, columns = ndimage.find_objects(mask.astype(np.uint8))[0]
    tight = mask[rows, columns]
    height, width = tight.shape
    square = np.zeros((GRID, GRID), bool)
    top, left = (GRID - height) // 2, (GRID - width) // 2
    square[top : top + height, left : left + width] = tight
    line = thinned(square)
    if outlined:
        outside = ndimage.distance_transform_edt(~square)
        inside = ndimage.distance_transform_edt(square)
        field = ndimage.gaussian_filter(outside - inside, 0.7)
    else:
        field = ndimage.gaussian_filter(ndimage.distance_transform_edt(~line), 1.2)
        field = field - np.percentile(field[line], 75)  # smoothing has lifted the line itself
    y, x = np.nonzero(line)
    pixel = 1 / max(height, width)
    centre = np.stack([x, y], axis=1) - (GRID - 1) / 2
    return Shape(field.astype(np.float32) * pixel, pixel, centre * pixel, outlined)


def thinned(mask: np.ndarray) -> np.ndarray:
    """The centre line of strokes, one pixel wide, holes kept: thinning of Zhang and Suen."""
    image = np.pad(mask, 1)
    changed = True
    while changed:
        changed = False
        for step in (0, 1):
            # the eight neighbours, clockwise from the one above
            ring = [(-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1)]
            p = np.stack([np.roll(image, (-dy, -dx), (0, 1)) for dy, dx in ring])
            count = p.sum(axis=0)
            rises = (~p & np.roll(p, -1, axis=0)).sum(axis=0)
            up, right, down, left = p[0], p[2], p[4], p[6]
            if step == 0:
                free = ~(up & right & down) & ~(right & down & left)
            else:
                free = ~(up & right & left) & ~(up & down & left)
            gone = image & (count >= 2) & (count <= 6) & (rises == 1) & free
            image = image & ~gone
            changed |= bool(gone.any())
    return image[1:-1, 1:-1]
