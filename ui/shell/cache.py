"""Elements that are written once for all sessions, and keys of a cache for any arguments."""

import pickle
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import streamlit as st


@st.cache_resource(max_entries=192, show_spinner=False)
def elements(key: bytes, _show: Callable[[], Any]) -> None:
    """Show what `_show` writes; Streamlit replays it to everybody else who asks for the same key.

    For what takes long to write, such as tables, charts and HTML with many pictures. Not for
    widgets and components.
    """
    _show()


def digest(*args: Any, **kwargs: Any) -> bytes:
    """Return a key that is equal only for equal arguments, their SHA-256."""
    return sha256(pickle.dumps((args, kwargs))).digest()
