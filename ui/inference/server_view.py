"""The view of a digit that only the server can draw: a picture and a slider for its angle."""

from collections.abc import Sequence

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae.digit_view import DigitView
from ui.components import pictures
from ui.components.dial import DialState
from ui.shell import frame


def move(key: str, angle: float) -> None:
    """Turn the picture from the page, in degrees."""
    st.session_state[f"{key}.angle"] = round(2 * angle) / 2


def server_view(
    turning: DigitView,
    key: str,
    angle: float = 0.0,
    places: Sequence[DeltaGenerator] | None = None,
) -> DialState:
    """What `dial.dial` gives, for a model that cannot be run in the browser."""
    left, right = places or st.columns([1.1, 1], gap="medium")
    with left:
        with frame.card(key=f"{key}.still"):
            place = st.container()
            chosen = st.slider(
                "Angle",
                0.0,
                359.5,
                min(round(2 * angle) / 2 % 360, 359.5),
                0.5,
                format="%.1f°",
                key=f"{key}.angle",
                persist_state="session",
            )
            image = turning.images(np.array([np.deg2rad(chosen)]))[0]
            place.html(
                f'<img src="{pictures.address(image, 8)}" alt="The digit as the model draws it" '
                'style="display:block;width:min(100%,330px);margin:0.6rem auto;border-radius:50%">'
            )
        below = st.container()
    return DialState(
        angle=chosen,
        style=None,
        context=np.flatnonzero(turning.observed).tolist(),
        aside=right.container(),
        below=below,
    )
