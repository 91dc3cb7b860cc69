"""The user's picture, turned upright by hand: by drag, arrow keys or number."""

import math
from collections.abc import Callable
from typing import Any

from ui.components.shared import Component
from ui.shell import palette

_component = Component("upright")


def upright(
    drawing: str, angle: float, *, key: str, stated: bool, on_turn: Callable[[float | None], None]
) -> None:
    """Show a picture, an SVG as it came, turned back by its angle in degrees.

    `stated`: whether the user has turned it. `on_turn` gets the angle in degrees after a drag, or
    None if the user lets the model infer it again.
    """

    def turned(sent: dict[str, Any]) -> None:
        degrees = sent.get("angle")
        if degrees is None:
            on_turn(None)
        elif isinstance(degrees, int | float) and math.isfinite(degrees):
            on_turn(round(float(degrees), 1) % 360)

    data = {"drawing": drawing, "angle": angle, "stated": stated, "cycle": palette.CYCLE}
    _component(key, data, turned=turned)


__all__ = ["upright"]
