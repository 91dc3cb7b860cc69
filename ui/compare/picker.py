"""The models of the page, and the button that tests those that have not been."""

import time

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae import UserError
from ui.catalog import Choice, models
from ui.compare import evaluation
from ui.compare.files import KEEP
from ui.shell import frame


def choose() -> list[Choice]:
    """The models of this page, and the button that tests those that have not been."""
    every = {choice.name: choice for choice in models.available()}
    if not every:
        return []
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    names = left.multiselect(
        "Models",
        list(every),
        default=models.baselines(),
        key="models",
        placeholder="Choose models",
        help="Models that come with the app, then your own runs, newest first.",
        **KEEP,
    )
    chosen = [every[name] for name in names]
    missing = [choice for choice in chosen if choice not in evaluation.measured()]
    place = right.empty()
    pressed = place.button(
        "Evaluate",
        disabled=not missing,
        width="stretch",
        help="Test the chosen models by the benchmark; their figures then stand beside ours.",
    )
    if pressed:
        evaluate(missing, place)
        st.rerun()
    return chosen


def evaluate(missing: list[Choice], place: DeltaGenerator) -> None:
    """Test models one after the other, with a bar that says how long it will take."""
    bar, began = place.progress(0.0, "Testing"), time.monotonic()
    for done, choice in enumerate(missing):

        def progress(share: float, done: int = done, name: str = choice.name) -> None:
            whole = (done + share) / len(missing)
            left = (time.monotonic() - began) * (1 - whole) / whole
            bar.progress(whole, frame.plain(f"{name}: {left:.0f} s left"))

        try:
            evaluation.measure(choice, progress)
        except UserError as error:
            st.error(frame.plain(f"{choice.name} could not be tested: {error}"))
            st.stop()
