"""Models side by side: the paper's table next to ours, the same digits through each, and cost."""

import streamlit as st

from ui import compare
from ui.shell import frame

frame.guard()
frame.heading(
    "Compare", "The same test images through every model, the paper's table next to ours."
)
st.html(f"<style>{compare.STYLE}</style>")
chosen = compare.choose()
own = [
    found for choice in chosen if (found := compare.evaluation.measured().get(choice)) is not None
]
compare.table_card(own)
compare.pictures(chosen)
compare.context(own)
compare.scaling(own)
