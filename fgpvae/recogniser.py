"""A network that says of a picture alone at which angle it was seen."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from fgpvae import arrays
from fgpvae.networks import NetworkConfig

HARMONICS = 36  # of a log density: details down to 5 degrees


class Recogniser(nn.Module):
    """q(w | y) ∝ exp Σ_k (a_k cos kw + b_k sin kw), with three strided convolutions and a hidden
    layer from the picture to a and b.

    >>> import torch
    >>> from fgpvae import NetworkConfig
    >>> told = Recogniser(NetworkConfig("dense", recogniser=4))
    >>> grid = torch.arange(100) * (2 * torch.pi / 100)
    >>> density = told.log_density(torch.zeros(3, 1, 28, 28), grid.expand(3, 100)).exp()
    >>> bool(torch.isclose(density.mean(1) * 2 * torch.pi, torch.ones(())).all())
    True
    """

    even: Tensor

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        channels, height, width = config.shape
        first = config.recogniser
        small = math.ceil(height / 8) * math.ceil(width / 8)
        self.layers = nn.Sequential(
            nn.Conv2d(channels, first, 5, stride=2, padding=2),
            nn.SiLU(),
            nn.Conv2d(first, 2 * first, 3, stride=2, padding=1),
            nn.SiLU(),
            nn.Conv2d(2 * first, 4 * first, 3, stride=2, padding=1),
            nn.SiLU(),
            nn.Flatten(),
            nn.Linear(4 * first * small, 16 * first),
            nn.SiLU(),
            nn.Linear(16 * first, 2 * HARMONICS),
        )
        even = np.arange(4 * HARMONICS) * (2 * math.pi / (4 * HARMONICS))
        self.register_buffer("even", torch.tensor(even, dtype=torch.float32), persistent=False)

    def log_density(self, images: Tensor, phase: Tensor) -> Tensor:
        """Pictures [N, C, H, W] and phases [N, G] -> log q(w | y) [N, G]."""
        coefficients = self.layers(images).float()[..., None]  # [N, 2 K, 1]
        log_total = (_waves(self.even.float()) @ coefficients).logsumexp(1)  # [N, 1]
        log_mean = log_total - math.log(len(self.even))
        at = (_waves(phase.float()) @ coefficients).squeeze(-1)  # [N, G]
        return at - log_mean - math.log(2 * math.pi)


def _waves(phase: Tensor) -> Tensor:
    """cos kw and sin kw for k = 1 .. HARMONICS, as the last dimension."""
    modes = torch.arange(1, HARMONICS + 1, dtype=phase.dtype, device=phase.device)
    angle = phase[..., None] * modes
    return torch.cat([angle.cos(), angle.sin()], -1)


def numbers_held(config: NetworkConfig) -> int:
    """How many numbers its layers put out for one picture, activations included."""
    _, height, width = config.shape
    sides = [math.ceil(height / n) * math.ceil(width / n) for n in (2, 4, 8)]
    filters = sum(side * n for side, n in zip(sides, (1, 2, 4), strict=True)) + 16
    return 2 * filters * config.recogniser + 2 * HARMONICS


def centred(images: Any) -> Any:
    """Pictures [..., H, W] shifted until the centre of mass of their ink is in the middle.

    Where a digit lies gives its angle away: MNIST puts the centre of mass half a pixel beside the
    point about which views are turned. A person's picture knows nothing of that.
    """
    home = images.device if isinstance(images, Tensor) else torch.device("cpu")
    seen = arrays.tensor(images, "Pictures", home)
    height, width = seen.shape[-2:]
    flat = seen.reshape(-1, 1, height, width)
    ink = flat[:, 0].clamp(min=0)
    total = ink.sum((1, 2)).clamp(min=1e-6)
    y = torch.linspace(-1, 1, height, dtype=flat.dtype, device=flat.device)
    x = torch.linspace(-1, 1, width, dtype=flat.dtype, device=flat.device)
    down = (ink.sum(2) @ y / total)[:, None, None] + y[:, None]  # [N, H, 1]
    right = (ink.sum(1) @ x / total)[:, None, None] + x  # [N, 1, W]
    whole = (len(flat), height, width)
    places = torch.stack([right.expand(whole), down.expand(whole)], -1)
    moved = nn.functional.grid_sample(flat, places, mode="bicubic", align_corners=True)
    return arrays.like(moved.reshape(seen.shape), images)
