"""Models side by side: the paper's table next to ours, the same digits through each, and cost."""

import streamlit as st

from ui import charts, compare
from ui.shell import frame

frame.guard()
frame.heading(
    "Compare", "Every model on the same test images, and the paper's results beside ours."
)
st.html(f"<style>{compare.STYLE}</style>")
chosen = compare.choose()
measured = compare.evaluation.measured()
own = [found for choice in chosen if (found := measured.get(choice)) is not None]
missing = [choice for choice in chosen if choice.own and choice not in measured]
with charts.last():
    table = st.container()
    compare.pictures(chosen)  # sent first: the browser draws what comes first before all the rest
    with table:
        compare.table_card(own)
    compare.one_view()
    compare.context(own, missing)
    compare.objects()
    compare.scaling(own)
