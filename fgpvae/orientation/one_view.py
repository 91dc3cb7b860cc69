"""Posterior over the angle of one picture, and its modes."""

from dataclasses import dataclass

import numpy as np
import torch

from fgpvae.data import circular_error
from fgpvae.models import Model
from fgpvae.networks.angle_classifier import centred
from fgpvae.orientation import picture_scores
from fgpvae.orientation.picture_scores import PictureScores

GRID = 180  # number of angles that are scored
APART = np.deg2rad(25)  # minimum distance of two modes
MOST = 4  # maximum number of modes, without the opposite of the first
LEAST = 0.02  # minimum share of the posterior of a mode
UPRIGHT = 0.8  # prior share of upright pictures
TILT = np.deg2rad(12)  # standard deviation of their angles; all other angles are equally likely
CLOSE = 2.0  # maximum odds against 0 degrees at which a picture counts as upright


@dataclass(frozen=True)
class Mode:
    angle: float  # radians
    share: float  # share of the posterior around it


def belief(model: Model, image: np.ndarray, label: int | None = None) -> np.ndarray | None:
    """Posterior [GRID] over the angle of an image [H, W]; None if the model cannot infer angles.

    The prior is uniform. `label` is the class of the digit, where it is known.
    """
    if not model.tells_angle:
        return None
    w = torch.as_tensor(grid())
    if not model.separates_style:
        return model.orientation(centred(torch.as_tensor(image))[None], w)[0].numpy()
    return of_scores(model, picture_scores.score(model, image, w), label)


def upright_prior() -> np.ndarray:
    """Prior [GRID] over the angle of an uploaded picture, most of which are upright."""
    near = np.exp(-0.5 * (circular_error(grid(), 0.0) / TILT) ** 2)
    return UPRIGHT * near / near.sum() + (1 - UPRIGHT) / GRID


def likeliest(found: np.ndarray, upright: bool) -> int:
    """Index of the most likely angle of a posterior [G]; 0 degrees if the odds are close."""
    peaks = modes(found)
    best = round(peaks[0].angle / (2 * np.pi) * len(found)) % len(found) if peaks else 0
    return 0 if upright and CLOSE * found[0] >= found[best] else best


def of_scores(model: Model, scores: PictureScores, label: int | None = None) -> np.ndarray:
    """Posterior [G] over the angle of a picture from its scores.

    If the class is known, p(w | y, digit) ∝ p(w | y) p(digit | style at w).
    """
    known = model.calibration
    weights = (0.0, 0.0, 1.0) if known is None or not known.picture else known.picture
    log_belief = scores.stacked() @ torch.tensor(weights, dtype=torch.float64)
    if label is not None:
        log_belief = log_belief + scores.density.log_softmax(-1)[:, label]
    return log_belief.softmax(-1).numpy()


def grid() -> np.ndarray:
    return np.arange(GRID) * (2 * np.pi / GRID)


def modes(found: np.ndarray) -> list[Mode]:
    """Peaks of a posterior [G] on an even grid over the circle, the most likely first.

    Each angle counts for the nearest peak. The opposite of the first peak is always included:
    upside down is the most frequent error.
    """
    angles = np.arange(len(found)) * (2 * np.pi / len(found))
    higher = (found >= np.roll(found, 1)) & (found > np.roll(found, -1))
    peaks: list[float] = []
    for index in sorted(np.flatnonzero(higher), key=lambda i: -found[i]):
        if all(circular_error(angles[index], peak) >= APART for peak in peaks):
            peaks.append(float(angles[index]))
    if not peaks:
        return []
    peaks = peaks[: 2 * MOST]
    owner = circular_error(angles[:, None], np.array(peaks)).argmin(1)  # [G], of [G, peaks]
    listed = [Mode(peak, float(found[owner == k].sum())) for k, peak in enumerate(peaks)]
    listed.sort(key=lambda mode: -mode.share)
    found_modes = [mode for mode in listed if mode.share >= LEAST][:MOST]
    opposite = (found_modes[0].angle + np.pi) % (2 * np.pi)
    if all(circular_error(opposite, mode.angle) >= APART for mode in found_modes):
        found_modes.append(Mode(float(opposite), 0.0))
    return found_modes
