"""Where the views of digits lie: the PCA of local and of global channels."""

import streamlit as st

from fgpvae.data import ANGLES, Views
from ui.catalog import Choice
from ui.charts import figures, loops
from ui.latents.codes import DEGREES, encoded, projected
from ui.shell import palette

TITLE = {
    "local": "Local channels",
    "global": "Global channels",
    "joint": "All channels",
}
SENTENCE = {
    "local": "They turn with the digit: its sixteen views make a loop.",
    "global": "They stay when the digit turns: its sixteen views are one point.",
    "joint": "This model does not divide its channels: angle and style are in the same place.",
}
SCATTERED = "They are meant to stay. Judged from one image at a time, they scatter around a point."


def point_colours(mode: str, views: Views, still: bool) -> list[str]:
    """Colours of the P Q points; where the views of a digit are one point it has no angle."""
    P, Q = views.angles.shape
    if mode == "angle":
        return [palette.GLOBAL] * (P * Q) if still else palette.angle_colours(ANGLES) * P
    if mode == "digit":
        return [colour for colour in figures.several(P) for _ in range(Q)]
    hues = figures.several(10)
    return [hues[label] for label in views.labels.tolist() for _ in range(Q)]


def choose(digit: int, view: int | None) -> None:
    """A point was clicked."""
    st.session_state["z_digit"] = digit
    if view is not None:
        st.session_state["z_view"] = float(DEGREES[view])


def space(choice: Choice, block: str, views: Views) -> loops.Space:
    """One PCA."""
    pooled = st.session_state["z_from"] == "all its views" and encoded(choice).pooled is not None
    still = pooled and block == "global"
    projection = projected(choice, block, pooled)
    shares = projection.shares[: 3 if st.session_state["z_space"] == "3-D" else 2]
    scattered = block == "global" and not still
    channels = encoded(choice).blocks[block]
    return loops.Space(
        TITLE[block],
        SCATTERED if scattered else SENTENCE[block],
        f"{shares.sum():.0%} of the variance of {channels.stop - channels.start} channels is in "
        f"the {len(shares)} components that you see.",
        projection.points,
        projection.shares,
        point_colours(st.session_state["z_colour"], views, still),
        still,
    )
