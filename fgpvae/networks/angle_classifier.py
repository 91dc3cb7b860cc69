"""A network that predicts the angle of a single picture."""

import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from fgpvae.networks.moving import centre_of_mass
from fgpvae.networks.standard import NetworkConfig

NODES = 72  # angles at which a density is given, 5 degrees apart


class Recogniser(nn.Module):
    """q(w | y): its logarithm is given at NODES angles and linear between them."""

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
        """Pictures [N, C, H, W] and phases [N, G] -> log q(w | y) [N, G]."""
        log_share = self.layers(softened(images)).float().log_softmax(-1)  # [N, NODES]
        at = (phase / (2 * math.pi) % 1) * NODES
        before = at.floor().long()
        between = (at - before).to(log_share)
        left = log_share.gather(1, before % NODES)
        right = log_share.gather(1, (before + 1) % NODES)
        return left.lerp(right, between) + math.log(NODES / (2 * math.pi))


def softened(images: Tensor) -> Tensor:
    """Pictures [N, C, H, W] with ink from 0 to 1, weighted 1 2 1 with their neighbours.

    Interpolation leaves overshoot and sharpness that depend on the angle. A network would learn
    these instead of the digit, and uploaded pictures do not have them.
    """
    channels = images.shape[1]
    line = images.new_tensor([1.0, 2.0, 1.0])
    weights = (line[:, None] * line / 16).expand(channels, 1, 3, 3)
    return F.conv2d(images.clamp(0, 1), weights, padding=1, groups=channels)


def centred(images: Tensor) -> Tensor:
    """Pictures [..., H, W] shifted until the centre of mass of their ink is in the middle.

    The position of a digit depends on its angle: MNIST puts the centre of mass half a pixel beside
    the point about which views are turned. Uploaded pictures do not.
    """
    flat = images.reshape(-1, 1, *images.shape[-2:])
    height, width = images.shape[-2:]
    # a shift in half images, as grid_sample counts
    shift = centre_of_mass(flat) / flat.new_tensor([(width - 1) / 2, (height - 1) / 2])  # [N, 2]
    identity = torch.eye(2).to(flat).expand(len(flat), 2, 2)
    places = F.affine_grid(torch.cat([identity, shift[..., None]], -1), list(flat.shape), True)
    return F.grid_sample(flat, places, mode="bicubic", align_corners=True).reshape(images.shape)
