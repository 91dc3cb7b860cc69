"""What the screens share: cards, formulas and sixteen views of one digit."""

from typing import Any

import numpy as np
import streamlit as st

from fgpvae import data
from fgpvae.data import ANGLES
from ui.shell import frame

LABELS = [f"{degrees:g}°" for degrees in np.rad2deg(ANGLES)]


def card(*texts: str, **options: Any) -> Any:
    """A card as tall as those beside it."""
    return frame.card(*texts, height="stretch", **options)


def formula(latex: str, function: str) -> None:
    """A formula of the paper and what implements it."""
    st.latex(latex)
    st.caption(f"`{function}`")


def formulas(*cards: tuple[str, ...]) -> None:
    """Cards side by side: title, sentence, formula, its implementation, and perhaps a note."""
    columns = st.columns(len(cards), gap="medium")
    for column, (title, sentence, latex, function, *notes) in zip(columns, cards, strict=True):
        with column, card(title, sentence):
            formula(latex, function)
            for note in notes:
                st.caption(note)


@st.cache_resource(max_entries=1, show_spinner=False)
def a_three() -> np.ndarray:
    """One digit at sixteen angles [16, 28, 28]."""
    return data.rotate(data.embedded((3,)).images[361:362], ANGLES)[0]
