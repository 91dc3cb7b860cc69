"""A Gaussian process that one can click points into, computed in the browser."""

from dataclasses import asdict, dataclass, field

import streamlit as st

from ui.components.shared import Component
from ui.shell import palette, query_params

_component = Component(
    "click_gp",
    "click_gp/click_gp.js",
    "click_gp/click_gp.html",
    ("shared/common.css", "click_gp/click_gp.css"),
)
MOST = 40  # points
REACH = 3.0  # of the vertical axis
LIMITS = {"sigma": (0.2, 2.0), "r": (0.2, 3.0), "noise": (0.01, 1.0)}  # of the sliders
NONE = "none"  # in a link, for no points


@dataclass
class State:
    """What the person made: points of angle (degrees) and value, and the kernel."""

    points: list[dict[str, float]] = field(
        default_factory=lambda: [{"w": 40.0, "z": 1.0}, {"w": 110.0, "z": -0.6}]
    )
    sigma: float = 1.0
    r: float = 1.0
    noise: float = 0.05

    @classmethod
    def from_link(cls, points: str | None, kernel: str | None) -> "State":
        """What a link says, as far as it makes sense."""
        state = cls()
        values = [] if points == NONE else query_params.numbers(points)
        if values is not None and len(values) % 2 == 0 and len(values) <= 2 * MOST:
            state.points = [
                {"w": min(max(w, 0.0), 360.0), "z": min(max(z, -REACH), REACH)}
                for w, z in zip(values[::2], values[1::2], strict=True)
            ]
        numbers = query_params.numbers(kernel) or []
        if len(numbers) == len(LIMITS):
            for (name, (low, high)), value in zip(LIMITS.items(), numbers, strict=True):
                setattr(state, name, min(max(value, low), high))
        return state

    def link(self) -> dict[str, str | None]:
        """What `from_link` reads; nothing for what everyone starts with."""
        start = State()
        points = [value for point in self.points for value in (point["w"], point["z"])]
        kernel = [self.sigma, self.r, self.noise]
        same = kernel == [start.sigma, start.r, start.noise]
        return {
            "points": None if self.points == start.points else query_params.text(points) or NONE,
            "kernel": None if same else query_params.text(kernel),
        }


def click_gp(key: str) -> State:
    """Show it; what the person made is in the link, and kept in the session."""
    kept = f"{key}.state"
    if kept not in st.session_state:
        asked = st.query_params
        st.session_state[kept] = State.from_link(asked.get("points"), asked.get("kernel"))
    state: State = st.session_state[kept]

    def changed() -> None:
        if made := st.session_state[key].get("state"):
            st.session_state[kept] = State(**made)

    look = {"cycle": palette.CYCLE, "warm": palette.LOCAL}
    _component(key=key, data=asdict(state) | look, on_state_change=changed)
    query_params.write(**state.link())
    return state
