"""Where the views of digits lie: the PCA of local and of global channels."""

import numpy as np
import streamlit as st

from fgpvae.data import ANGLES, Views
from ui import charts
from ui.catalog import Choice
from ui.components.pictures import address
from ui.latents.codes import DEGREES, LABELS, encoded, projected
from ui.latents.spaces import Points, Space
from ui.shell import frame, palette

PICKED = "latents.picked"  # digits that were circled, in the session state
TITLE = {
    "local": "Local channels",
    "global": "Global channels",
    "joint": "All channels",
}
SENTENCE = {
    "local": "They change as the digit turns: its sixteen views form a loop.",
    "global": "They stay the same as the digit turns: its sixteen views are one point.",
    "joint": "This model does not divide its channels: angle and style are in the same place.",
}
SCATTERED = (
    "They should stay the same. Estimated from one image at a time, they scatter around a point."
)


def point_colours(mode: str, views: Views, still: bool) -> list[str]:
    """Colours of the P Q points; where the views of a digit are one point it has no angle."""
    P, Q = views.angles.shape
    if mode == "angle":
        return [palette.GLOBAL] * (P * Q) if still else palette.angle_colours(ANGLES) * P
    if mode == "digit":
        return [colour for colour in charts.several(P) for _ in range(Q)]
    return [charts.CLASSES[label] for label in views.labels.tolist() for _ in range(Q)]


def choose(points: Points) -> None:
    """Points were clicked or circled."""
    if not points:
        return
    digit, view = points[0]
    st.session_state["latents.digit"] = digit
    if view >= 0:
        st.session_state["latents.view"] = float(DEGREES[view])
    st.session_state[PICKED] = list(dict.fromkeys(p for p, _ in points))


def names(views: Views) -> list[str]:
    return [f"digit {p}, a {label}" for p, label in enumerate(views.labels.tolist())]


def space(choice: Choice, block: str, views: Views) -> Space:
    """One PCA."""
    still = pooled(choice) and block == "global"
    projection = projected(choice, block, pooled(choice))
    shares = projection.shares[: 3 if st.session_state["latents.space"] == "3-D" else 2]
    scattered = block == "global" and not still
    channels = encoded(choice).blocks[block]
    mode = st.session_state["latents.colour"]
    labels = views.labels.tolist()
    return Space(
        TITLE[block],
        SCATTERED if scattered else SENTENCE[block],
        f"These {len(shares)} components show {shares.sum():.0%} of the variance of "
        f"{channels.stop - channels.start} channels.",
        charts.Cloud(
            projection.points,
            projection.shares,
            point_colours(mode, views, still),
            [f"{label}" for label in labels] if mode == "class" else ["views"] * len(labels),
            names(views),
            LABELS,
            still,
        ),
    )


def table(choice: Choice, views: Views, together: bool) -> str:
    """Every view with its components, as CSV; `together` is what `pooled` says.

    A download is made outside the run of a page, where the state of the session is not there.
    """
    import pandas as pd

    P, Q = views.angles.shape
    columns: dict[str, object] = {
        "digit": np.repeat(np.arange(P), Q),
        "class": np.repeat(views.labels.numpy(), Q),
        "angle_degrees": np.tile(DEGREES, P),
    }
    for block in encoded(choice).blocks:
        points = projected(choice, block, together).points.reshape(P * Q, -1)
        columns |= {f"{block}_{k + 1}": points[:, k] for k in range(points.shape[1])}
    return pd.DataFrame(columns).to_csv(index=False)


def circled(views: Views, picked: list[int]) -> None:
    """The digits that were circled together, in a table with their pictures."""
    if len(picked) < 2:
        return
    with frame.card("Circled together", f"{len(picked)} digits, upright."):
        st.dataframe(
            {
                "picture": [address(views.images[p, 0].numpy(), 2) for p in picked],
                "digit": picked,
                "class": [int(views.labels[p]) for p in picked],
            },
            hide_index=True,
            row_height=64,
            height=320,
            key="latents.circled",
            column_config={"picture": st.column_config.ImageColumn("Picture")},
        )


def pooled(choice: Choice) -> bool:
    wanted = st.session_state["latents.placed_by"] == "all its views"
    return wanted and encoded(choice).pooled is not None
