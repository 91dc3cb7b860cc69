"""The person's own picture, turned by hand until it is upright: by drag, arrows or number."""

import math
from collections.abc import Callable
from typing import Any

import streamlit as st

from ui.components.shared import Component
from ui.shell import palette

_component = Component(
    "upright",
    "upright/upright.js",
    "upright/upright.html",
    ("shared/common.css", "shared/degrees.css", "upright/upright.css"),
)


def upright(
    drawing: str,
    angle: float,
    *,
    key: str,
    said: bool,
    on_turn: Callable[[float | None], None],
) -> None:
    """Show a picture, an SVG as it came, turned back by its angle in degrees.

    `said`: the person has turned it. `on_turn` gets the angle in degrees when the picture is let
    go, or None when the person leaves it to the model again. The browser is told which of these was
    answered last: a run that was under way does not turn the picture back.
    """
    answered = f"{key}.answered"

    def turned() -> None:
        sent = (st.session_state.get(key) or {}).get("turned")
        if not isinstance(sent, dict):
            return
        st.session_state[answered] = sent.get("sent")
        if sent.get("angle") is None:
            on_turn(None)
        elif (degrees := _checked(sent["angle"])) is not None:
            on_turn(degrees)

    data = {
        "drawing": drawing,
        "angle": angle,
        "said": said,
        "answered": st.session_state.get(answered),
        "cycle": list(palette.CYCLE),
    }
    _component(key=key, data=data, on_turned_change=turned)


def _checked(angle: Any) -> float | None:
    """What the browser sent, if it is an angle."""
    if isinstance(angle, bool) or not isinstance(angle, int | float) or not math.isfinite(angle):
        return None
    return round(float(angle), 1) % 360
