"""Query parameters of pages, from which a link restores what is shown."""

from collections.abc import Container, Iterable, Mapping
from typing import Any, TypeVar

import streamlit as st

T = TypeVar("T")
BETWEEN = "_"  # separates the numbers of a list; needs no escape in an address
LARGEST = 1e9
# Names without a dot mean the same on every page; one with a dot is the key of a widget.
PARAMETERS = {
    "back": "when Back or Forward was pressed; taken out at once",
    "model": "the model, by its name",
    "subject": "the subject by its id: new-3-2 a new digit, 3-2 one of training, x3y2 a figure",
    "other": "the subject B to morph to, named in the same way",
    "angle": "where the dial is: degrees, or percent of the way on a line",
    "views": "indices of the views that the model sees",
    "style": "one number a global channel; absent is the own style of the subject",
    "shown": "degrees by which the example is turned",
    "stated": "the angle in degrees that the user states for a picture",
    "digit": "the class that the user states for a picture",
    "strokes": "a drawing, three letters for each point",
    "path": "the path of a film, as strokes",
    "look": "the digit that moves in a film, or `own`",
    "seed": "which random digit",
    "run": "the run in detail",
    "screen": "number of the screen of How it works",
    "points": "points clicked into the Gaussian process",
    "kernel": "its amplitude, length scale and noise",
}


# options of widgets whose state is in the link and persists across pages
KEEP: dict[str, Any] = {"bind": "query-params", "persist_state": "session"}


def segments(label: str, options: Iterable[T], key: str, *, linked: bool = True, **more: Any) -> T:
    """A segmented control in which one segment, by default the first, is always chosen.

    A mapping has the titles of its options. `linked`: the choice is in the link and persists.
    """
    if isinstance(options, Mapping):
        more["format_func"] = options.__getitem__
    every = list(options)
    more = {"default": every[0], "required": True, "key": key, **(KEEP if linked else {}), **more}
    return st.segmented_control(label, every, **more)


def initial_params(page: str) -> Mapping[str, str]:
    """Return the parameters with which the page was opened, empty for a part opened later.

    `page` has the form page.part. Back and Forward reopen it and clear its session state.
    """
    name, start = f"{page}.link", page.partition(".")[0]
    keys = [str(key) for key in st.session_state if str(key).startswith(f"{start}.")]
    if went_back():
        for key in keys:
            if key.startswith(f"{page}."):
                del st.session_state[key]
    if name not in st.session_state:
        # angle and views of another subject mean nothing here
        later = not went_back() and any(key.endswith(".link") for key in keys)
        st.session_state[name] = {} if later else st.query_params.to_dict()
    return st.session_state[name]


def note_back() -> None:
    """Remove `back` from the address, where history.js puts it. Call this before a page runs."""
    back, before = st.query_params.get("back"), st.session_state.get("shell.back")
    opened = st.session_state.pop("shell.opened", False)
    st.session_state["shell.went_back"] = opened or back not in (None, before)
    st.session_state["shell.back"] = back or before
    write(back=None)


def open_link(values: Mapping[str, str | None]) -> None:
    """Open the same page with these parameters. For callbacks."""
    st.query_params.from_dict({name: value for name, value in values.items() if value is not None})
    st.session_state["shell.opened"] = True


def went_back() -> bool:
    """Whether Back, Forward or `open_link` led to this run of the page."""
    return st.session_state.get("shell.went_back", False)


def write(**values: str | None) -> None:
    """Write values into the address; None removes one."""
    for name, value in values.items():
        assert name in PARAMETERS or "." in name, name
        if value is None:
            if name in st.query_params:
                del st.query_params[name]
        elif st.query_params.get(name) != value:
            st.query_params[name] = value


def follow(key: str, options: Container[object], default: object) -> dict[str, Any]:
    """Key and callback of a widget that has the value of the address, and writes its own there.

    Without a value there, it keeps its state, perhaps from another page, or has the default.
    """
    linked, held = st.query_params.get(key), st.session_state.get(key)
    value = next((each for each in (linked, held) if each in options), default)
    st.session_state[key] = value  # also where it has it: another page's widget of this key is gone
    write(**{key: str(value)})

    def changed() -> None:
        if key in st.session_state:  # a run that was cut short may have removed the widget
            write(**{key: str(st.session_state[key])})

    return {"key": key, "on_change": changed, "persist_state": "session"}


def number(text: str | None, default: float) -> float:
    found = numbers(text)
    return found[0] if found else default


def numbers(text: str | None) -> list[float] | None:
    """Parse a list of numbers; None if it is absent or invalid."""
    try:
        values = [float(part) for part in (text or "").split(BETWEEN)]
    except ValueError:
        return None
    return values if all(abs(value) < LARGEST for value in values) else None


def text(values: Iterable[float] | None) -> str | None:
    """Format numbers for `numbers`."""
    return None if values is None else BETWEEN.join(f"{value:.5g}" for value in values)
