"""What can be said of a figure never seen without a model: errors to compare a model's with."""

import torch
from torch import Tensor

from .turntable import ANGLES

ROUND = 64  # figures compared at once
QUARTER = ANGLES // 4  # a training figure turned by a quarter is one more


def references(training: Tensor, unseen: Tensor) -> dict[str, float]:
    """Mean squared errors on views [P, 24, H, W], given the view at 0, over the other angles.

    `mean_image`: the mean of all training figures at the angle. `same_view`: the one view itself,
    not turned. `nearest_figure`: the training figure that looks most like it at 0. The
    `neighbouring_view`, 15 degrees before, needs all other views: it says how far a step is.
    """
    mean = torch.stack([training.mean(0).roll(-k * QUARTER, 0) for k in range(4)]).mean(0)
    predictions = {
        "mean_image": mean.expand_as(unseen),
        "same_view": unseen[:, :1].expand_as(unseen),
        "nearest_figure": _nearest_figures(training, unseen[:, 0]),
    }
    errors = {
        name: float((guess - unseen)[:, 1:].square().mean()) for name, guess in predictions.items()
    }
    errors["neighbouring_view"] = float((unseen.roll(1, 1) - unseen).square().mean())
    return errors


def _nearest_figures(training: Tensor, views: Tensor) -> Tensor:
    """For each view [P, H, W] at 0 the figure, turned by quarters, that is closest there."""
    starts = torch.cat([training[:, k * QUARTER] for k in range(4)])  # [4 N, H, W]
    found, count = _nearest(starts, views), len(training)
    quarter, row = found // count, found % count
    columns = (torch.arange(ANGLES) + QUARTER * quarter[:, None]) % ANGLES  # [P, 24]
    return training[row[:, None], columns]


def _nearest(known: Tensor, views: Tensor) -> Tensor:
    """The row of the known image [N, H, W] that is closest to each view [P, H, W]."""
    flat = known.flatten(1)
    return torch.cat(
        [torch.cdist(part.flatten(1), flat).argmin(1) for part in torch.split(views, ROUND)]
    )
