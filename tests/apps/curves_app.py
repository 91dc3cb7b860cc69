"""Curves of a run that gets a new epoch at every press, in a card as on Train."""

from functools import partial

import streamlit as st

from ui import charts
from ui.components import shared
from ui.shell import frame, index
from ui.train import curves


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
    charts.show(
        partial(curves.chart, records),
        "train.curves",
        curves.HEIGHT,
        curves.alt(records),
        live="one",
    )


if __name__ == "__main__":
    st.html(f"<style>{index.STYLE}</style>")
    with frame.card("Curves", key="train.detail"):
        watched()
else:
    app = st.App(__file__, routes=shared.routes())
