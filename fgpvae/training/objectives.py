"""Training objectives. An objective turns the terms of a batch into one loss.

Both losses are means over the digits of a batch, so neither depends on how many there are.
"""

import math
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from fgpvae.errors import require
from fgpvae.models import Terms
from fgpvae.settings import check, setting

MULTIPLIERS = (1e-12, 1e12)
geco_setting = partial(setting, needs="name=geco")


@dataclass(frozen=True)
class ObjectiveConfig:
    """Objective: GECO with its target and bounds, or the ELBO with a pixel variance.

    >>> from fgpvae import ObjectiveConfig
    >>> from fgpvae.training import objectives
    >>> elbo = objectives.build(ObjectiveConfig("elbo", pixel_variance=0.02))
    >>> round(elbo.multiplier(), 3)  # 1 / (2 σ²)
    25.0
    """

    name: str = setting(
        "geco",
        "The evidence lower bound, or GECO, which aims at a given error.",
        label="Objective",
        choices={"elbo": "evidence lower bound (ELBO)", "geco": "target error (GECO)"},
    )
    pixel_variance: float = setting(
        0.01, "Variance of a pixel.", "σ_y²", "Pixel noise", bounds=(1e-6, 10.0), needs="name=elbo"
    )
    learn_pixel_variance: bool = setting(
        False, "Learn it with the weights.", "σ_y²", "Learn the noise", needs="name=elbo"
    )
    conditional: bool = setting(
        False,
        "Bound all views given some of them, for samples from few views.",
        label="Conditional bound",
        needs="model.local",
    )
    kappa_squared: float = geco_setting(
        0.020, "Mean squared error that GECO aims at.", "κ²", "Target error", bounds=(0.0, 1.0)
    )
    multiplier: float = geco_setting(
        1e5, "First weight of the error against KL.", "λ", "First multiplier", bounds=MULTIPLIERS
    )
    multiplier_max: float = geco_setting(
        1e6, "Upper bound of λ.", "λ", "Largest multiplier", bounds=MULTIPLIERS
    )
    multiplier_min: float = geco_setting(
        1.0, "Lower bound of λ.", "λ", "Smallest multiplier", bounds=MULTIPLIERS
    )
    decay: float = geco_setting(
        0.99, "Decay of the moving average error, which λ follows.", "α", bounds=(0.0, 0.99999)
    )

    def __post_init__(self) -> None:
        check(self)
        between = self.multiplier_min <= self.multiplier <= self.multiplier_max
        require(between, "The first multiplier (λ) must lie between the smallest and largest.")


class ELBO(nn.Module):
    """Minus the evidence lower bound, with the variance σ_y² of a pixel fixed or learned."""

    def __init__(self, config: ObjectiveConfig) -> None:
        super().__init__()
        self.log_pixel_variance = nn.Parameter(
            torch.tensor(math.log(config.pixel_variance)), requires_grad=config.learn_pixel_variance
        )

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

    λ is multiplied by exp(moving average of error - κ²) in each step and kept within bounds:
    without an upper bound it grows forever if κ² is out of reach, and the encoder's variances
    vanish. With Q views of K pixels, λ = QK / (2σ²) gives the ELBO with noise σ².
    """

    def __init__(self, config: ObjectiveConfig) -> None:
        super().__init__()
        self.config = config
        self.value = nn.Buffer(torch.tensor(config.multiplier, dtype=torch.float64))
        self.average = nn.Buffer(torch.tensor(math.nan, dtype=torch.float64))

    def forward(self, terms: Terms) -> Tensor:
        constraint = terms.squared_error.sum() / terms.pixels.sum() - self.config.kappa_squared
        if self.training:
            config, decay, now = self.config, self.config.decay, constraint.detach().double()
            first = bool(self.average.isnan())
            self.average.copy_(now if first else decay * self.average + (1 - decay) * now)
            self.value.mul_(self.average.exp()).clamp_(config.multiplier_min, config.multiplier_max)
        return terms.kl.mean() + self.value * constraint

    def multiplier(self) -> float:
        return float(self.value)


OBJECTIVES: dict[str, type[ELBO] | type[GECO]] = {"elbo": ELBO, "geco": GECO}


def build(config: ObjectiveConfig) -> ELBO | GECO:
    return OBJECTIVES[config.name](config)
