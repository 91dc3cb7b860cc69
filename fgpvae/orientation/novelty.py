"""Whether a picture looks like the digits that a model was trained on."""

import math
from enum import Enum

import numpy as np
import torch

from fgpvae.models import Model
from fgpvae.orientation import one_view, picture_scores
from fgpvae.orientation.picture_scores import PictureScores

GOOD = 1.5  # root mean squared error; most digits are reconstructed with less


class Novelty(Enum):
    FINE = "fine"
    UNLIKE = "unlike"
    NO_DIGIT = "no digit"


def features(model: Model, image: np.ndarray, scores: PictureScores | None = None) -> np.ndarray:
    """Compute four numbers that separate digits [H, W] from other pictures.

    The log squared error of its reconstruction and the log density of its style among those of a
    class, each at its best angle; by how much the density at the best angle is above that at a
    usual one; the log length of its outline. `scores` are those at the angles of the grid.
    """
    if scores is None:
        scores = picture_scores.score(model, image, torch.as_tensor(one_view.grid()))
    density = scores.density.amax(-1)  # [GRID]
    down, across = np.gradient(np.asarray(image, np.float64))
    return np.array(
        [
            2 * float(scores.error.min().clamp(min=1e-3).log()),
            float(density.max()),
            float(density.max() - density.median()),
            math.log(max(1.0, np.abs(down).sum() + np.abs(across).sum())),
        ]
    )


def verdict(
    model: Model, image: np.ndarray, scores: PictureScores | None = None, angle: float | None = None
) -> Novelty | None:
    """Classify a picture [H, W]; None for a model whose limits were not measured.

    Also None for an unusual picture that the model reconstructs well at its `angle` (radians).
    """
    known = model.calibration
    if known is None or not known.familiar or not known.unfamiliarity:
        return None
    fine, unlike = known.familiar
    score = float(features(model, image, scores) @ known.unfamiliarity)
    if score <= fine:
        return Novelty.FINE
    if scores is not None and angle is not None:
        at = round(angle / (2 * math.pi) * len(scores.angles)) % len(scores.angles)
        if float(scores.error[at]) <= GOOD:
            return None
    return Novelty.UNLIKE if score <= unlike else Novelty.NO_DIGIT
