"""Gaussians with diagonal covariance, given by mean and variance; all functions are elementwise."""

import math

import torch
from torch import Tensor

from fgpvae.gp import randomness

LOG_2PI = math.log(2 * math.pi)


def log_density(x: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    """log N(x | mean, var)."""
    return -0.5 * (LOG_2PI + var.log() + (x - mean) ** 2 / var)


def kl(mean_q: Tensor, var_q: Tensor, mean: Tensor, var: Tensor) -> Tensor:
    """KL(N(mean_q, var_q) || N(mean, var))."""
    return 0.5 * (var.log() - var_q.log() - 1 + ((mean_q - mean) ** 2 + var_q) / var)


def sample(mean: Tensor, var: Tensor, generator: torch.Generator | None = None) -> Tensor:
    noise = randomness.normal(mean.shape, mean.dtype, generator).to(mean.device)
    return torch.addcmul(mean, var.sqrt(), noise)
