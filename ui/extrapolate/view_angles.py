"""All views of a digit, placed together, and what the person says of them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import streamlit as st

from fgpvae.models import Model
from fgpvae.placement import Placement, place
from ui.shell import notices

NOT_SAID = "Not said"
DIGITS = (NOT_SAID, *(str(digit) for digit in range(10)))
_PLACED = "extrapolate.placed"


@dataclass(frozen=True)
class Placed:
    """Views by their keys, and what was found."""

    given: tuple[object, ...]  # all that it depends on
    keys: tuple[str, ...]
    found: Placement | None


def together(model: Model, images: Mapping[str, np.ndarray]) -> None:
    """Place views [H, W] of one digit together, and name those that do not fit."""
    keys = tuple(images)
    if not keys:
        return
    said = [st.session_state.get(f"extrapolate.said.{key}") for key in keys]
    label = said_digit(keys[0])
    given = (id(model), label, *said, *(image.tobytes() for image in images.values()))
    before: Placed | None = st.session_state.get(_PLACED)
    if before is None or before.given != given:
        known = [None if degrees is None else float(np.deg2rad(degrees)) for degrees in said]
        found = place(model, list(images.values()), known, label)
        st.session_state[_PLACED] = Placed(given, keys, found)
    if sentence := misfit(st.session_state[_PLACED].found):
        notices.note(sentence)


def misfit(found: Placement | None) -> str:
    """Which views do not fit the others; empty if all do."""
    if found is None or not found.misfits:
        return ""
    names = [str(view + 1) for view in found.misfits]
    if len(names) == len(found.angles):
        return "The views do not fit each other: do they show the same digit?"
    if len(names) == 1:
        return f"View {names[0]} does not fit the others."
    return f"Views {', '.join(names[:-1])} and {names[-1]} do not fit the others."


def of_view(key: str) -> np.ndarray | None:
    """The belief [GRID] about a view that was placed with others."""
    placed: Placed | None = st.session_state.get(_PLACED)
    if placed is None or placed.found is None or key not in placed.keys:
        return None
    return placed.found.belief[placed.keys.index(key)]


def subject(key: str) -> str:
    """The first of the views that a view was placed with."""
    placed: Placed | None = st.session_state.get(_PLACED)
    return placed.keys[0] if placed is not None and key in placed.keys else key


def said_digit(key: str) -> int | None:
    """Which digit it is, as the person says."""
    said = st.session_state.get(f"extrapolate.digit.{key}", NOT_SAID)
    return None if said == NOT_SAID else int(said)


def ask_digit(key: str) -> None:
    """Let the person say which digit it is: some angles are then out of the question."""
    name = f"extrapolate.digit.{subject(key)}"
    widget = f"extrapolate.which.{subject(key)}"
    st.session_state[widget] = st.session_state.get(name, NOT_SAID)

    def say() -> None:
        st.session_state[name] = st.session_state[widget]

    st.selectbox(
        "Which digit it is",
        DIGITS,
        key=widget,
        on_change=say,
        help=(
            "If you say which digit it is, angles at which the picture looks like another "
            "digit are ruled out."
        ),
    )
