"""Widgets whose value also changes elsewhere, e.g. by a click on the ring."""

from collections.abc import Callable
from typing import Any

import streamlit as st


def showing(name: str, value: object, changed: Callable[[Any], None]) -> dict[str, Any]:
    """Key and callback of the widget `name`, which shows `value`; `changed` gets the user's value.

    Every message of the browser has the values of all widgets. A message sent before the browser
    knew of a change elsewhere has the old value, as if the user had restored it. So the widget gets
    another key after such a change, and values of the old key are ignored. The user's own change
    keeps the key, and so the focus.
    """
    counter = f"{name}.key"
    number: int = st.session_state.get(counter, 0)
    key = f"{name}.{number}" if number else name
    if st.session_state.get(key) != value:
        number += key in st.session_state
        key = f"{name}.{number}" if number else name
        st.session_state[counter], st.session_state[key] = number, value

    def on_change() -> None:
        # an interrupted run may have removed the widget before its message arrives
        if st.session_state.get(counter, 0) == number and key in st.session_state:
            changed(st.session_state[key])

    return {"key": key, "on_change": on_change}
