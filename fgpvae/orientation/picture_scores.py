"""Scores of an uploaded picture of a digit as a view at each of some angles.

MNIST scales the box of an upright digit to 20 pixels and puts its centre of mass half a pixel
beside the point about which views are turned. `images.normalise` does not know the angle: it places
any picture like an upright digit, and the size is an estimate. So a picture is placed and scaled
for each angle as MNIST would have done if the digit had that angle. Place and size then contain no
information about the angle.
"""

from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal
from torch.nn.functional import grid_sample, interpolate

from fgpvae import arrays, data
from fgpvae.data import TRAIN_DIGITS
from fgpvae.models import Model

BESIDE = 0.5  # pixels of MNIST's centre of mass to the right of and below the middle
BOX = 20.5  # longer side of the box of an upright digit of MNIST, by `spans`
INK = 0.3  # threshold of ink in such a box
SMALLEST, LARGEST = 0.75, 1.35  # bounds of the scale of a picture
FOLD = 4  # enlargement at which a box is measured
CLASSES = range(10)
SHRUNK = 0.5  # weight of the covariance of all classes together
TEMPERED = 0.2  # exponent of the densities, because channels are dependent
_FITTED: "WeakKeyDictionary[Model, MultivariateNormal]" = WeakKeyDictionary()


@dataclass(frozen=True)
class PictureScores:
    """Scores of one picture at each of some angles [G]."""

    angles: Tensor  # [G]
    styles: Tensor  # [G, S]
    error: Tensor  # [G] root of the squared error of the picture, encoded and decoded there
    density: Tensor  # [G, C] log density of its style in each class, tempered
    angle_log_density: Tensor  # [G] log density of the angle, without decoding

    def stacked(self) -> Tensor:
        """The three log scores of each angle, [G, 3]."""
        typical = self.density.logsumexp(-1)
        return torch.stack([-self.error, typical, self.angle_log_density], -1).double()


@torch.no_grad()
def score(model: Model, image: Any, w: Tensor) -> PictureScores:
    """Score a picture [H, W] at angles [G], by a model that infers angles and a style."""
    picture = torch.as_tensor(image).to(model.dtype)
    scale = scales(picture, w)
    views = placed(picture, w, scale)[:, None]  # [G, 1, H, W]
    posterior = model.infer(views, w[:, None])
    style, _ = posterior.style()
    made = model.decode(posterior.mean(w[:, None]), model.divides_channels)
    # centred pictures differ only in size, which repeats every quarter turn
    sizes, which = scale.round(decimals=9).unique(return_inverse=True)
    upright = torch.zeros_like(sizes)
    middle = model.given(placed(picture, upright, sizes, 0.0)[:, None], upright[:, None])
    alone = model.angle_log_density(middle, w)  # [sizes, G]
    return PictureScores(
        angles=w,
        styles=style,
        # relative to the scale, otherwise the angle with the smallest picture would seem best
        error=(made - views).square().flatten(1).sum(-1).sqrt().double() / scale,
        density=class_log_density(model, style),
        angle_log_density=alone[which, torch.arange(len(w))],
    )


def fit_classes(styles: Tensor, labels: np.ndarray) -> MultivariateNormal:
    """Gaussians of styles [P, S], the covariance of each shrunk towards that of all classes."""
    known = [styles[torch.as_tensor(labels == label)].double() for label in CLASSES]
    own = torch.stack([torch.cov(each.T) for each in known])
    shared = SHRUNK * own.mean(0) + (1 - SHRUNK) * own
    means = torch.stack([each.mean(0) for each in known])
    return MultivariateNormal(means, shared, validate_args=False)


@torch.no_grad()
def class_styles(model: Model) -> MultivariateNormal:
    """Gaussians of the package's upright training digits, fitted once per model."""
    if model not in _FITTED:
        digits = data.embedded(CLASSES, slice(TRAIN_DIGITS))
        views = torch.from_numpy(digits.images)[:, None]
        style, _ = model.infer(views, torch.zeros(len(digits), 1)).style()
        _FITTED[model] = fit_classes(style, digits.labels)
    return _FITTED[model]


def class_log_density(model: Model, styles: Tensor) -> Tensor:
    """log p(style | class), tempered: [..., S] -> [..., C]."""
    gaussians = class_styles(model)
    return TEMPERED * gaussians.log_prob(styles[..., None, :].to(gaussians.loc))


def as_seen(image: Any, angle: float) -> Any:
    """Place and scale a picture [H, W] as a view of an MNIST digit at an angle.

    Views of one digit then turn about one point and have one size.
    """
    picture, w = torch.as_tensor(image), torch.tensor([angle], dtype=torch.float64)
    return arrays.like(placed(picture, w, scales(picture, w))[0].clamp(0, 1), image)


def scales(image: Tensor, w: Tensor) -> Tensor:
    """Scales [G] that bring the box of the upright digit of a picture [H, W] to MNIST's size."""
    return (BOX / spans(image, w)).clamp(SMALLEST, LARGEST)


def spans(image: Tensor, w: Tensor) -> Tensor:
    """The longer side of the box of the ink [H, W], turned back from each of some angles: [G]."""
    large = interpolate(image[None, None].float(), scale_factor=FOLD, mode="bicubic")[0, 0]
    y, x = (at.double() / FOLD for at in torch.nonzero(large > INK, as_tuple=True))  # [n]
    if not len(x):
        return torch.full_like(w, BOX)
    across = torch.outer(w.cos(), x) - torch.outer(w.sin(), y)  # [G, n]
    down = torch.outer(w.sin(), x) + torch.outer(w.cos(), y)
    return torch.maximum(*(line.amax(1) - line.amin(1) for line in (across, down))) + 1 / FOLD


def placed(image: Tensor, w: Tensor, scale: Tensor, beside: float = BESIDE) -> Tensor:
    """A picture [H, W] scaled and where a digit of MNIST would lie at each angle: [G, H, W].

    Angles are counter-clockwise.
    """
    height, width = image.shape
    rows, columns = (torch.arange(n, dtype=torch.float64) - (n - 1) / 2 for n in image.shape)
    ink = image.double().clamp(min=0)
    total = ink.sum().clamp(min=1e-6)
    right, down = beside * (w.cos() + w.sin()), beside * (w.cos() - w.sin())
    # maps output pixels, [G, W] and [G, H], to pixels of the picture
    x = (columns - right[:, None]) / scale[:, None] + ink.sum(0) @ columns / total
    y = (rows - down[:, None]) / scale[:, None] + ink.sum(1) @ rows / total
    x, y = (2 / (width - 1) * x)[:, None], (2 / (height - 1) * y)[..., None]
    places = torch.stack(torch.broadcast_tensors(x, y), -1)  # [G, H, W, 2]
    pictures = image.expand(len(w), 1, height, width)
    return grid_sample(pictures, places.to(image), mode="bicubic", align_corners=True)[:, 0]
