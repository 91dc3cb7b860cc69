"""Messages to the user: errors and limits."""

from collections.abc import Callable
from html import escape
from typing import TypeVar

import streamlit as st

from fgpvae.errors import UserError

T = TypeVar("T")


def problem(sentence: str) -> None:
    """Show an error in one sentence."""
    st.html(f'<div class="notice problem" role="alert">{escape(sentence)}</div>')


def note(sentence: str) -> None:
    """Show information that is not an error."""
    st.html(f'<div class="notice" role="note">{escape(sentence)}</div>')


def attempt(action: Callable[[], T]) -> T:
    """Return the result of an action; show its UserError and end the page if it fails."""
    try:
        return action()
    except UserError as error:
        problem(str(error))
        st.stop()
