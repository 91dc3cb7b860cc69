"""Does a picture look like the digits that a model knows?"""

import math
from enum import Enum

import numpy as np
import torch

from fgpvae import class_styles, picture_scores
from fgpvae.models import Model

STEPS = 72  # angles that are tried
DENSITY = 0.1  # weight of a nat of the style's density against one of the error; training digits


class Familiarity(Enum):
    FINE = "fine"
    UNLIKE = "unlike"
    NO_DIGIT = "no digit"


def unfamiliarity(model: Model, image: np.ndarray) -> float:
    """How unlike known digits a picture [H, W] is, at whatever angle suits it best.

    The log squared error of its reconstruction, less a share of the log density of its style among
    those of the training digits of a class. Each is taken at its own best angle.
    """
    w = torch.arange(STEPS, dtype=torch.float64) * (2 * math.pi / STEPS)
    scores = picture_scores.score(model, image, w)
    density = class_styles.of_model(model).log_density(scores.styles)
    return float(2 * scores.error.min().clamp(min=1e-3).log() - DENSITY * density.max())


def familiarity(model: Model, image: np.ndarray) -> Familiarity | None:
    """The verdict on a picture [H, W]; None for a model whose limits were not measured."""
    if model.calibration is None or not model.calibration.familiar:
        return None
    fine, unlike = model.calibration.familiar
    score = unfamiliarity(model, image)
    if score <= fine:
        return Familiarity.FINE
    return Familiarity.UNLIKE if score <= unlike else Familiarity.NO_DIGIT
