"""Predictions, style sliders and styles, cached for all sessions: every click reruns a page."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from fgpvae.browser import style_directions
from fgpvae.browser.imagined import Imagined, imagine, remembered
from fgpvae.browser.style_directions import Style
from fgpvae.data.collections import Subject
from fgpvae.errors import UserError
from fgpvae.evaluation import latents
from fgpvae.evaluation.metrics import mse
from fgpvae.orientation import picture_scores
from ui.catalog import Choice
from ui.shell import cache

MOST, HOUR = 128, 3600  # subjects; seconds for uploaded pictures
COUNT = 360  # training subjects to which sliders are fitted
EXAMPLES = 8  # subjects used to find the channels with the largest effect


def imagined(choice: Choice, subject: Subject, views: Sequence[int]) -> Imagined:
    """`imagine`, cached, from these views or those that the model has stored."""
    given = subject.id, subject.row, subject.images, subject.w, sorted(views)
    return _imagined(cache.digest(choice, given), choice, subject, views)


@st.cache_resource(max_entries=MOST, ttl=HOUR, show_spinner=False)
def _imagined(key: bytes, _choice: Choice, _subject: Subject, _views: Sequence[int]) -> Imagined:
    model = _choice.load()
    return imagine(model, _subject, remembered(model, _subject) or _views)


def doubt(seen: Imagined, w: np.ndarray, warned: bool = False) -> np.ndarray | None:
    """`Imagined.doubt` at places [S]; None for a model without a calibration.

    It holds for views of one subject. Where these may not be (`warned`), it is at least the error
    at the views themselves.
    """
    stated = seen.doubt(w) if seen.model.calibration else None
    if stated is None or not warned:
        return stated
    given = seen.images(seen.subject.w[seen.observed])
    return np.maximum(stated, np.sqrt(mse(given, seen.subject.images[seen.observed])))


@st.cache_resource(max_entries=64, show_spinner=False)
def sliders(choice: Choice, label: int | None) -> list[Style] | None:
    """Fit the sliders to training subjects of a class, or of all; None if that is not possible."""
    model, collection = choice.load(), choice.collection
    try:
        views = collection.training_views(label, COUNT)
        own = latents.own_styles(model, views)
        if choice.group == "Digits":
            return style_directions.style_directions(model, views, own)
        every = collection.subjects(True) or collection.subjects(False)
        some = [imagine(model, each, each.first_views) for each in every[:EXAMPLES]]
        codes = np.concatenate([each.scene.at(np.zeros(1)) for each in some if each.scene])
        return style_directions.channels(model, codes, own)
    except UserError:
        return None


@st.cache_resource(max_entries=64, show_spinner=False)
def likely(choice: Choice, label: int | None) -> latents.Styles | None:
    """Return styles of training subjects of a class; None for a model without a separate style."""
    try:
        views = choice.collection.training_views(label, COUNT)
        return latents.styles(latents.own_styles(choice.load(), views))
    except UserError:
        return None


def likely_of(choice: Choice, seen: Imagined) -> latents.Styles | None:
    """Return styles of the class of a subject, or of the class that its style is nearest to."""
    label = seen.subject.label
    if label is None and choice.classes and len(seen.own):
        means = picture_scores.class_styles(choice.load()).loc.numpy()  # [10, G]
        apart = np.linalg.norm(means - seen.own, axis=1)
        label = min(choice.classes, key=lambda each: float(apart[each]))
    return likely(choice, label)
