"""A canvas for a digit or a path, and its strokes as links and pictures; the page stores them."""

import io
import math
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from ui.components.shared import Component

_component = Component("canvas")
Stroke = tuple[tuple[float, float], ...]  # points in shares of the canvas
Strokes = tuple[Stroke, ...]

WIDTH = 1 / 12  # width of a stroke, in the same unit
THIN = 0.012  # width of a path
SIDE, FINE = 264, 3  # pixels of the picture, and how many times finer it is drawn
MOST_POINTS = 20_000
STEP = 0.012  # points closer to the previous one are left out
BETWEEN = "."  # strokes
LEVELS = 256  # grid points on a side in a link
LONGEST_LINK = 1500  # letters


def canvas(
    strokes: Strokes,
    *,
    key: str,
    sheet: str,
    on_drawn: Callable[[Strokes], None],
    dial: str,
    thing: str = "digit",
    margin: float = 0.0,
) -> None:
    """Show strokes for drawing; `on_drawn` gets all of them after each change.

    With another `sheet` the canvas restarts from `strokes`. With a `margin`, a share of the side
    without drawing, the drawing is a path: one thin stroke. On a phone a button scrolls to the
    result, the `dial` of this key.
    """

    def drawn(sent: Any) -> None:
        if (made := checked(sent)) is not None:
            on_drawn(made)

    data = {"strokes": strokes, "width": THIN if margin else WIDTH, "margin": margin}
    _component(key, data | {"sheet": sheet, "thing": thing, "dial": dial}, drawn=drawn)


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
    levels = np.clip(np.rint(np.multiply(stroke, LEVELS)), 0, LEVELS - 1)
    points = [(x, y) for x, y in (levels / LEVELS).tolist()]
    kept = points[:1]
    for point in points[1:-1]:
        if math.dist(point, kept[-1]) >= STEP:
            kept.append(point)
    return tuple(kept + points[1:][-1:])


def to_link(strokes: Strokes) -> str | None:
    """Encode strokes with two bytes per point; None if that is too long for an address."""
    parts = [bytes(round(v * LEVELS) for point in stroke for v in point) for stroke in strokes]
    text = BETWEEN.join(urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
    return text if 0 < len(text) <= LONGEST_LINK else None


def from_link(text: str | None) -> Strokes:
    """Decode the strokes of an address; empty if it has none."""
    parts = (text or "").split(BETWEEN) if len(text or "") <= LONGEST_LINK else []
    try:
        made = [b64decode(part + "=" * (-len(part) % 4), "-_", validate=True) for part in parts]
    except ValueError:
        return ()
    levels = [zip(part[::2], part[1::2], strict=False) for part in made if len(part) > 1]
    return tuple(tuple((x / LEVELS, y / LEVELS) for x, y in stroke) for stroke in levels)


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


__all__ = ["Strokes", "canvas", "checked", "from_link", "to_link", "to_png"]
