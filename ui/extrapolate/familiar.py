"""Does the picture look like a digit? One sentence."""

import numpy as np
import streamlit as st

from fgpvae.familiarity import Familiarity
from fgpvae.models import Model
from ui.extrapolate import findings
from ui.shell import notices

FINE = "This looks like the digits the model knows."
UNLIKE = "This looks unlike the digits I know: expect errors."
NO_DIGIT = "This does not look like a digit. The result is shown anyway."


def show(model: Model, image: np.ndarray) -> None:
    """Say how familiar a picture [H, W] is, where the model can tell."""
    verdict = findings.familiar(model, image)
    if verdict is Familiarity.FINE:
        st.caption(FINE)
    elif verdict is not None:
        notices.note(UNLIKE if verdict is Familiarity.UNLIKE else NO_DIGIT)
