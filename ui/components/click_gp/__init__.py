"""An interactive Gaussian process with points set by clicks, computed in the browser."""

from typing import Any

import numpy as np
import streamlit as st

from ui.components.shared import Component
from ui.shell import palette, query_params

_component = Component("click_gp")
MOST = 40  # maximum number of points
REACH = 3.0  # range of the vertical axis
LIMITS = {"sigma": (0.2, 2.0), "r": (0.2, 3.0), "noise": (0.01, 1.0)}  # ranges of the sliders
START: dict[str, Any] = {
    "points": [[40.0, 1.0], [110.0, -0.6]],  # degrees and value
    "sigma": 1.0,
    "r": 1.0,
    "noise": 0.05,
}
NONE = "none"  # in a link, for no points


def from_link(points: str | None, kernel: str | None) -> dict[str, Any]:
    """Decode points and kernel from a link; invalid parts are ignored."""
    state = dict(START)
    values = [] if points == NONE else query_params.numbers(points)
    if values is not None and len(values) % 2 == 0 and len(values) <= 2 * MOST:
        made = np.reshape(values, (-1, 2)).clip((0, -REACH), (360, REACH))
        state["points"] = made.tolist()
    numbers = query_params.numbers(kernel) or []
    if len(numbers) == len(LIMITS):
        low, high = zip(*LIMITS.values(), strict=True)
        state |= zip(LIMITS, np.clip(numbers, low, high).tolist(), strict=True)
    return state


def to_link(state: dict[str, Any]) -> dict[str, str | None]:
    """Encode for `from_link`; None for the defaults."""
    points, kernel = np.ravel(state["points"]).tolist(), [state[name] for name in LIMITS]
    return {
        "points": None if state["points"] == START["points"] else query_params.text(points) or NONE,
        "kernel": query_params.text(kernel) if kernel != [START[name] for name in LIMITS] else None,
    }


def click_gp(key: str) -> None:
    """Show the process; its state is in the link and in the session state."""
    kept, asked = f"{key}.state", st.query_params
    if kept not in st.session_state:
        st.session_state[kept] = from_link(asked.get("points"), asked.get("kernel"))

    def changed(made: dict[str, Any]) -> None:
        st.session_state[kept] = {name: made[name] for name in START}

    state = st.session_state[kept]
    _component(key, state | {"cycle": palette.CYCLE, "warm": palette.LOCAL}, state=changed)
    query_params.write(**to_link(state))


__all__ = ["click_gp"]
