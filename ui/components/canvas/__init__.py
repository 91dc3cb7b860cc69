"""A canvas for a digit or a path, with Undo and Clear; the page stores the strokes."""

from collections.abc import Callable
from typing import Any

from ui.components.canvas.strokes import WIDTH, Strokes, checked, from_link, to_link, to_png
from ui.components.shared import Component

_component = Component("canvas")
THIN = 0.012  # width of a path, as a share of the canvas


def canvas(
    strokes: Strokes,
    *,
    key: str,
    sheet: str,
    on_drawn: Callable[[Strokes], None],
    thing: str = "digit",
    margin: float = 0.0,
) -> None:
    """Show strokes for drawing; `on_drawn` gets all of them after each change.

    With another `sheet` the canvas restarts from `strokes`. With a `margin`, a share of the side
    without drawing, the drawing is a path: one thin stroke.
    """

    def drawn(sent: Any) -> None:
        made = checked(sent)
        if made is not None:
            on_drawn(made)

    width = THIN if margin else WIDTH
    data = {"strokes": strokes, "width": width, "sheet": sheet, "thing": thing, "margin": margin}
    _component(key, data, drawn=drawn)


__all__ = ["Strokes", "canvas", "checked", "from_link", "to_link", "to_png"]
