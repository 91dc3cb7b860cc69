"""What a model's style sliders are called, and which styles are those of real things."""

from collections.abc import Sequence

import numpy as np
import streamlit as st

from fgpvae import latents, scenes, style_directions
from fgpvae.data import ANGLES, Views
from fgpvae.errors import UserError
from fgpvae.style_directions import Style
from ui.catalog.models import Choice
from ui.shell.kept import kept

DIGITS = 360  # of a class that its styles are learnt from
FEW = 12  # that are enough to tell classes apart
VIEWS = ANGLES[::4]  # of each
EXAMPLES = 8  # things whose pictures say which channels change most


@kept(64)
def names(choice: Choice, label: int | None = None) -> list[Style] | None:
    """The sliders, fitted to training digits of a class, or of all where it is not known.

    None where it cannot be told: the sliders are numbered then.
    """
    classes = choice.classes if label not in choice.classes else (label,)
    try:
        views, own = _own(choice, classes)
        return style_directions.style_directions(choice.load(), views, own)
    except UserError:
        return None


@kept(64)
def likely(choice: Choice, label: int) -> latents.Styles | None:
    """The styles of the training digits of a class; None for a model that keeps none apart."""
    if label not in choice.classes:
        return None
    try:
        views, own = _own(choice, (label,))
        return latents.styles(choice.load(), views, own)
    except UserError:
        return None


@kept(4)  # asked for twice, by the two above
def _own(choice: Choice, classes: tuple[int, ...]) -> tuple[Views, np.ndarray]:
    """Training digits of some classes and their styles."""
    views = latents.digits(classes, new=False, count=DIGITS, angles=VIEWS)
    return views, latents.own_styles(choice.load(), views)


def likely_of(choice: Choice, own: Sequence[float]) -> latents.Styles | None:
    """The styles of the class that a digit is nearest to."""
    means = _means(choice)
    if not means:
        return None
    return likely(choice, min(means, key=lambda label: np.linalg.norm(means[label] - own)))


@kept(24)
def _means(choice: Choice) -> dict[int, np.ndarray]:
    """The mean style of each class, from a few digits; nothing for a model that keeps none."""
    classes = choice.classes
    try:
        views = latents.digits(classes, new=False, count=FEW * len(classes), angles=VIEWS)
        rows = {label: views[views.labels == label] for label in classes}
        return {label: latents.styles(choice.load(), few).mean for label, few in rows.items()}
    except UserError:
        return {}


@st.cache_data(max_entries=24, show_spinner=False)
def among(choice: Choice, _views: Views) -> tuple[list[Style], latents.Styles | None]:
    """The sliders and the likely styles of a model of other things than digits, from training ones.

    The channels that change the picture most come first. Without styles: none, and None.
    """
    model = choice.load()
    try:
        own, likely = latents.own_styles(model, _views), latents.styles(model, _views)
    except UserError:
        return [], None
    made = [
        scenes.scene(
            model, each.images[0].numpy(), each.angles[0].numpy(), each.observed[0].numpy()
        )
        for each in (_views[[row]] for row in latents.evenly(_views, EXAMPLES))
    ]
    codes = np.concatenate([scene.at(np.zeros(1)) for scene in made])
    return style_directions.channels(model, codes, own), likely
