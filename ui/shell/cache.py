"""Cached elements for all sessions, and cache keys for any arguments."""

import pickle
from collections.abc import Callable
from hashlib import sha256
from typing import Any

import streamlit as st

from ui.shell.public import allowed

MOST = 192 if allowed().training else 48  # an open server may have little memory


@st.cache_resource(max_entries=MOST, show_spinner=False)
def elements(key: bytes, _show: Callable[[], Any]) -> None:
    """Show what `_show` writes; Streamlit replays it for later calls with the same key.

    For slow elements such as tables, charts and HTML with many pictures, not for widgets and
    components.
    """
    _show()


def digest(*args: Any, **kwargs: Any) -> bytes:
    """Return a key that is equal only for equal arguments, their SHA-256."""
    return sha256(pickle.dumps((args, kwargs))).digest()
