"""The names of a model's style sliders, found once for each model."""

import streamlit as st

from fgpvae.errors import UserError
from ui import digits, export
from ui.export import Style
from ui.models import Choice


@st.cache_data(max_entries=24, show_spinner=False)
def names(choice: Choice) -> list[Style] | None:
    """What each global channel does, by a look at sixteen digits of the model's first class.

    None where it cannot be told: the sliders are numbered then.
    """
    label = 3 if 3 in choice.classes else choice.classes[0]
    try:
        return export.style_names(choice.load(), digits.upright(label))
    except UserError:
        return None
