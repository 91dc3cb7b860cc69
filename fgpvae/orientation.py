"""The angle of a picture, as far as a model can tell it."""

from dataclasses import dataclass

import numpy as np
import torch

from fgpvae import picture_scores
from fgpvae.metrics import circular_error
from fgpvae.models import Model
from fgpvae.picture_scores import PictureScores
from fgpvae.recogniser import centred

GRID = 180  # angles that are scored
APART = np.deg2rad(25)  # two modes are at least this far apart
LEAST = 0.02  # share of the belief that makes a mode worth offering


@dataclass(frozen=True)
class Mode:
    angle: float  # radians
    share: float  # of the belief that lies around it


def belief(model: Model, image: np.ndarray, label: int | None = None) -> np.ndarray | None:
    """Posterior [GRID] over the angle of an image [H, W]; None if the model cannot tell.

    `label` says which digit it is, where that is known.
    """
    if not model.tells_angle:
        return None
    w = torch.as_tensor(grid())
    if not model.separates_style:
        return model.orientation(centred(torch.as_tensor(image))[None], w)[0].numpy()
    return of_scores(model, picture_scores.score(model, image, w), label)


def of_scores(model: Model, scores: PictureScores, label: int | None = None) -> np.ndarray:
    """Posterior [G] over the angle of a picture from its scores.

    Where it is known which digit it is, p(w | y, digit) ∝ p(w | y) p(digit | style at w).
    """
    known = model.calibration
    weights = (0.0, 0.0, 1.0) if known is None or not known.picture else known.picture
    log_belief = scores.stacked() @ torch.tensor(weights, dtype=torch.float64)
    if label is not None:
        log_belief = log_belief + scores.density.log_softmax(-1)[:, label]
    return log_belief.softmax(-1).numpy()


def grid() -> np.ndarray:
    return np.arange(GRID) * (2 * np.pi / GRID)


def modes(found: np.ndarray, most: int = 4) -> list[Mode]:
    """The peaks of a belief [G] on an even grid over the circle, the likeliest first.

    Each angle counts for the nearest peak. With one clear peak the opposite angle is offered too:
    upside down is the usual mistake.
    """
    angles = np.arange(len(found)) * (2 * np.pi / len(found))
    higher = (found >= np.roll(found, 1)) & (found > np.roll(found, -1))
    peaks: list[float] = []
    for index in sorted(np.flatnonzero(higher), key=lambda i: -found[i]):
        if all(circular_error(angles[index], peak) >= APART for peak in peaks):
            peaks.append(float(angles[index]))
    if not peaks:
        return []
    peaks = peaks[: 2 * most]
    distance = circular_error(angles[:, None], np.array(peaks))  # [G, peaks]
    owner = distance.argmin(1)
    listed = [Mode(peak, float(found[owner == k].sum())) for k, peak in enumerate(peaks)]
    listed.sort(key=lambda mode: -mode.share)
    kept = [mode for mode in listed if mode.share >= LEAST][:most]
    opposite = (kept[0].angle + np.pi) % (2 * np.pi)
    if all(circular_error(opposite, mode.angle) >= APART for mode in kept):
        kept.append(Mode(float(opposite), 0.0))
    return kept
