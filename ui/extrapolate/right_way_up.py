"""Where more than one angle is possible: the digit put upright by each, to choose from."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from fgpvae.data import rotate
from fgpvae.orientation import Mode
from ui.components import pictures

POSSIBLE = 0.05  # share of the belief that makes an angle possible
QUESTION = "Is this the right way up?"


def candidates(modes: Sequence[Mode]) -> list[Mode]:
    """The angles that are possible."""
    return [mode for mode in modes if mode.share >= POSSIBLE]


def ask(image: np.ndarray, modes: Sequence[Mode]) -> None:
    """Say that several angles are possible, and show the digit as each would have it."""
    possible = candidates(modes)
    if len(possible) < 2:
        return
    count = {2: "Two", 3: "Three"}.get(len(possible), "Several")
    st.markdown(f"{count} angles are possible. **{QUESTION}**")
    upright = rotate(image[None], np.array([-mode.angle for mode in possible]))[0]
    st.html(
        pictures.row(
            *(
                pictures.framed(turned, f"if {round(np.rad2deg(mode.angle)) % 360}°")
                for turned, mode in zip(upright, possible, strict=True)
            ),
            size=56,
        )
    )
