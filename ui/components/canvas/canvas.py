"""A canvas to draw a digit on, with Undo and Clear beside it; the page keeps the strokes."""

import io
import math
from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st
from PIL import Image, ImageDraw

from ui.components.shared import Component

_component = Component(
    "canvas",
    "canvas/canvas.js",
    "canvas/canvas.html",
    ("shared/common.css", "canvas/canvas.css"),
)
Strokes = tuple[tuple[tuple[float, float], ...], ...]  # points in shares of the canvas
WIDTH = 1 / 12  # of a stroke, in the same unit
SIDE, FINE = 264, 3  # pixels of the picture, and how many times finer it is drawn
MOST_POINTS = 20_000


def canvas(strokes: Strokes, *, key: str, sheet: str, on_drawn: Callable[[Strokes], None]) -> None:
    """Show strokes and let the person go on; `on_drawn` gets all of them after each change.

    With another `sheet` the canvas starts from `strokes` once more.
    """

    def drawn() -> None:
        made = _checked((st.session_state.get(key) or {}).get("drawn"))
        if made is not None:
            on_drawn(made)

    data = {"strokes": strokes, "width": WIDTH, "sheet": sheet}
    _component(key=key, data=data, on_drawn_change=drawn)


def _checked(sent: Any) -> Strokes | None:
    """What the browser sent, as far as the canvas allows it; None if it is no drawing."""
    try:
        made = tuple(
            tuple((float(x), float(y)) for x, y in stroke) for stroke in sent["strokes"] if stroke
        )
    except (TypeError, ValueError, KeyError):
        return None
    values = [value for stroke in made for point in stroke for value in point]
    if len(values) > 2 * MOST_POINTS or not all(map(math.isfinite, values)):
        return None
    return tuple(tuple((_inside(x), _inside(y)) for x, y in stroke) for stroke in made)


def _inside(value: float) -> float:
    return min(max(value, 0.0), 1.0)


def to_png(strokes: Sequence[Sequence[tuple[float, float]]]) -> bytes:
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
