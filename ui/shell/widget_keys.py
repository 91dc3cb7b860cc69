"""Widgets that show what is changed elsewhere, too, such as by a click on the ring."""

from collections.abc import Callable
from typing import Any

import streamlit as st


def showing(name: str, value: object, changed: Callable[[Any], None]) -> dict[str, Any]:
    """Key and callback of the widget `name`, which shows `value`; `changed` gets the person's.

    Every message of the browser carries the values of all widgets. One that it sent before it heard
    of a change elsewhere has the old value, as if the person had gone back to it. So the widget has
    another key after such a change, and what is said of the old one is not listened to. The
    person's own change keeps the key, and with it the focus.
    """
    counter = f"{name}.key"
    number: int = st.session_state.get(counter, 0)
    key = _key(name, number)
    if st.session_state.get(key) != value:
        number += key in st.session_state
        key = _key(name, number)
        st.session_state[counter], st.session_state[key] = number, value

    def on_change() -> None:
        # a run that was cut short may have removed the widget whose message is still to come
        if st.session_state.get(counter, 0) == number and key in st.session_state:
            changed(st.session_state[key])

    return {"key": key, "on_change": on_change}


def _key(name: str, number: int) -> str:
    return f"{name}.{number}" if number else name
