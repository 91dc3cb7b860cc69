"""The page Rotate for a model of figures of cubes."""

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.catalog import figures
from ui.catalog.models import Choice
from ui.inference import figure
from ui.shell import frame, query_params

TITLE, BUILD = "Rotate an object", "Build one of your own"


def page(key: str, head: DeltaGenerator, choice: Choice) -> None:
    """All of the page below the box with the models."""
    link = query_params.initial_params(key)
    moves = figures.chosen(key, link.get("figure"))
    above = head.container()
    left, right = st.columns([1, 1.35], gap="medium")
    places = figure.Places(left, right.container(), right)
    shown = figure.show(key, choice, moves, link, places)
    with above:
        frame.heading(TITLE, telling(moves, shown.state.context, shown.state.style is None))
        with st.container(horizontal=True, vertical_alignment="center"):
            figures.another_button(key)
            st.page_link(
                frame.page("extrapolate"), label=BUILD, query_params={"model": choice.name}
            )
    figure.strip(shown)
    with frame.card("Figures", "No model was trained on these shapes. Click one."):
        figures.gallery(key, moves)
    figure.save(shown, choice, "A figure of cubes")
    query_params.write(**shown.link, digit=None, other=None, object=None)


def telling(moves: str, given: list[int], own: bool) -> str:
    if not own:
        return (
            "Drag the ring. The style is no longer this figure's own: this is a figure that "
            "nobody has built."
        )
    known = {"unseen": ", which is new to it,", "training": ", of a shape that it was trained on,"}
    return (
        f"Drag the ring. The model sees this figure{known.get(figures.kind(moves), '')} "
        f"{figure.words(given)} and imagines the other sides."
    )
