"""The moving ball of Pearce (2019): a white disc whose path is a draw from a Gaussian process."""

import torch
from torch import Tensor

from fgpvae.gp import randomness

FILMS, FRAMES, SIZE = 35, 30, 32
RADIUS, LENGTH_SCALE, JITTER = 3.0, 2.0, 1e-5
FARTHEST = 13.0  # pixels from the centre, reached at three standard deviations


def times() -> Tensor:
    """Frames 0..29 as times from -1 to 1."""
    return torch.linspace(-1, 1, FRAMES, dtype=torch.float64)


def length_scale() -> float:
    """The kernel's length scale, two frames, in these times."""
    return LENGTH_SCALE * 2 / (FRAMES - 1)


def random_paths(count: int, generator: torch.Generator) -> Tensor:
    """Paths [count, 30, 2] of unit variance."""
    frame = torch.arange(FRAMES, dtype=torch.float64)
    gram = torch.exp(-0.5 * ((frame[:, None] - frame) / LENGTH_SCALE).square())
    root = torch.linalg.cholesky(gram + JITTER * torch.eye(FRAMES, dtype=gram.dtype))
    return root @ randomness.normal((count, FRAMES, 2), torch.float64, generator)


def draw(paths: Tensor) -> Tensor:
    """Films [..., 32, 32] of paths [..., 2]: pixels are 0 or 1."""
    centre = SIZE / 2 + (paths / 3 * FARTHEST).clamp(-FARTHEST, FARTHEST)
    pixel = torch.arange(SIZE, dtype=paths.dtype)
    dx = pixel - centre[..., 0, None]
    dy = pixel - centre[..., 1, None]
    inside = dy[..., :, None].square() + dx[..., None, :].square() < RADIUS**2
    return inside.float()
