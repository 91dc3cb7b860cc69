"""Messages to the user: errors and limits."""

from collections.abc import Callable
from html import escape
from typing import TypeVar

import streamlit as st

from fgpvae.errors import UserError

T = TypeVar("T")


def problem(sentence: str) -> None:
    """Show an error in one sentence."""
    st.html(f'<div class="notice problem" role="alert">{escape(sentence)}</div>{STYLE}')


def note(sentence: str) -> None:
    """Show information that is not an error."""
    st.html(f'<div class="notice" role="note">{escape(sentence)}</div>{STYLE}')


def attempt(action: Callable[[], T]) -> T:
    """Return the result of an action; show its UserError and end the page if it fails."""
    try:
        return action()
    except UserError as error:
        problem(str(error))
        st.stop()


STYLE = """<style>
.notice {
  padding: 0.65rem 0.95rem; border-radius: 10px; font-size: 0.95rem; line-height: 1.45;
  border: 1px solid light-dark(#e6e6e0, #262c39); background: light-dark(#fff, #171b24);
}
.notice.problem { border-left: 3px solid #e4572e; }
</style>"""
