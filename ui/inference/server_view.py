"""A subject that only the server can draw: a picture and a slider for its place."""

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae.browser.imagined import Imagined
from ui.components import pictures
from ui.components.dial import DialState
from ui.shell import frame


def move(key: str, angle: float) -> None:
    st.session_state[f"{key}.angle"] = round(2 * angle) / 2


def server_view(seen: Imagined, key: str, angle: float, place: DeltaGenerator) -> DialState:
    """Stand in for `dial.dial`, for a model that cannot run in the browser."""
    with place:
        with frame.card(key=f"{key}.still"):
            picture = st.container()
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
            image = seen.images([np.deg2rad(chosen)])[0]
            picture.html(
                f'<img src="{pictures.address(image, 8)}" alt="The picture that the model draws" '
                'style="display:block;width:min(100%,330px);margin:0.6rem auto;border-radius:50%">'
            )
        below = st.container()
    return DialState(angle=chosen, style=None, below=below)
