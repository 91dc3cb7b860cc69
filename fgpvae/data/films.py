"""Films of a look that moves along a smooth random path, generated from a number.

>>> import torch
>>> from fgpvae.data import films
>>> film = films.film(3, "unseen")
>>> film.images.shape, film.path(films.times()).shape
(torch.Size([24, 32, 32]), torch.Size([24, 2]))

Any look [28, 28] and any places [S, 2] in pixels make a film:

>>> films.draw(film.look, torch.tensor([[8.0, 8.0], [16.5, 20.0]])).shape
torch.Size([2, 32, 32])
"""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from torch import Tensor

from fgpvae.gp import randomness

from ..errors import UserError
from .digits import TRAIN_DIGITS, Digits, embedded, unseen
from .views import Task

FRAMES = 24
GIVEN = (1, 2, 4, 8)  # frames given in the tasks
SPLITS = ("training", "validation", "unseen")
MOST = 2**31  # films of a split
SHAPE = -1  # label of a look that is not a digit

SIZE = 32  # pixels of a picture's side
LOOK = 28  # pixels of a look's side
SCALE = 0.5  # a look is drawn at half its size
KINDS = 3  # number of shapes: disc, ring and triangle

LENGTH_SCALE = 0.4  # length scale of the squared-exponential kernel; a film runs from -1 to 1
CENTRE, REACH, STEEPNESS = 16.0, 8.0, 0.9  # pixels, pixels, factor inside tanh
KNOTS = 25  # times whose values determine a path up to a variance of 1e-8
LONGEST = 1.2  # a path is a draw of the Gaussian process from -1.2 to 1.2
NEAR = 0.01  # error of f at a place drawn by hand: 0.07 pixels in the middle of a picture
SMALLEST = 1e-12  # relative size below which an eigenvalue counts as 0 in float64


# Paths: a Gaussian process over time, represented as a function


@dataclass(frozen=True)
class Path:
    """Paths f(t) = φ(t)·weights with φ(s)·φ(t) = k(s, t), mapped into the picture."""

    weights: Tensor  # [..., 2, M] float64, standard normal

    def __call__(self, t: Tensor) -> Tensor:
        """Places [..., S, 2], x right and y down in pixels, at times [..., S]: near the centre."""
        return CENTRE + REACH * torch.tanh(STEEPNESS * (features(t) @ self.weights.mT))


def features(t: Tensor) -> Tensor:
    """φ(t) [..., M] of the squared-exponential kernel, for times from -1.2 to 1.2."""
    knots, root = _knots()
    return _gram(t.double(), knots) @ root


@cache
def _knots() -> tuple[Tensor, Tensor]:
    """Times [K] and U Λ^-½ [K, M] of their covariance matrix U Λ Uᵀ."""
    # Chebyshev points: dense at both ends, where interpolation is worst
    k = torch.arange(KNOTS, dtype=torch.float64)
    knots = LONGEST * torch.cos(math.pi * (k + 0.5) / KNOTS)
    values, vectors = torch.linalg.eigh(_gram(knots, knots))
    large = values > SMALLEST * values[-1]
    return knots, vectors[:, large] / values[large].sqrt()


def _gram(a: Tensor, b: Tensor) -> Tensor:
    return torch.exp(-0.5 * ((a[..., :, None] - b) / LENGTH_SCALE).square())


def random_paths(shape: tuple[int, ...], generator: torch.Generator) -> Path:
    """Draw paths from the Gaussian process."""
    M = _knots()[1].shape[1]
    return Path(randomness.normal((*shape, 2, M), torch.float64, generator))


def fitted(points: Tensor) -> Path:
    """The likeliest path near places [24, 2] in pixels at even times, as a draw of the process.

    Places are taken as seen with an error of NEAR. Without one the path would go through them all
    and swing between them. Places outside the reach of a path are moved to its edge.
    """
    t = torch.linspace(-1, 1, len(points), dtype=torch.float64)
    share = ((points.double() - CENTRE) / REACH).clamp(-0.995, 0.995)
    f = torch.atanh(share) / STEEPNESS
    # (ΦᵀΦ + s² I)⁻¹ Φᵀ f maximises -|f - Φ a|²/(2 s²) - |a|²/2
    phi = features(t)
    precision = phi.mT @ phi + NEAR**2 * torch.eye(phi.shape[-1], dtype=phi.dtype)
    return Path(torch.linalg.solve(precision, phi.mT @ f).mT)


# Looks, and pictures of a look at a place


