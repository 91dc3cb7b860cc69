"""A network that says of a picture alone at which angle it was seen."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from fgpvae import arrays
from fgpvae.networks import NetworkConfig

NODES = 72  # angles at which a density is given, 5 degrees apart


class Recogniser(nn.Module):
    """q(w | y): its logarithm is given at NODES angles and linear between them.

    Three strided convolutions and a hidden layer lead from the picture to the NODES numbers, whose
    exponentials add up to one.

    >>> import torch
    >>> from fgpvae import NetworkConfig
    >>> told = Recogniser(NetworkConfig("dense", recogniser=4))
    >>> grid = torch.arange(72) * (2 * torch.pi / 72)
    >>> density = told.log_density(torch.zeros(3, 1, 28, 28), grid.expand(3, 72)).exp()
    >>> bool(torch.isclose(density.mean(1) * 2 * torch.pi, torch.ones(())).all())
    True
    """

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
            nn.Linear(16 * first, NODES),
        )

    def log_density(self, images: Tensor, phase: Tensor) -> Tensor:
        """Pictures [N, C, H, W] and phases [N, G] -> log q(w | y) [N, G].

        Ink is cut off at 0 and 1: the splines that turn a digit overshoot in a pattern that tells
        the angle, and a person's picture has no such pattern.
        """
        log_share = self.layers(images.clamp(0, 1)).float().log_softmax(-1)  # [N, NODES]
        at = (phase / (2 * math.pi) % 1) * NODES
        before = at.floor().long()
        between = (at - before).to(log_share)
        left = log_share.gather(1, before % NODES)
        right = log_share.gather(1, (before + 1) % NODES)
        return left.lerp(right, between) + math.log(NODES / (2 * math.pi))


def numbers_held(config: NetworkConfig) -> int:
    """How many numbers its layers put out for one picture, activations included."""
    _, height, width = config.shape
    sides = [math.ceil(height / n) * math.ceil(width / n) for n in (2, 4, 8)]
    filters = sum(side * n for side, n in zip(sides, (1, 2, 4), strict=True)) + 16
    return 2 * filters * config.recogniser + NODES


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
