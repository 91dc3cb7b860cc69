"""Digits or objects: which of the two a page is about, by the model that it shows."""

import streamlit as st

from ui.catalog import models
from ui.catalog.models import Choice
from ui.shell import query_params, widget_keys

DIGITS, OBJECTS = "Digits", "Objects"
HELP = (
    "A rotation turns the picture of a digit. It cannot turn an object in space, because one "
    "view does not show all of it."
)


def of(choice: Choice) -> str:
    return OBJECTS if choice.objects or choice.figures else DIGITS


def switch(key: str, own_objects: bool = False) -> str:
    """Which of both a page shows; a click leads to the model of the other that was last there."""
    offered = models.available(objects=own_objects, figures=True)
    kinds = {choice.name: of(choice) for choice in offered}
    now = st.query_params.get("model") or st.session_state.get("model")
    here = kinds.get(str(now), DIGITS)
    kept: dict[str, str] = st.session_state.setdefault(f"{key}.last", {})
    if now in kinds:
        kept[here] = str(now)

    def lead(wanted: str) -> None:
        names = [each for each, kind in kinds.items() if kind == wanted]
        if names:
            model = kept.get(wanted)
            query_params.write(model=model if model in names else names[0])

    if OBJECTS in kinds.values():
        st.segmented_control(
            "Digits or objects",
            [DIGITS, OBJECTS],
            required=True,
            help=HELP,
            label_visibility="collapsed",
            **widget_keys.showing(f"{key}.things", here, lead),
        )
    return here