def random_shapes(count: int, generator: torch.Generator) -> Tensor:
    """Draw discs, rings and triangles of random size, rotation and grey level: [count, 28, 28].

    An edge is as soft as a pixel is wide.
    """
    u = randomness.uniform((count, 4), torch.float64, generator)
    kinds = (KINDS * u[:, 0]).long()
    line = torch.arange(LOOK, dtype=u.dtype) - (LOOK - 1) / 2
    size, second, tone = u[:, 1:, None, None].unbind(1)  # [N, 1, 1]; second: a hole or a turn
    radius = 6 + 5 * size
    x, y = line.expand(1, LOOK, LOOK), line[:, None].expand(1, LOOK, LOOK)
    disc = x.hypot(y) - radius  # signed distance from the edge, negative inside
    ring = torch.maximum(disc, (0.4 + 0.35 * second) * radius - x.hypot(y))
    turn = 2 * torch.pi / 3 * (second + torch.arange(3))  # [N, 1, 3]
    sides = x[..., None] * turn.cos()[:, :, None] + y[..., None] * turn.sin()[:, :, None]
    triangle = sides.amax(-1) - 0.65 * radius
    distance = torch.stack([disc, ring, triangle])[kinds, torch.arange(count)]  # [N, 28, 28]
    return ((0.5 - distance).clamp(0, 1) * (0.4 + 0.6 * tone)).float()


def draw(looks: Tensor, places: Tensor) -> Tensor:
    """Draw looks [..., 28, 28] at places [..., S, 2] in pixels -> pictures [..., S, 32, 32].

    A place is where the centre of mass of the look is, x to the right and y down; it need not be a
    whole number. A pixel is the mean of the look over the pixel's area.
    """
    x, y = (places - centre(looks)[..., None, :]).to(looks).unbind(-1)
    return _overlap(y) @ looks[..., None, :, :] @ _overlap(x).mT


def centre(looks: Tensor) -> Tensor:
    """The centre of mass of looks [..., 28, 28] relative to their middle, in pixels."""
    line = SCALE * (torch.arange(LOOK, dtype=looks.dtype) - (LOOK - 1) / 2)
    ink = looks.sum((-1, -2)).clamp_min(1e-6)
    return torch.stack([looks.sum(-2) @ line, looks.sum(-1) @ line], -1) / ink[..., None]


def _overlap(centre: Tensor) -> Tensor:
    """How much of a pixel each row of a look covers, for centres [...] -> [..., 32, 28]."""
    pixel = torch.arange(SIZE, dtype=centre.dtype)[:, None]
    row = SCALE * (torch.arange(LOOK, dtype=centre.dtype) - LOOK / 2)
    start = row + centre[..., None, None]
    return (torch.minimum(start + SCALE, pixel + 1) - torch.maximum(start, pixel)).clamp_min(0)


# Films by number


@dataclass(frozen=True)
class Film:
    """A look that moves along a path."""

    look: Tensor  # [28, 28]
    path: Path
    label: int  # class of a digit; -1 for shapes

    @property
    def images(self) -> Tensor:
        """Its 24 frames."""
        return self.at(times())

    def at(self, t: Tensor) -> Tensor:
        """Frames at times [S] from -1 to 1 -> [S, 32, 32]."""
        return draw(self.look, self.path(t))


def times() -> Tensor:
    """Times of the frames of a film: 24, evenly spaced from -1 to 1."""
    return torch.linspace(-1, 1, FRAMES, dtype=torch.float64)


def film(number: int, split: str = "unseen") -> Film:
    """Make film `number` of a split, of a digit of class number mod 10.

    Training films are of digits 0..359 of each class, validation films of digits 360..399 and
    unseen films of digits of the MNIST test file; the number and the split determine the path.
    """
    if split not in SPLITS:
        raise UserError(f"There are no films '{split:.60}'; choose one of {', '.join(SPLITS)}.")
    if not 0 <= number < MOST:
        raise UserError(f"The number of a film must be from 0 to {MOST - 1}, not {number}.")
    seed = np.random.SeedSequence([SPLITS.index(split), number]).generate_state(1, np.uint64)[0]
    path = random_paths((), torch.Generator().manual_seed(int(seed)))
    digits = split_digits(split)
    each = len(digits) // 10
    row = number % 10 * each + number // 10 % each
    return Film(torch.from_numpy(digits.images[row]), path, int(digits.labels[row]))


@cache
def split_digits(split: str) -> Digits:
    """The digits of the films of a split, class after class."""
    if split == "unseen":
        return unseen()
    trained = split == "training"
    return embedded(range(10), slice(TRAIN_DIGITS) if trained else slice(TRAIN_DIGITS, None))


def films(count: int, split: str = "unseen") -> tuple[Tensor, Path]:
    """The first films of a split together: looks [P, 28, 28] and paths."""
    each = [film(number, split) for number in range(count)]
    looks = torch.stack([one.look for one in each])
    return looks, Path(torch.stack([one.path.weights for one in each]))


def given_frames(given: int) -> Tensor:
    """Indices of the given frames, evenly spread: the middles of equal parts of the film."""
    if not 1 <= given <= FRAMES:
        raise UserError(f"From 1 to {FRAMES} frames of a film can be given, not {given}.")
    return ((torch.arange(given) + 0.5) * FRAMES / given).long()


def task(images: Tensor, given: int) -> Task:
    """Predict the frames of films [P, 24, 32, 32] that are not given.

    If all frames are given, predict all of them.
    """
    observed = torch.isin(torch.arange(FRAMES), given_frames(given))
    return Task.between(images, times(), observed, ~observed if given < FRAMES else observed)
