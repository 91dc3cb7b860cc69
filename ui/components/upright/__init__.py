"""The person's own picture, turned by hand until it is upright: by drag, arrows or number."""

import math
from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.components.shared import Component
from ui.shell import palette

_component = Component("upright")


def upright(
    drawing: str,
    angle: float,
    *,
    key: str,
    stated: bool,
    on_turn: Callable[[float | None], None],
) -> None:
    """Show a picture, an SVG as it came, turned back by its angle in degrees.

    `stated`: the person has turned it. `on_turn` gets the angle in degrees when the picture is let
    go, or None when the person leaves it to the model again. The browser is told which of these was
    answered last: a run that was under way does not turn the picture back.
    """
    answered = f"{key}.answered"

    def turned(sent: dict[str, Any]) -> None:
        st.session_state[answered] = sent.get("sent")
        degrees = sent.get("angle")
        if degrees is None:
            on_turn(None)
        elif isinstance(degrees, int | float) and math.isfinite(degrees):
            on_turn(round(float(degrees), 1) % 360)

    data = {
        "drawing": drawing,
        "angle": angle,
        "stated": stated,
        "answered": st.session_state.get(answered),
        "cycle": list(palette.CYCLE),
    }
    _component(key, data, turned=turned)


__all__ = ["upright"]
