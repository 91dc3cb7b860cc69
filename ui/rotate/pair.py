"""The two digits of the page: A is on the dial, B is the one to morph to."""

from dataclasses import replace

import streamlit as st

from fgpvae.data import UNSEEN_PER_CLASS
from ui.catalog import digits
from ui.catalog.digits import Digit
from ui.catalog.models import Choice


def pair(key: str, choice: Choice, a: str | None, b: str | None) -> tuple[Digit, Digit]:
    """A and B as picked, as linked, or to start with; never the same digit twice."""
    second = f"{key}.second"
    _follow_class(key, second, choice)
    digit, other = digits.chosen(key, choice, a), digits.chosen(second, choice, b)
    if other == digit:
        every = UNSEEN_PER_CLASS if digit.new else digits.trained(choice)
        other = replace(digit, number=(digit.number + 1) % every)
        # what only stands in for a digit that this model cannot turn is not remembered
        if digits.suits(digits.picked(second), choice):
            digits.pick(second, other)
    st.session_state[f"{key}.pair"] = digit, other
    return digit, other


def _follow_class(key: str, second: str, choice: Choice) -> None:
    """When the gallery has been set to another class, pick a digit of that class."""
    classes = "-".join(map(str, sorted(choice.classes)))
    label, shown = st.session_state.get(f"{key}.class.{classes}"), f"{key}.class_shown"
    pair = st.session_state.get(f"{key}.pair")  # of the last run
    before = st.session_state.get(shown)
    st.session_state[shown] = label
    if before is None and pair is not None:
        before = pair[0].label  # the gallery starts with the class of A
    if label is None or before in (None, label):
        return
    on_b = st.session_state.get(f"{key}.side") == digits.SECOND
    kind = st.session_state.get(f"{key}.kind")
    new = kind == digits.NEW if kind else pair is None or pair[on_b].new
    wanted = Digit(label, digits.FIRST[label], new)
    wanted = wanted if digits.suits(wanted, choice) else digits.first(choice, label)
    digits.pick(second if on_b else key, wanted)
