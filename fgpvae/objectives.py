"""What is minimised. An objective turns the terms of a batch into one loss.

Both losses are means over the digits of a batch, so neither depends on how many there are.
"""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from fgpvae.errors import UserError
from fgpvae.models import Terms


@dataclass(frozen=True)
class ObjectiveConfig:
    """What is minimised: GECO with its target and bounds, or the ELBO with the variance of a pixel.

    >>> from fgpvae import ObjectiveConfig, objectives
    >>> elbo = objectives.build(ObjectiveConfig("elbo", pixel_variance=0.02))
    >>> round(elbo.multiplier(), 3)  # 1 / (2 σ²)
    25.0
    """

    name: str = "geco"
    pixel_variance: float = 0.01  # σ_y², for the ELBO
    learn_pixel_variance: bool = False
    conditional: bool = False  # bound the views of a digit given a random part of them
    kappa_squared: float = 0.020  # κ², the per-pixel squared error that GECO aims at
    multiplier: float = 1e5  # λ to start with
    multiplier_max: float = 1e6
    multiplier_min: float = 1.0
    decay: float = 0.99  # of the moving average of the constraint

    def __post_init__(self) -> None:
        if self.name not in OBJECTIVES:
            raise UserError(f"There is no objective '{self.name}'; choose geco or elbo.")
        if not 1e-6 <= self.pixel_variance <= 10:
            raise UserError("The variance of a pixel must be from 1e-6 to 10.")
        if not 0 <= self.kappa_squared <= 1:
            raise UserError("κ² must be from 0 to 1.")
        if not 0 < self.multiplier_min <= self.multiplier <= self.multiplier_max <= 1e12:
            raise UserError("λ must start within its bounds, which lie between 0 and 1e12.")
        if not 0 <= self.decay < 1:
            raise UserError("The decay of the constraint must be at least 0 and below 1.")


class ELBO(nn.Module):
    """Minus the evidence lower bound, with the variance σ_y² of a pixel fixed or learned."""

    def __init__(self, config: ObjectiveConfig) -> None:
        super().__init__()
        self.log_pixel_variance = nn.Parameter(
            torch.tensor(math.log(config.pixel_variance)),
            requires_grad=config.learn_pixel_variance,
        )

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        if f"{prefix}log_noise" in state:  # its name in older runs
            state[f"{prefix}log_pixel_variance"] = state.pop(f"{prefix}log_noise")
        super()._load_from_state_dict(state, prefix, *rest)

    def forward(self, terms: Terms) -> Tensor:
        # -log p(y | z) = |y - ŷ|² / (2σ²) + K/2 log 2πσ²
        variance = self.log_pixel_variance.exp()
        nll = 0.5 * (terms.squared_error / variance + terms.pixels * (2 * math.pi * variance).log())
        return (nll + terms.kl).mean()

    def multiplier(self) -> float:
        """λ = 1 / (2σ_y²): the weight of a pixel's squared error against a nat of KL."""
        return 0.5 / float(self.log_pixel_variance.detach().exp())


class GECO(nn.Module):
    """KL + λ (error - κ²), error the mean squared error of a pixel; λ follows the constraint.

    λ is multiplied by exp(moving average of error - κ²) each step and kept within bounds: without
    an upper bound it grows for ever when κ² is out of reach, and the encoder's variances vanish.
    With Q views of K pixels, λ = QK / (2σ²) makes this the ELBO with noise σ².
    """

    value: Tensor
    average: Tensor

    def __init__(self, config: ObjectiveConfig) -> None:
        super().__init__()
        self.config = config
        self.register_buffer("value", torch.tensor(config.multiplier, dtype=torch.float64))
        self.register_buffer("average", torch.tensor(math.nan, dtype=torch.float64))

    def forward(self, terms: Terms) -> Tensor:
        constraint = terms.squared_error.sum() / terms.pixels.sum() - self.config.kappa_squared
        if self.training:
            self._follow(constraint.detach().double())
        return terms.kl.mean() + self.value * constraint

    def _follow(self, constraint: Tensor) -> None:
        decay = self.config.decay
        first = bool(self.average.isnan())
        self.average.copy_(constraint if first else decay * self.average + (1 - decay) * constraint)
        bounds = (self.config.multiplier_min, self.config.multiplier_max)
        self.value.mul_(self.average.exp()).clamp_(*bounds)

    def multiplier(self) -> float:
        return float(self.value)


OBJECTIVES: dict[str, type[ELBO] | type[GECO]] = {"elbo": ELBO, "geco": GECO}


def build(config: ObjectiveConfig) -> ELBO | GECO:
    return OBJECTIVES[config.name](config)
