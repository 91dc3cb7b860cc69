"""What can be said of a figure never seen without a model: errors to compare a model's with."""

import torch
from torch import Tensor

from .turntable import ANGLES

ROUND = 64  # figures compared at once


def references(training: Tensor, unseen: Tensor) -> dict[str, float]:
    """Mean squared errors on views [P, 24, H, W], given the view at 0, over the other angles.

    `mean_image`: the mean of all training figures at the angle. `same_view`: the one view itself,
    not turned. `nearest_figure`: the training figure that looks most like it at 0. The
    `neighbouring_view`, 15 degrees before, needs all other views: it says how far a step is.
    """
    # a training figure turned by a quarter is one more
    quarter = ANGLES // 4
    turned = torch.cat([training.roll(-k * quarter, 1) for k in range(4)])
    mean = turned.mean(0)
    nearest = turned[_nearest(turned[:, 0], unseen[:, 0])]
    predictions = {
        "mean_image": mean.expand_as(unseen),
        "same_view": unseen[:, :1].expand_as(unseen),
        "nearest_figure": nearest,
    }
    errors = {
        name: float((guess - unseen)[:, 1:].square().mean()) for name, guess in predictions.items()
    }
    errors["neighbouring_view"] = float((unseen.roll(1, 1) - unseen).square().mean())
    return errors


def _nearest(known: Tensor, views: Tensor) -> Tensor:
    """The row of the known image [N, H, W] that is closest to each view [P, H, W]."""
    flat = known.flatten(1)
    return torch.cat(
        [torch.cdist(part.flatten(1), flat).argmin(1) for part in torch.split(views, ROUND)]
    )
