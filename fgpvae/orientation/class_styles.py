"""Gaussians over the styles of each class of digits, for models that separate style from angle."""

from dataclasses import dataclass
from functools import cached_property
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor
from torch.distributions import MultivariateNormal

from fgpvae import data
from fgpvae.data import TRAIN_DIGITS
from fgpvae.models import Model

CLASSES = range(10)
SHRUNK = 0.5  # weight of the covariance of all classes together
TEMPERED = 0.2  # exponent of the densities, because channels are dependent


@dataclass(frozen=True)
class ClassStyles:
    """A Gaussian for the styles of each class."""

    means: Tensor  # [C, S]
    covariances: Tensor  # [C, S, S]

    @cached_property
    def _gaussians(self) -> MultivariateNormal:
        return MultivariateNormal(self.means, self.covariances, validate_args=False)

    def log_density(self, styles: Tensor) -> Tensor:
        """log p(style | class), tempered: [..., S] -> [..., C]."""
        return TEMPERED * self._gaussians.log_prob(styles[..., None, :].to(self.means))


def fit(styles: Tensor, labels: np.ndarray) -> ClassStyles:
    """Gaussians of styles [P, S], the covariance of each shrunk towards that of all classes."""
    known = [styles[torch.as_tensor(labels == label)].double() for label in CLASSES]
    own = torch.stack([torch.cov(each.T) for each in known])
    shared = SHRUNK * own.mean(0) + (1 - SHRUNK) * own
    return ClassStyles(torch.stack([each.mean(0) for each in known]), shared)


_FITTED: "WeakKeyDictionary[Model, ClassStyles]" = WeakKeyDictionary()


@torch.no_grad()
def of_model(model: Model) -> ClassStyles:
    """Fit Gaussians to the styles of the package's upright training digits; cached per model."""
    if model not in _FITTED:
        digits = data.embedded(CLASSES, slice(TRAIN_DIGITS))
        views = torch.from_numpy(digits.images)[:, None]
        style, _ = model.infer(views, torch.zeros(len(digits), 1)).style()
        _FITTED[model] = fit(style, digits.labels)
    return _FITTED[model]
