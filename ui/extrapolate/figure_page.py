"""The page Extrapolate for a model of figures of cubes: build one, and it imagines the rest."""

from collections.abc import Callable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae.data import cubes
from fgpvae.errors import UserError
from fgpvae.figure_view import figure_of
from ui.catalog import figures
from ui.catalog.models import Choice
from ui.components.builder import builder
from ui.inference import figure
from ui.shell import frame, notices, query_params, widget_keys

TITLE = "Turn a figure of your own"
MOVES_HELP = (
    "How to get from one cube to the next: x is right, y is away from you, z is up; a minus "
    "sign goes the other way, a number adds several cubes. Branches are in brackets: x2 (y) "
    "z2. A single cube is o."
)


def page(key: str, above: DeltaGenerator, choice: Choice) -> None:
    """All of the page below the box with the models."""
    link = query_params.initial_params(key)
    moves = figures.chosen(key, link.get("figure"))
    with st.container(key="extrapolate.three"):
        bring, turning, possible = st.columns([1, 1.05, 1.1], gap="medium")
    with bring, frame.card("Build a figure", key="extrapolate.build"):
        _build(key, moves)
        if problem := st.session_state.get(f"{key}.problem"):
            notices.problem(problem, "The figure before it is shown.")
    places = figure.Places(turning, possible, st.container())
    shown = figure.show(key, choice, moves, link, places)
    with above:
        frame.heading(
            TITLE,
            f"Drag the ring. The model sees your figure {figure.words(shown.state.context)} "
            "and imagines the other sides. Click the dots to show it more.",
        )
    figure.strip(shown)
    figure.save(shown, choice, "My figure of cubes")
    query_params.write(**shown.link, digit=None, shown=None, said=None, seed=None)


def _build(key: str, moves: str) -> None:
    """The view in which one builds, the moves as text, and a button for another figure."""
    name, text, wrong = f"{key}.built", f"{key}.text", f"{key}.problem"
    built = st.session_state.get(name)
    if built is None or built[0] != moves:  # another figure has come in another way
        built = moves, cubes.parse(moves).cubes
        st.session_state[name], st.session_state[text] = built, moves
        st.session_state.pop(wrong, None)

    def on_built(made: tuple[tuple[int, int, int], ...]) -> None:
        def read() -> str:
            found = cubes.from_cubes(made)
            return figure_of(found.moves).moves

        found = _attempt(key, read)
        st.session_state[name] = found or st.session_state[f"{key}.moves"], made
        if found:
            st.session_state[text] = found

    def on_typed(typed: str) -> None:
        st.session_state[text] = typed
        found = _attempt(key, lambda: figure_of(typed).moves)
        if found:
            st.session_state[name] = found, cubes.parse(found).cubes

    builder(built[1], key=f"{key}.builder", on_built=on_built)
    box = widget_keys.showing(f"{key}.typed", st.session_state[text], on_typed)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        st.text_input("Moves", max_chars=200, help=MOVES_HELP, **box)
        figures.another_button(key)


def _attempt(key: str, read: Callable[[], str]) -> str | None:
    """The moves of what was built, which are those of the page from now on; None with a reason."""
    try:
        found = read()
    except UserError as error:
        st.session_state[f"{key}.problem"] = str(error)
        return None
    st.session_state.pop(f"{key}.problem", None)
    st.session_state[f"{key}.moves"] = found
    return found
