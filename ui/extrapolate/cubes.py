"""A cube figure, built face by face or written as moves."""

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from fgpvae.data import cube_figures
from fgpvae.data.cubes import CubeFigure, Cubes
from fgpvae.errors import UserError
from ui.catalog import Choice, subjects
from ui.components.shared import Component
from ui.extrapolate.built import Built
from ui.shell import frame, notices, widget_keys

_builder = Component("builder")
FARTHEST = 100  # maximum distance from the first cube
MOST = 60  # maximum number of cubes from the browser; models may allow fewer
MOVES_HELP = (
    "How to get from one cube to the next: x is right, y is away from you, z is up; a minus "
    "sign goes the other way, a number adds several cubes. Branches are in brackets: x2 (y) "
    "z2. A single cube is o."
)
Drafted = tuple[tuple[int, int, int], ...]
DRAFT = "extrapolate.draft"


def build(choice: Choice, link: Mapping[str, str]) -> Built:
    """Ask for a figure; while the input is invalid, use the last valid one."""
    figure = subjects.chosen("extrapolate", choice, link.get("subject"))
    assert isinstance(figure, CubeFigure)
    id, shown, text, problem = st.session_state.get(DRAFT, ("", (), "", ""))
    if id != figure.id:  # the figure was changed elsewhere
        shown, text, problem = figure.figure.cubes, figure.figure.moves, ""
        st.session_state[DRAFT] = figure.id, shown, text, problem

    def attempt(read: Callable[[], CubeFigure], drafted: Drafted, typed: str) -> None:
        """Use a new figure; if it is invalid, say why and keep the one before."""
        try:
            found = read()
            subjects.pick("extrapolate", choice, found.id)
            drafted = drafted or found.figure.cubes
            st.session_state[DRAFT] = found.id, drafted, typed or found.figure.moves, ""
        except UserError as error:
            st.session_state[DRAFT] = figure.id, drafted or shown, typed or text, str(error)

    def built(sent: Any) -> None:
        if (made := checked(sent)) is not None:
            attempt(lambda: Cubes().figure(cube_figures.from_cubes(made).moves), made, "")

    def another() -> None:
        every = [each.id for each in choice.collection.subjects(True)]
        now = every.index(figure.id) + 1 if figure.id in every else 0
        subjects.pick("extrapolate", choice, every[now % len(every)])

    with frame.card("Build a cube figure", key="extrapolate.build"):
        size = {"elevation": cube_figures.ELEVATION, "most": cube_figures.MOST_CUBES}
        _builder("extrapolate.builder", {"cubes": shown, **size}, built=built)
        box = widget_keys.showing(
            "extrapolate.typed",
            text,
            lambda typed: attempt(lambda: Cubes().figure(typed), (), typed),
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input("Moves", max_chars=200, help=MOVES_HELP, **box)
            st.button("Another figure", on_click=another, key="extrapolate.another_figure")
        if problem:
            notices.problem(f"{problem} The figure before it is shown.")
    return Built(figure, link={"subject": figure.id})


def checked(sent: Any) -> Drafted | None:
    """The places of cubes sent by the browser, if they are valid."""
    try:
        made = tuple((int(x), int(y), int(z)) for x, y, z in sent["cubes"])
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
    near = all(abs(value) <= FARTHEST for cube in made for value in cube)
    return made if near and len(made) <= MOST else None
