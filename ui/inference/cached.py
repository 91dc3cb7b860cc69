"""Predictions cached for all sessions, because a page runs again with every click."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from fgpvae.browser.imagined import Imagined, imagine
from fgpvae.data.collections import Subject
from fgpvae.evaluation.metrics import mse
from ui.catalog import Choice
from ui.shell import cache

MOST, HOUR = 128, 3600  # subjects; seconds for uploaded pictures


def imagined(choice: Choice, subject: Subject, views: Sequence[int]) -> Imagined:
    """`imagine`, with cached scene and posterior."""
    given = subject.id, subject.row, subject.images, subject.w, sorted(views)
    return _imagined(cache.digest(choice, given), choice, subject, views)


@st.cache_resource(max_entries=MOST, ttl=HOUR, show_spinner=False)
def _imagined(key: bytes, _choice: Choice, _subject: Subject, _views: Sequence[int]) -> Imagined:
    return imagine(_choice.load(), _subject, _views)


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
