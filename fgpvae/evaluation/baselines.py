"""Predictions without a model, to compare models with."""

import math
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from fgpvae.data import ANGLES, HELD_OUT_INDEX, Digits, Task, circular_error, rotate
from fgpvae.data.track import Track
from fgpvae.evaluation.metrics import mse, principal_components

COMPONENTS = (8, 16, 32)

Array = NDArray[np.float64]
Rows = Sequence[int] | NDArray[np.int64]


def mean_image(upright: ArrayLike, angles: ArrayLike) -> Array:
    """The mean of upright digits [P, 28, 28] at angles [S]: [S, 28, 28].

    A rotation is linear: the mean, rotated, is the mean of the rotated digits.
    """
    mean = np.asarray(upright).mean(0, dtype=np.float64)
    return rotate(mean[None], angles)[0].astype(np.float64)


def class_means(upright: Digits, labels: Tensor, at: Tensor) -> Tensor:
    """The mean upright digit of each label [P], turned to angles [P, S]: [P, S, 28, 28]."""
    means = torch.empty(*at.shape, *upright.images.shape[1:])
    for label in labels.unique().tolist():
        mine, known = labels == label, torch.as_tensor(upright.labels) == label
        angles, which = at[mine].unique(return_inverse=True)
        mean = mean_image(upright.images[known.numpy()], angles.numpy())
        means[mine] = torch.from_numpy(mean).float()[which]
    return means


def nearest_view(task: Task, track: Track) -> Tensor:
    """The context view nearest to each target w, [P, S, H, W]."""
    views = task.context
    apart = torch.as_tensor(track.apart(task.at[:, :, None], views.angles[:, None]))  # [P, S, Q]
    nearest = apart.masked_fill(~views.observed[:, None], math.inf).argmin(-1)
    return views.images[torch.arange(len(task))[:, None], nearest]


def rotated_view(task: Task) -> Array:
    """The nearest context view, rotated as a picture to the target angle: [P, 28, 28].

    It uses a rotation, which models have to learn.
    """
    views, rows = task.context, np.arange(len(task))
    angles, w = views.angles.numpy(), task.at.numpy()  # [P, Q], [P, 1]
    nearest = np.where(views.observed.numpy(), circular_error(angles, w), np.inf).argmin(1)
    turn = w - angles[rows, nearest][:, None]  # [P, 1]
    return rotate(views.images.numpy()[rows, nearest], turn)[:, 0].astype(np.float64)


def trivial_predictors(upright: ArrayLike, train: Rows, test: Rows) -> dict[str, float]:
    """Mean squared errors without a model on `test` digits at 157.5 degrees.

    `upright` [P, 28, 28] are the digits at angle 0; `train` and `test` index them.
    mean_of_neighbours: the same digit's views one step before and after; pca_C: the *test* images
    through their own first C principal components (fitted to the answer); rotated_neighbour: the
    view one step before turned by one step (an oracle; the view after the held-out angle is at 180
    degrees, without interpolation, and would be too good).
    """
    upright = np.asarray(upright, dtype=np.float64)
    angle, step = ANGLES[HELD_OUT_INDEX], ANGLES[1]
    around = np.array([angle - step, angle, angle + step])
    before, truth, after = np.moveaxis(rotate(upright[test], around).astype(np.float64), 1, 0)
    mean = mean_image(upright[train], [angle])
    predictions = {
        "zeros": np.zeros_like(truth),
        "mean_image": np.broadcast_to(mean, truth.shape),
        "mean_of_neighbours": (before + after) / 2,
    }
    centre = truth.mean(0)
    rows = (truth - centre).reshape(len(truth), -1)
    for C in COMPONENTS:
        directions = principal_components(rows, C)
        predictions[f"pca_{C}"] = centre + (rows @ directions.T @ directions).reshape(truth.shape)
    predictions["rotated_neighbour"] = rotate(before, [step])[:, 0].astype(np.float64)
    return {name: mse(predicted, truth) for name, predicted in predictions.items()}
