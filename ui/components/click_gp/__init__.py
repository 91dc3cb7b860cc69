"""An interactive Gaussian process with points set by clicks, computed in the browser."""

from typing import Any

import streamlit as st

from ui.components.shared import Component
from ui.shell import palette, query_params

_component = Component("click_gp")
MOST = 40  # maximum number of points
REACH = 3.0  # range of the vertical axis
LIMITS = {"sigma": (0.2, 2.0), "r": (0.2, 3.0), "noise": (0.01, 1.0)}  # ranges of the sliders
START: dict[str, Any] = {
    "points": [{"w": 40.0, "z": 1.0}, {"w": 110.0, "z": -0.6}],  # degrees and value
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
        state["points"] = [
            {"w": min(max(w, 0.0), 360.0), "z": min(max(z, -REACH), REACH)}
            for w, z in zip(values[::2], values[1::2], strict=True)
        ]
    numbers = query_params.numbers(kernel) or []
    if len(numbers) == len(LIMITS):
        for (name, (low, high)), value in zip(LIMITS.items(), numbers, strict=True):
            state[name] = min(max(value, low), high)
    return state


def to_link(state: dict[str, Any]) -> dict[str, str | None]:
    """Encode for `from_link`; None for the defaults."""
    points = [value for point in state["points"] for value in (point["w"], point["z"])]
    kernel = query_params.text([state[name] for name in LIMITS])
    return {
        "points": None if state["points"] == START["points"] else query_params.text(points) or NONE,
        "kernel": None if kernel == query_params.text([START[name] for name in LIMITS]) else kernel,
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
