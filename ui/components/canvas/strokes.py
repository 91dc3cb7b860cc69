"""Check and simplify strokes of a pen, and convert them to links and pictures."""

import io
import math
from collections.abc import Sequence
from typing import Any

from PIL import Image, ImageDraw

Stroke = tuple[tuple[float, float], ...]  # points in shares of the canvas
Strokes = tuple[Stroke, ...]

WIDTH = 1 / 12  # width of a stroke, in the same unit
SIDE, FINE = 264, 3  # pixels of the picture, and how many times finer it is drawn
MOST_POINTS = 20_000
STEP = 0.012  # points closer to the previous one are left out
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-~"
BETWEEN = "."  # strokes
LEVELS = 512  # grid points on a side in a link
LONGEST_LINK = 1500  # letters


def checked(sent: Any) -> Strokes | None:
    """The strokes sent by the browser, cut to the canvas's limits; None if they are invalid."""
    try:
        made = tuple(
            tuple((float(x), float(y)) for x, y in stroke) for stroke in sent["strokes"] if stroke
        )
    except (TypeError, ValueError, KeyError):
        return None
    values = [value for stroke in made for point in stroke for value in point]
    if len(values) > 2 * MOST_POINTS or not all(map(math.isfinite, values)):
        return None
    return tuple(simple(stroke) for stroke in made)


def simple(stroke: Sequence[tuple[float, float]]) -> Stroke:
    """Simplify a stroke to fewer points on the grid of links, which then restore it exactly."""
    points = [(_level(x) / LEVELS, _level(y) / LEVELS) for x, y in stroke]
    kept = points[:1]
    for point in points[1:-1]:
        if math.dist(point, kept[-1]) >= STEP:
            kept.append(point)
    return tuple(kept + points[1:][-1:])


def to_link(strokes: Strokes) -> str | None:
    """Encode strokes with three letters per point; None if that is too long for an address."""
    text = BETWEEN.join("".join(_letters(*point) for point in stroke) for stroke in strokes)
    return text if 0 < len(text) <= LONGEST_LINK else None


def from_link(text: str | None) -> Strokes:
    """Decode the strokes of an address; empty if it has none."""
    if not text or len(text) > LONGEST_LINK or set(text) - set(LETTERS + BETWEEN):
        return ()
    parts = [part for part in text.split(BETWEEN) if part and len(part) % 3 == 0]
    return tuple(tuple(_point(part[k : k + 3]) for k in range(0, len(part), 3)) for part in parts)


def to_png(strokes: Strokes) -> bytes:
    """White strokes with round ends on black."""
    side = SIDE * FINE
    picture = Image.new("L", (side, side))
    pen, radius = ImageDraw.Draw(picture), WIDTH * side / 2
    for stroke in strokes:
        points = [(x * side, y * side) for x, y in stroke]
        if len(points) > 1:
            pen.line(points, 255, round(2 * radius))
        for x, y in points:  # round ends and corners
            pen.ellipse((x - radius, y - radius, x + radius, y + radius), 255)
    file = io.BytesIO()
    picture.reduce(FINE).save(file, "PNG", compress_level=3)
    return file.getvalue()


def _level(value: float) -> int:
    return min(max(round(value * LEVELS), 0), LEVELS - 1)


def _letters(x: float, y: float) -> str:
    number = round(x * LEVELS) * LEVELS + round(y * LEVELS)  # 18 bits
    return "".join(LETTERS[number >> shift & 63] for shift in (12, 6, 0))


def _point(letters: str) -> tuple[float, float]:
    high, middle, low = map(LETTERS.index, letters)
    number = high << 12 | middle << 6 | low
    return number // LEVELS / LEVELS, number % LEVELS / LEVELS
