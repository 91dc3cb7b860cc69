"""Networks for pictures of a moving subject: its place, and its look when it is centred.

The first two channels of a code are the place, the others the look. A place is
a shift, and a shift by p multiplies Fourier coefficient k of a picture by the phase exp(-i k·p).
"""

import math
from collections.abc import Callable
from itertools import pairwise

import numpy as np
import torch
from torch import Tensor, nn

MOVES = 2  # channels of the place
MARGIN = 6  # pixels between the look and the edge of a picture
FARTHEST = 0.9999  # share of the reach at which places are clipped: their channels stay finite


class Shift(nn.Module):
    """Matrices that shift a periodic signal of n samples: places [...] -> [..., n, m].

    S_ij = (1/n) Σ_k exp(2πi k (i - j - p) / n) over all frequencies |k| <= n/2 of the grid: S(p) is
    the Fourier transform, a phase for each frequency, and the inverse transform in one matrix. A
    shift by a whole number rolls the samples. Of the n columns only the middle m are made.
    """

    def __init__(self, size: int, margin: int) -> None:
        super().__init__()
        self.shape = (size, size - 2 * margin)
        # with NumPy, because arithmetic on the device `meta` would load torch's compiler
        own = np.arange(size)
        apart = (own[:, None] - own[margin : size - margin]).ravel()  # [n m]
        modes = 2 * np.pi / size * np.arange(size // 2 + 1)
        weight = np.full((len(modes), 1), 2 / size)  # k and -k together
        weight[0] = weight[size // 2 if size % 2 == 0 else 0] = 1 / size
        angle = modes[:, None] * apart
        table = np.concatenate([weight * np.cos(angle), weight * np.sin(angle)])
        self.modes = nn.Buffer(torch.tensor(modes, dtype=torch.float32), persistent=False)
        self.table = nn.Buffer(torch.tensor(table, dtype=torch.float32), persistent=False)

    def forward(self, p: Tensor) -> Tensor:
        phase = p[..., None] * self.modes
        return (torch.cat([phase.cos(), phase.sin()], -1) @ self.table).unflatten(-1, self.shape)


def centre_of_mass(images: Tensor) -> Tensor:
    """Centre of mass of pictures [N, C, H, W], in pixels right of and below the middle, [N, 2]."""
    ink = images.clamp_min(0).sum(1)
    total = ink.sum((1, 2)) + 1e-6  # an empty picture has its centre in the middle
    down, right = ink.sum(2), ink.sum(1)  # [N, H], [N, W]
    x, y = (
        torch.arange(line.shape[1]).to(line) - (line.shape[1] - 1) / 2 for line in (right, down)
    )
    return torch.stack([right @ x, down @ y], -1) / total[:, None]


class Place(nn.Module):
    """Two channels z and the place p = c + a tanh z that they stand for, in pixels from the middle.

    Encoder and decoder share it, so a subject is drawn where the encoder found it for any a and c;
    these are learned from the prior of z alone.
    """

    def __init__(self, height: int, width: int) -> None:
        super().__init__()
        self.centre = nn.Parameter(torch.zeros(MOVES))
        self.log_reach = nn.Parameter(torch.tensor([math.log(width / 3), math.log(height / 3)]))

    def forward(self, z: Tensor) -> Tensor:
        return self.centre + self.log_reach.exp() * z.tanh()

    def inverse(self, p: Tensor, log_var: Tensor) -> tuple[Tensor, Tensor]:
        """Channels z of places, and the log variance of z for a given variance of p in pixels²."""
        share = ((p - self.centre) / self.log_reach.exp()).clamp(-FARTHEST, FARTHEST)
        slope = self.log_reach + torch.log1p(-share.square())  # log dp/dz
        return share.atanh(), log_var - 2 * slope


class MovingEncoder(nn.Module):
    """Images -> two channels from their centre of mass, the others from the image around it.

    The other channels are read from the centred image, so they do not depend on the place.
    """

    def __init__(self, shape: tuple[int, int, int], widths: tuple[int, ...], latents: int) -> None:
        super().__init__()
        channels, height, width = shape
        self.place = Place(height, width)
        self.log_var = nn.Parameter(torch.full((MOVES,), math.log(0.1**2)))  # of a place, pixels²
        self.down, self.right = Shift(height, MARGIN), Shift(width, MARGIN)
        middle = channels * (height - 2 * MARGIN) * (width - 2 * MARGIN)
        self.look = nn.Sequential(
            nn.Flatten(), *dense((middle, *widths, 2 * (latents - MOVES)), nn.SiLU)
        )

    def forward(self, images: Tensor) -> Tensor:
        """[N, C, H, W] -> means and log variances [N, 2 L]."""
        p = centre_of_mass(images)
        place, place_log_var = self.place.inverse(p, self.log_var)
        down, right = self.down(p[:, None, 1]), self.right(p[:, None, 0])
        mean, log_var = self.look(down.mT @ images @ right).chunk(2, -1)
        return torch.cat([place, mean, place_log_var, log_var], -1)


class MovingDecoder(nn.Module):
    """A look from the other channels, shifted to the place that the first two stand for.

    The look is the same in every view, so it is computed once per film.
    """

    def __init__(self, shape: tuple[int, int, int], widths: tuple[int, ...], latents: int) -> None:
        super().__init__()
        channels, height, width = shape
        self.shape = shape
        middle = (channels, height - 2 * MARGIN, width - 2 * MARGIN)
        self.place = Place(height, width)
        self.down, self.right = Shift(height, MARGIN), Shift(width, MARGIN)
        self.look = nn.Sequential(
            *dense((latents - MOVES, *reversed(widths), math.prod(middle)), nn.SiLU),
            nn.Unflatten(-1, middle),
        )

    def forward(self, z: Tensor) -> Tensor:
        """Codes [N, L], or [P, Q, L] where a film's views share the look of the first."""
        if z.ndim == 2:
            z = z[:, None]
        look = self.look(z[:, :1, MOVES:])  # [P, 1, C, h, w]
        p = self.place(z[..., None, :MOVES])  # [P, Q, 1, 2]
        down, right = self.down(p[..., 1]), self.right(p[..., 0])  # [P, Q, 1, H, h]
        return (down @ look @ right.mT).flatten(0, 1)


def dense(sizes: tuple[int, ...], *between: Callable[[], nn.Module]) -> list[nn.Module]:
    """Build dense layers of these sizes with other layers between them."""
    layers: list[nn.Module] = [nn.Linear(sizes[0], sizes[1])]
    for inputs, outputs in pairwise(sizes[1:]):
        layers += [*(build() for build in between), nn.Linear(inputs, outputs)]
    return layers
