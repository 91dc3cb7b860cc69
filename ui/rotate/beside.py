"""A second model in the same ring, turned together with the first."""

import streamlit as st

from fgpvae.data.collections import Subject
from ui.catalog import Choice, models
from ui.components.dial import Beside
from ui.inference import cached, captions
from ui.shell import notices, query_params


def pick(choice: Choice, subject: Subject) -> Choice | None:
    """Show a box to choose the second model, in the link as ?rotate.beside=name."""
    offered: dict[str, Choice] = {}
    for each in models.available(choice.group):
        if each.name == choice.name or each.config.data.own or not each.kind.knows_angles:
            continue
        if each.collection.name == choice.collection.name:
            found = each.collection.find(subject.id)
            if each.kind.takes_new_digits or (found is not None and found.row >= 0):
                offered[each.name] = each
    if not offered:
        return None
    name = st.selectbox(
        "Beside",
        ["none", *offered],
        key="rotate.beside",
        help="A second model in the same ring; both turn together. The sliders belong to the "
        "first model. The second follows where both have the same slider, such as slant "
        "or width.",
        **query_params.KEEP,
    )
    return offered.get(name)


def scene(second: Choice | None, subject: Subject, given: list[int]) -> Beside | None:
    """Compute the second model's scene; show a sentence if the browser cannot draw it."""
    if second is None:
        return None
    notices.attempt(second.load)
    seen = cached.imagined(second, second.collection.find(subject.id) or subject, given)
    if seen.scene is None:
        notices.note(f"{second.name} cannot be drawn in the browser.")
        return None
    if subject.label is not None and second.classes and subject.label not in second.classes:
        notices.note(captions.classes_met(second.classes, second.name))
    styles = cached.sliders(second, subject.label) if len(seen.own) else None
    return Beside(second.name, seen.scene, styles or ())
