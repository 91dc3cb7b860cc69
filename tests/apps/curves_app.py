"""Curves of a run that gets a new epoch at every press, in a card as on Train."""

import streamlit as st

from ui import charts
from ui.shell import frame
from ui.train import curves

st.html(f"<style>{frame.STYLE}</style>")


@st.fragment
def watched() -> None:
    epochs = st.session_state.setdefault("epochs", 3)
    if st.button("Next epoch"):
        epochs = st.session_state.epochs = epochs + 1
    lines = [
        {"epoch": k, "loss": -10.0 * k, "mse": 1 / k, "kl": k, "multiplier": 5}
        for k in range(1, epochs + 1)
    ]
    records = [curves.Record("one", lines, 20), curves.Record("two", lines[:2], 20)]
    with charts.last():
        charts.show(
            lambda: curves.chart(records),
            "train.curves",
            curves.height(),
            curves.alt(records),
            live="one",
        )


with frame.card("Curves", key="train.detail"):
    watched()
