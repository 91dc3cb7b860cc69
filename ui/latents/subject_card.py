"""The picked subject and its views, true and reconstructed."""

import streamlit as st

from fgpvae.browser.imagined import imagine, remembered
from fgpvae.evaluation.metrics import mse
from ui.catalog import Choice
from ui.inference import strip
from ui.inference.places import labels
from ui.latents.codes import Codes, including
from ui.latents.spaces import PICKED
from ui.shell import frame, query_params

SHARES = {"one": 1, "four": 4, "all": None}


def controls(choice: Choice) -> tuple[Codes, int, int, list[int]]:
    """Choose a subject, a view and the number of given views; return codes, row, view, views."""
    collection = choice.collection
    words, name = collection.words, f"{PICKED}.{collection.name}"
    before, linked = st.session_state.get(name), st.query_params.get("subject")
    wanted = linked if linked and (before is None or query_params.went_back()) else before
    found = including(choice, wanted)
    ids = [each.id for each in found.subjects]
    if before is None or before != wanted or before not in ids:
        st.session_state[name] = wanted if wanted in ids else ids[0]
    which, where, given = st.columns(3, gap="medium")
    id = which.selectbox(
        words.one.capitalize(),
        ids,
        key=name,
        format_func=lambda id: f"{found.subjects[ids.index(id)].name}, {id}",
    )
    row = ids.index(id)
    subject = found.subjects[row]
    places = labels(collection.track, subject.w)
    view = where.select_slider(
        words.place.capitalize(),
        range(len(places)),
        key=f"latents.view.{collection.name}.{len(places)}",
        format_func=places.__getitem__,
        persist_state="session",
    )
    with given:
        label = f"{words.views.capitalize()} given"
        many = query_params.segments(label, tuple(SHARES), "latents.given", default="all")
    query_params.write(subject=id)
    return found, row, view, subject.order[: SHARES[many]]


def show(choice: Choice, found: Codes, row: int, view: int, given: list[int]) -> None:
    """The subject at its views, true and reconstructed, with errors."""
    collection, model, subject = choice.collection, choice.load(), found.subjects[row]
    truth, place = subject.images, labels(collection.track, subject.w)[view]
    seen = imagine(model, subject, remembered(model, subject) or given)
    made = seen.images(subject.w)
    st.html(strip.redrawn(seen, collection, view))
    errors = {f"MSE at {place}": mse(made[view], truth[view])}
    errors[f"MSE of all {len(truth)}"] = mse(made, truth)
    for name, images in collection.references(subject, seen.observed, subject.w).items():
        errors[f"{name}, all"] = mse(images, truth)
    frame.numbers([(f"{error:.4f}", name) for name, error in errors.items()])
