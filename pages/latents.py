"""The latent space: positions of subjects, and the effect of each channel."""

import streamlit as st

from ui import latents
from ui.catalog import models, subjects
from ui.shell import frame, notices, query_params

CURVES = (
    "The line is the posterior mean given the filled dots: in a local channel it passes close to "
    "dots with short bars and follows the prior where bars are long; in a global channel it is one "
    "value for all of them. The band shows the uncertainty."
)
SPACE = "The two directions in which the points vary most, or three: drag to turn the space."
PLANE = (
    "The plane in which the angle is read best, or the directions of largest variance, which may "
    "fold the curve."
)
PROJECTION = (
    "PCA shows the directions of largest variance. t-SNE keeps neighbours together and shows "
    "clusters that PCA may hide."
)

frame.guard()
models.check_link()
(head,) = st.columns(1)  # a column has its room before it has its words
with st.container(
    key="latents.controls", horizontal=True, gap="medium", vertical_alignment="bottom"
):
    group = subjects.switch("latents")
    choice = models.pick(width=260, group=group)
    words = notices.attempt(lambda: choice.collection).words
    query_params.segments("Space", ["2-D", "3-D"], "latents.space", help=SPACE)
    if choice.config.model.divides_channels and choice.collection.track.period:
        first = "PCA" if choice.config.data.own else "angle"  # few own objects share a plane
        query_params.segments(
            "Local channels by", ["angle", "PCA"], "latents.plane", default=first, help=PLANE
        )
    query_params.segments(
        "Global channels by", ["PCA", "t-SNE"], "latents.projection", help=PROJECTION
    )
act = "In 2-D, click" if st.session_state.get("latents.space") == "3-D" else "Click"
with head:
    frame.heading(
        "Latents",
        f"Local channels follow the {words.place}; global channels are the style of the "
        f"{words.one}. {act} a point to see its {words.one}.",
        help="Local channels are z¹ to zᴶ, global ones zᴶ⁺¹ to zᴸ in the paper.",
    )
notices.attempt(lambda: latents.codes(choice))
above = st.container()
with frame.card(f"This {words.one}", "The picked one: true, and as the model redraws it."):
    found, row, view, given = latents.spaces.subject_card(choice)
with above:
    latents.spaces.show(choice, found, row, view)
latents.spaces.before_after(choice)
with frame.card(
    "Channel by channel",
    "Dots are the encodings of single views; a bar is two standard deviations either way. "
    + ("This model draws no conclusion from the other views." if found.curves is None else CURVES),
):
    latents.channels.along(choice, found, row, given)
if found.curves is not None:
    latents.channels.traversals(choice, found, row)
latents.channels.correlations(choice)
if choice.classes:
    with frame.card(
        "How well are angle and style separated?",
        "Every model takes the same tests; the table names the best possible value of each.",
    ):
        latents.disentanglement.card()
else:
    notices.note("The measures of disentanglement exist for digits only.")
