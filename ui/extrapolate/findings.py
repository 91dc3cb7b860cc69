"""What a model finds in a picture, once for all: a page runs again with every click."""

import weakref
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from fgpvae import familiarity, orientation
from fgpvae.data import ANGLES
from fgpvae.digit_view import turn, uncertainty
from fgpvae.models import Model
from ui.extrapolate import user_views
from ui.extrapolate.user_views import Ring
from ui.shell.kept import content, kept

MOST = 256  # pictures, a few kilobytes each
AROUND = ANGLES[::2]  # angles at which the doubt about a pixel is averaged


def _by_model(model: Model, *rest: Any) -> Hashable:
    """The model itself is not kept: it may be of a run that is gone."""
    return weakref.ref(model), content(*rest)


@kept(MOST, by=_by_model)
def belief(model: Model, image: np.ndarray, label: int | None) -> np.ndarray | None:
    return orientation.belief(model, image, label)


@kept(MOST, by=_by_model)
def familiar(model: Model, image: np.ndarray) -> familiarity.Familiarity | None:
    return familiarity.familiarity(model, image)


@kept(MOST, by=_by_model)
def doubt_left(model: Model, ring: Ring, order: Sequence[int]) -> np.ndarray | None:
    """The share of the prior variance that is left with the first 1, 2, ... views."""
    return uncertainty(model, ring.views, ring.angles, order)


@kept(MOST, by=_by_model)
def pixel_sd(model: Model, ring: Ring, indices: Sequence[int]) -> float:
    """How well a pixel is known from some of the views, on average over the circle."""
    shown = turn(model, ring.views, ring.angles, user_views.mask(ring, indices))
    found = shown.pixel_sds(AROUND)
    return 0.0 if found is None else float(found.mean())
