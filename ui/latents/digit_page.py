"""The page Latents for a model of digits, below its controls."""

from functools import partial

import numpy as np
import streamlit as st

from fgpvae.data import ANGLES, Views
from fgpvae.latents import Latents
from ui.catalog import Choice
from ui.components import hover_picture
from ui.latents import legends, pca, spaces
from ui.latents.channels import channel_panels
from ui.latents.codes import CHANNELS, DEGREES, KEPT, LABELS, strongest
from ui.latents.correlations import matrices
from ui.latents.digit_card import VIEWS_GIVEN, picked, this_digit
from ui.latents.disentanglement import disentanglement
from ui.latents.traversals import traversals
from ui.shell import frame, palette, query_params

SPLIT = {
    "VAE": "A VAE looks at every image on its own, so nothing connects the views of a digit.",
    "CVAE": "A CVAE is told the angle, so its channels should hold the style alone, but "
    "nothing forces them to.",
    "GP-VAE": "The GP-VAE has one Gaussian process over digits and angles together, so each "
    "channel holds both.",
}


def page(choice: Choice, views: Views, found: Latents, colour: str) -> None:
    """All of the page below the controls; points are coloured by angle, digit or class."""
    query_params.write(object=None)
    if choice.title in SPLIT:
        st.caption(SPLIT[choice.title])
    above = st.container()
    with frame.card("This digit", "The selected digit: true, and as the model redraws it."):
        digit, view, given = _controls(views)
        this_digit(choice, views, digit, view, given)
    with above:  # only now it is known which point a link means
        _spaces(choice, views, list(found.blocks), digit, view, given)
        with st.container(horizontal=True, vertical_alignment="center"):
            if colour == "angle":
                st.html(legends.angle_legend(), width=352)
            st.download_button(
                "CSV",
                partial(pca.table, choice, views, pca.pooled(choice)),
                "fgpvae-latents.csv",
                "text/csv",
                key="latents.download",
                on_click="ignore",
                help="Every view with its components.",
            )
    model = choice.load()
    with frame.card(
        "Channel by channel",
        "Dots are the encoder's estimates for each view, with their errors. The line is what "
        "the model concludes from the filled dots, the band how sure it is."
        if "local" in model.blocks
        else "Dots are the encoder's estimates for each view, with their errors. This model "
        "draws no conclusion from the other views of a digit.",
    ):
        channel_panels(choice, digit, given)
    if model.divides_channels and found.pooled is not None:
        traversals(
            choice,
            found.pooled[digit],
            view,
            strongest(choice)[:CHANNELS],
            LABELS,
            palette.angle_colours(ANGLES),
            "angle",
        )
    matrices(choice)
    with frame.card(
        "How well are angle and style kept apart?",
        "Every model is asked the same questions; the table says what the best answer would be.",
    ):
        disentanglement()


def _spaces(
    choice: Choice, views: Views, blocks: list[str], digit: int, view: int, given: np.ndarray
) -> None:
    """The PCAs, and the digits that were circled in one of them."""
    together = spaces.together(digit, pca.PICKED, choice.name)
    spaces.show(
        "latents.pca",
        [pca.space(choice, block, views) for block in blocks],
        together,
        view,
        st.session_state["latents.space"] == "3-D",
        picked(choice, views, pca.names(views)[digit], digit, view, given),
        pca.choose,
        hover_picture.Thumbnails(views.images[:, 0].numpy(), DEGREES),
    )
    pca.circled(views, together)


def _controls(views: Views) -> tuple[int, int, np.ndarray]:
    """Which digit, which of its views, and which views [16] the model is given."""
    P, first = len(views), int((views.labels == 3).int().argmax())  # a three, if there is one
    if st.session_state.get("latents.digit", 0) >= P:
        st.session_state["latents.digit"] = first
    which, turn, some = st.columns([2, 2, 2], gap="medium")
    with which:
        # a slider needs two values; a run on one digit has a slider that cannot move
        digit = st.slider(
            "Digit",
            0,
            max(P - 1, 1),
            first,
            key="latents.digit",
            disabled=P == 1,
            bind="query-params",
            persist_state="session",
        )
    with turn:
        degrees = st.select_slider(
            "View",
            [float(d) for d in DEGREES],
            key="latents.view",
            format_func=lambda d: f"{d:g}°",
            bind="query-params",
            persist_state="session",
        )
    with some:
        count = st.segmented_control(
            "Views given to the model", list(VIEWS_GIVEN), default=16, key="latents.given", **KEPT
        )
    view = int(np.argmin(np.abs(DEGREES - degrees)))
    return digit, view, np.isin(np.arange(16), VIEWS_GIVEN[count])
