"""Films of a look that moves along a smooth random path, generated from a number.

>>> from fgpvae.data import films
>>> film = films.film(3, "unseen")
>>> film.images.shape, film.path(films.times()).shape
((24, 32, 32), torch.Size([24, 2]))
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from fgpvae.gp import randomness

from ..errors import require
from . import mnist
from .digits import NAMES
from .subjects import Collection, Images, Places, Subject, Words, views_of
from .track import Track
from .views import Task, Views

FRAMES = 24
GIVEN = (1, 2, 4, 8)  # frames given in the tasks
LISTED = 40  # films to choose from
SPLITS = ("training", "validation", "unseen")

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

    def __call__(self, t: ArrayLike) -> Tensor:
        """Places [..., S, 2], x right and y down in pixels, at times [..., S]."""
        return CENTRE + REACH * torch.tanh(STEEPNESS * (features(t) @ self.weights.mT))


def features(t: ArrayLike) -> Tensor:
    """φ(t) [..., M] of the squared-exponential kernel, for times from -1.2 to 1.2."""
    knots, root = _knots()
    return _gram(torch.as_tensor(t, dtype=torch.float64), knots) @ root


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
    return Path(randomness.normal((*shape, 2, _knots()[1].shape[1]), torch.float64, generator))


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
    start = SCALE * (torch.arange(LOOK, dtype=centre.dtype) - LOOK / 2) + centre[..., None, None]
    return (torch.minimum(start + SCALE, pixel + 1) - torch.maximum(start, pixel)).clamp_min(0)


# Films by number, and of a look and a path of one's own


def times() -> Tensor:
    """Times of the frames of a film: 24, evenly spaced from -1 to 1."""
    return torch.linspace(-1, 1, FRAMES, dtype=torch.float64)


class Film(Subject):
    """A look that moves along a path; a shape has no label."""

    w = times().numpy()

    def __init__(
        self, look: Tensor, path: Path, label: int | None, id: str, new: bool = True
    ) -> None:
        super().__init__(id, "shape" if label is None else NAMES[label], label, new)
        self.look, self.path = look, path

    @property
    def images(self) -> Images:
        return self.truth_at(self.w)

    @property
    def thumbnail(self) -> Images:
        return self.look.numpy()

    @property
    def first_views(self) -> list[int]:
        return given_frames(4).tolist()

    def truth_at(self, w: Places) -> Images:
        return draw(self.look, self.path(w)).numpy()

    def process(self, w: Places) -> Places:
        return (features(w) @ self.path.weights.mT).numpy()


def film(number: int, split: str = "unseen") -> Film:
    """Make film `number` of a split, of a digit of class number mod 10.

    Training films are of digits 0..359 of each class, validation films of digits 360..399 and
    unseen films of digits of the MNIST test file; the number and the split determine the path.
    """
    known = ", ".join(SPLITS)
    require(split in SPLITS, f"There are no films '{split:.60}'; choose one of {known}.")
    seed = np.random.SeedSequence([SPLITS.index(split), number]).generate_state(1, np.uint64)[0]
    path = random_paths((), torch.Generator().manual_seed(int(seed)))
    digits = split_digits(split)
    each = len(digits) // 10
    row = number % 10 * each + number // 10 % each
    new = split != "training"
    id = str(number) if split == "unseen" else f"{split}-{number}"
    return Film(torch.from_numpy(digits.images[row]), path, int(digits.labels[row]), id, new)


@cache
def split_digits(split: str) -> mnist.Digits:
    """The digits of the films of a split, class after class."""
    if split == "unseen":
        return mnist.unseen()
    ends = (None, mnist.TRAIN_DIGITS) if split == "training" else (mnist.TRAIN_DIGITS, None)
    return mnist.embedded(range(10), slice(*ends))


def films(count: int, split: str = "unseen") -> tuple[Tensor, Path]:
    """The first films of a split together: looks [P, 28, 28] and paths."""
    each = [film(number, split) for number in range(count)]
    looks = torch.stack([one.look for one in each])
    return looks, Path(torch.stack([one.path.weights for one in each]))


def given_frames(given: int) -> Tensor:
    """Indices of the given frames, evenly spread: the middles of equal parts of the film."""
    require(1 <= given <= FRAMES, f"From 1 to {FRAMES} frames of a film can be given, not {given}.")
    return ((torch.arange(given) + 0.5) * FRAMES / given).long()


def task(images: Tensor, given: int) -> Task:
    """Predict the frames of films [P, 24, 32, 32] that are not given.

    If all frames are given, predict all of them.
    """
    observed = torch.isin(torch.arange(FRAMES), given_frames(given))
    return Task.between(images, times(), observed, ~observed if given < FRAMES else observed)


@dataclass(frozen=True)
class Films(Collection):
    """Films generated from their numbers."""

    classes: tuple[int, ...] = tuple(range(10))

    name = "films"
    group = "Films"
    track = Track(0.0, 1.0, FRAMES)  # a view is the number of a frame
    ambiguous = True
    words = Words("film", "films", "frame", "frames", "Play a film", "Make a film of your own")

    def subjects(self, new: bool, label: int | None = None) -> Sequence[Film]:
        numbers = range(LISTED) if label is None else range(label, 10 * LISTED, 10)
        return [film(number, "unseen" if new else "training") for number in numbers]

    def find(self, text: str) -> Film | None:
        number = text.removeprefix("training-")
        if not (number.isdecimal() and len(number) < 8):
            return None
        return film(int(number), "unseen" if number == text else "training")

    def training_views(self, label: int | None = None, count: int = LISTED) -> Views:
        return views_of(self.subjects(False, label)[:count])

    def mean_at(self, w: Places, label: int | None = None) -> Images:
        return np.broadcast_to(_mean(label), (len(w), SIZE, SIZE))

    def swapped(self, a: Subject, b: Subject, w: Places) -> Images:
        """The look of A on the path of B."""
        assert isinstance(a, Film)
        assert isinstance(b, Film)
        return Film(a.look, b.path, a.label, a.id).truth_at(w)

    def make(self, look: Images, places: Places, id: str = "own", label: int | None = None) -> Film:
        """A film of a look [28, 28] along the likeliest path near places [24, 2] in pixels.

        Places are taken as seen with an error of NEAR. Without one the path would go through them
        all and swing between them. Places outside the reach of a path are moved to its edge.
        """
        share = ((torch.as_tensor(places) - CENTRE) / REACH).clamp(-0.995, 0.995)
        f = torch.atanh(share) / STEEPNESS
        # (ΦᵀΦ + s² I)⁻¹ Φᵀ f maximises -|f - Φ a|²/(2 s²) - |a|²/2
        phi = features(times())
        precision = phi.mT @ phi + NEAR**2 * torch.eye(phi.shape[-1], dtype=phi.dtype)
        path = Path(torch.linalg.solve(precision, phi.mT @ f).mT)
        return Film(torch.as_tensor(look), path, label, id)


@cache
def _mean(label: int | None) -> Images:
    """The mean frame of training films."""
    return Films().training_views(label).images.flatten(0, 1).mean(0).numpy()
