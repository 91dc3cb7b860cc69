"""Links that open the same picture: what a page writes into its address and reads from it."""

from collections.abc import Container, Iterable, Mapping

import streamlit as st

BETWEEN = "_"  # separates the numbers of a list; needs no escape in an address
LARGEST = 1e9


def initial_params(page: str) -> Mapping[str, str]:
    """The address that the page was opened with in this session, however it is written since."""
    name = f"{page}.link"
    if name not in st.session_state:
        st.session_state[name] = st.query_params.to_dict()
    return st.session_state[name]


def write(**values: str | None) -> None:
    """Put values into the address; None takes one out."""
    for name, value in values.items():
        if value is None:
            if name in st.query_params:
                del st.query_params[name]
        elif st.query_params.get(name) != value:
            st.query_params[name] = value


def follow(key: str, options: Container[object], default: object) -> None:
    """Before the widget of this key is drawn: let it have the value that the address has.

    Back and a link change the address; the widget changes it through `keep`. Without a value there,
    the widget has what it had, perhaps on another page, or the default.
    """
    linked, held = st.query_params.get(key), st.session_state.get(key)
    value = next((each for each in (linked, held) if each in options), default)
    st.session_state[key] = value  # also where it has it: another page's widget of this key is gone
    write(**{key: str(value)})


def keep(key: str) -> None:
    """Put what was chosen into the address; the callback of a widget."""
    st.query_params[key] = str(st.session_state[key])


def number(text: str | None, default: float) -> float:
    try:
        value = float(text or "")
    except ValueError:
        return default
    return value if abs(value) < LARGEST else default


def numbers(text: str | None) -> list[float] | None:
    """A list of numbers, or None if there is none or one of them is none or too large."""
    try:
        values = [float(part) for part in (text or "").split(BETWEEN)]
    except ValueError:
        return None
    return values if all(abs(value) < LARGEST for value in values) else None


def text(values: Iterable[float] | None) -> str | None:
    """What `numbers` reads."""
    return None if values is None else BETWEEN.join(f"{value:.5g}" for value in values)
