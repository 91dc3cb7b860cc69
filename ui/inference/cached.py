"""Predictions, style sliders and styles, cached for all sessions: every click reruns a page."""

from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
import streamlit as st

from fgpvae.browser import style_directions
from fgpvae.browser.imagined import Imagined, imagine, remembered
from fgpvae.browser.style_directions import Style
from fgpvae.data.collections import Subject
from fgpvae.data.track import Track
from fgpvae.errors import UserError
from fgpvae.evaluation import latents
from fgpvae.evaluation.metrics import mse
from fgpvae.orientation import picture_scores
from ui.catalog import Choice
from ui.shell import cache

T = TypeVar("T")
PLACES = 32, 47  # at which the doubt is measured on a circle and on a line: at and between views
MOST, HOUR = 128, 3600  # subjects; seconds for uploaded pictures
COUNT = 240  # training subjects to which sliders are fitted
EXAMPLES = 8  # subjects used to find the channels with the largest effect


def imagined(choice: Choice, subject: Subject, views: Sequence[int]) -> Imagined:
    """`imagine`, cached, from these views or those that the model has stored."""
    given = subject.id, subject.row, subject.images, subject.w, sorted(views)
    return _imagined(cache.digest(choice, given), choice, subject, views)


@st.cache_resource(max_entries=MOST, ttl=HOUR, show_spinner=False)
def _imagined(key: bytes, _choice: Choice, _subject: Subject, _views: Sequence[int]) -> Imagined:
    model = _choice.load()
    return imagine(model, _subject, remembered(model, _subject) or _views)


_made: WeakKeyDictionary[Imagined, dict[Hashable, Any]] = WeakKeyDictionary()


def once(seen: Imagined, name: Hashable, make: Callable[[], T]) -> T:
    """Return what `make` returns, made once for each prediction and dropped with it."""
    made = _made.setdefault(seen, {})
    if name not in made:
        made[name] = make()
    return made[name]


def doubt(seen: Imagined, track: Track, warned: bool = False) -> np.ndarray | None:
    """`Imagined.doubt` at even places along the track; None for a model without a calibration.

    It holds for views of one subject. Where these may not be (`warned`), it is at least the error
    at the views themselves.
    """
    w = track.grid(PLACES[not track.period])
    stated = seen.doubt(w) if seen.model.calibration else None
    if stated is None or not warned:
        return stated
    given = seen.images(seen.subject.w[seen.observed])
    return np.maximum(stated, np.sqrt(mse(given, seen.subject.images[seen.observed])))


def sliders(choice: Choice, label: int | None) -> list[Style] | None:
    """Sliders fitted to training subjects of a class, or of all; None if that is not possible."""
    return _fitted(choice, label)[0]


def likely(choice: Choice, label: int | None) -> latents.Styles | None:
    """Styles of training subjects of a class; None for a model without a separate style."""
    return _fitted(choice, label)[1]


@st.cache_resource(max_entries=64, show_spinner=False)
def _fitted(choice: Choice, label: int | None) -> tuple[list[Style] | None, latents.Styles | None]:
    model, collection = choice.load(), choice.collection
    try:
        views = collection.training_views(label, COUNT)
        own = latents.own_styles(model, views)
    except UserError:
        return None, None
    with suppress(UserError):
        if choice.group == "Digits":
            return style_directions.style_directions(model, views, own), latents.styles(own)
        every = collection.subjects(True) or collection.subjects(False)
        some = [imagine(model, each, each.first_views) for each in every[:EXAMPLES]]
        codes = np.concatenate([each.scene.at(np.zeros(1)) for each in some if each.scene])
        return style_directions.channels(model, codes, own), latents.styles(own)
    return None, latents.styles(own)


def likely_of(choice: Choice, seen: Imagined) -> latents.Styles | None:
    """Return styles of the class of a subject, or of the class that its style is nearest to."""
    label = seen.subject.label
    if label is None and choice.classes and len(seen.own):
        means = picture_scores.class_styles(choice.load()).loc.numpy()  # [10, G]
        apart = np.linalg.norm(means - seen.own, axis=1)
        label = min(choice.classes, key=lambda each: float(apart[each]))
    return likely(choice, label)
