"""What the screens share: cards, formulas, the sixteen views of one digit."""

from typing import Any

import numpy as np
import streamlit as st

from fgpvae import data
from fgpvae.data import ANGLES
from ui.shell import frame
from ui.shell.kept import kept

DEGREES = np.rad2deg(ANGLES)
LABELS = [f"{degrees:g}°" for degrees in DEGREES]
FINE = np.linspace(0, 2 * np.pi, 121)
KEPT: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}


def card(*texts: str, **options: Any) -> Any:
    """A card as tall as those beside it."""
    return frame.card(*texts, height="stretch", **options)


def formula(latex: str, function: str) -> None:
    """A formula of the paper and what implements it."""
    st.latex(latex)
    st.caption(f"`{function}`")


@kept(1)
def a_three() -> np.ndarray:
    """One digit at sixteen angles [16, 28, 28]."""
    return data.rotate(data.embedded((3,)).images[361:362], ANGLES)[0]
