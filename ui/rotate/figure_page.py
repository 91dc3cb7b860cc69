"""The page Rotate for a model of figures of cubes."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.catalog import figures
from ui.catalog.models import Choice
from ui.inference import figure
from ui.shell import frame, query_params

TITLE = "Rotate an object"


def page(key: str, head: DeltaGenerator, choice: Choice) -> None:
    """All of the page below the box with the models."""
    link = query_params.initial_params(key)
    moves = figures.chosen(key, link.get("figure"))
    above = head.container()
    left, right = st.columns([1.1, 1], gap="medium")
    state = figure.show(key, choice, moves, link, (left, right))
    with above:
        frame.heading(TITLE, telling(moves, state.context, state.style is None))
        figures.another_button(key)
    query_params.write(
        figure=moves.replace(" ", ""),
        angle=f"{state.angle:g}",
        views=query_params.text(state.context),
        digit=None,
        other=None,
        object=None,
        style=None,
    )


def telling(moves: str, given: list[int], own: bool) -> str:
    if not own:
        return "Drag the ring. The style is no longer that of this figure: nobody has built this."
    known = {"unseen": ", which it never met,", "training": ", of a shape that it was trained on,"}
    return (
        f"Drag the ring. The model sees this figure{known.get(figures.kind(moves), '')} "
        f"{figure.words(given)}; the other sides it imagines."
    )
