"""A figure of cubes that one can turn and build, face by face; the page keeps the cubes."""

from collections.abc import Callable, Sequence
from typing import Any

import streamlit as st

from fgpvae.data import cubes
from ui.components.shared import Component

_component = Component("builder")
Cubes = tuple[tuple[int, int, int], ...]
FARTHEST = 100  # cubes from the first one
MOST = 60  # that the browser may send; how many a model knows is another matter


def builder(built: Sequence[Sequence[int]], *, key: str, on_built: Callable[[Cubes], None]) -> None:
    """Show cubes and let the person go on; `on_built` gets all of them after each change.

    The browser is told which change was answered last: a run that was under way when the person
    went on shows what was before, and does not undo it.
    """
    answered = f"{key}.answered"

    def taken(sent: Any) -> None:
        made = checked(sent)
        if made is not None:
            st.session_state[answered] = sent.get("sent")
            on_built(made)

    data = {
        "cubes": [list(cube) for cube in built],
        "answered": st.session_state.get(answered),
        "elevation": cubes.ELEVATION,
        "most": cubes.MOST_CUBES,
    }
    _component(key, data, built=taken)


def checked(sent: Any) -> Cubes | None:
    """What the browser sent, if it is a list of places."""
    try:
        made = tuple((int(x), int(y), int(z)) for x, y, z in sent["cubes"])
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
    near = all(abs(value) <= FARTHEST for cube in made for value in cube)
    return made if near and len(made) <= MOST else None


__all__ = ["builder", "checked"]
