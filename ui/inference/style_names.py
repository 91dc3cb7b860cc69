"""The style sliders of a model, and the density of real styles."""

import numpy as np
import streamlit as st

from fgpvae.browser import style_directions
from fgpvae.browser.imagined import Imagined, imagine
from fgpvae.browser.style_directions import Style
from fgpvae.errors import UserError
from fgpvae.evaluation import latents
from ui.catalog.models import Choice

COUNT = 360  # training subjects to which sliders are fitted
FEW = 12  # subjects that suffice for the class means
EXAMPLES = 8  # subjects used to find the channels with the largest effect


@st.cache_resource(max_entries=64, show_spinner=False)
def names(choice: Choice, label: int | None = None) -> list[Style] | None:
    """Fit the sliders to training subjects of a class, or of all where it is not known.

    None if that is not possible: the sliders are then numbered.
    """
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
        return latents.styles(choice.load(), views, latents.own_styles(choice.load(), views))
    except UserError:
        return None


def likely_of(choice: Choice, seen: Imagined) -> latents.Styles | None:
    """Return styles of the class that a subject is nearest to."""
    if seen.subject.label is not None or not choice.classes:
        return likely(choice, seen.subject.label)
    means = _means(choice)
    if not means or not len(seen.own):
        return None
    nearest = min(means, key=lambda label: np.linalg.norm(means[label] - seen.own))
    return likely(choice, nearest)


@st.cache_resource(max_entries=24, show_spinner=False)
def _means(choice: Choice) -> dict[int, np.ndarray]:
    """Compute the mean style of each class; empty for a model without a style."""
    model, collection = choice.load(), choice.collection
    try:
        return {
            label: latents.own_styles(model, collection.training_views(label, FEW)).mean(0)
            for label in collection.classes
        }
    except UserError:
        return {}
