"""A Gaussian process that one can click points into, computed in the browser."""

from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

from ui import colours

STATIC = Path(__file__).parent / "static"


@dataclass
class State:
    """What the person made: points of angle (degrees) and value, and the kernel."""

    points: list[dict[str, float]] = field(
        default_factory=lambda: [{"w": 40.0, "z": 1.0}, {"w": 110.0, "z": -0.6}]
    )
    sigma: float = 1.0
    r: float = 1.0
    noise: float = 0.05


def clickgp(key: str) -> State:
    """Show it; what the person made is kept in the session, also when the page is left."""
    kept = f"clickgp:{key}"
    state: State = st.session_state.setdefault(kept, State())

    def changed() -> None:
        if made := st.session_state[key].get("state"):
            st.session_state[kept] = State(**made)

    look = {"cycle": colours.CYCLE, "warm": colours.LOCAL}
    _component()(key=key, data=asdict(state) | look, on_state_change=changed)
    return st.session_state[kept]


@cache
def _component() -> Any:
    return st.components.v2.component(
        "fgpvae_clickgp",
        html=(STATIC / "clickgp.html").read_text(),
        css=(STATIC / "common.css").read_text() + (STATIC / "clickgp.css").read_text(),
        js=(STATIC / "clickgp.js").read_text(),
    )
