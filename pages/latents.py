"""Inside the latent space: where the views of a digit lie, and what each channel does."""

import streamlit as st

from ui import charts
from ui.catalog import models, things
from ui.latents import KEPT, digit_page, encoded, object_page, shown
from ui.shell import frame, notices

frame.guard()
head = st.container()
with st.container(horizontal=True, gap="medium"):
    choice = models.pick(width=260, objects=True, figures=True)
    digits = things.of(choice) == things.DIGITS
    thing = "a digit" if digits else "an object"
    with head:
        frame.heading(
            "Latents",
            f"Each point is one view of {thing}, placed by the model's channels. Click a point to "
            f"see its {thing.split()[-1]}.",
            help="Local channels are z¹ to zᴶ, global ones zᴶ⁺¹ to zᴸ in the paper.",
        )
    if digits:
        with head:
            views, found = notices.attempt(lambda: (shown(choice), encoded(choice)))
        modes = ["angle", "digit", "class"] if len(choice.classes) > 1 else ["angle", "digit"]
        colour = st.segmented_control(
            "Colour", modes, default="angle", key="latents.colour", **KEPT
        )
    st.segmented_control(
        "Space",
        ["2-D", "3-D"],
        default="2-D",
        key="latents.space",
        help="The two directions in which the points vary most, or three: drag to turn the space.",
        **KEPT,
    )
    if digits:
        st.segmented_control(
            "A view is placed by",
            ["all its views", "itself alone"],
            default="all its views",
            key="latents.placed_by",
            disabled=found.pooled is None,
            help="Where the model puts a view when it knows all sixteen views of the digit "
            "(the posterior), or from this one image alone (the encoder's estimate).",
            **KEPT,
        )
with charts.last():
    if digits:
        digit_page.page(choice, views, found, colour)
    else:
        object_page.page(choice)
