"""Does a picture look like the digits that a model knows?"""

import math
from enum import Enum

import numpy as np
import torch

from fgpvae import picture_scores
from fgpvae.models import Model

STEPS = 72  # angles that are tried


class Familiarity(Enum):
    FINE = "fine"
    UNLIKE = "unlike"
    NO_DIGIT = "no digit"


def features(model: Model, image: np.ndarray) -> np.ndarray:
    """Four numbers that tell a digit [H, W] from other things.

    The log squared error of its reconstruction and the log density of its style among those of a
    class, each at its best angle; by how much the density at the best angle is above that at a
    usual one; the log length of its outline.
    """
    w = torch.arange(STEPS, dtype=torch.float64) * (2 * math.pi / STEPS)
    scores = picture_scores.score(model, image, w)
    density = scores.density.amax(-1)  # [STEPS]
    down, across = np.gradient(np.asarray(image, np.float64))
    return np.array(
        [
            2 * float(scores.error.min().clamp(min=1e-3).log()),
            float(density.max()),
            float(density.max() - density.median()),
            math.log(max(1.0, np.abs(down).sum() + np.abs(across).sum())),
        ]
    )


def familiarity(model: Model, image: np.ndarray) -> Familiarity | None:
    """The verdict on a picture [H, W]; None for a model whose limits were not measured."""
    known = model.calibration
    if known is None or not known.familiar or not known.unfamiliarity:
        return None
    fine, unlike = known.familiar
    score = float(features(model, image) @ known.unfamiliarity)
    if score <= fine:
        return Familiarity.FINE
    return Familiarity.UNLIKE if score <= unlike else Familiarity.NO_DIGIT
