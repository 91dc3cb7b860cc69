"""Views of figures: for batches, as tasks for unseen figures, and as a collection of subjects.

A figure has S evenly spaced views, the first at a random angle, so that all figures together cover
the circle. Rotated by quarter turns, the same views are those of three more figures at no cost: a
batch rotates each of its figures at random.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import torch
from torch import Tensor

from fgpvae.gp import randomness

from ...errors import UserError
from ..subjects import Collection, Images, Places, Subject, Words
from ..track import Track
from ..views import Task, Views
from .drawing import SIZE, draw
from .figures import Figure, parse, splits

ANGLES = 24  # views of a figure
QUARTER = ANGLES // 4  # a figure rotated by a quarter turn is another one
GIVEN = (1, 2, 4, 8)  # views given in the tasks, at equal distances
LISTED = 36  # figures to choose from
STEP = 7  # step between these in the list of shapes, whose neighbours look alike
SOME = 4  # one in so many training shapes is used
FIRST = 2  # the view at 30 degrees: two sides of the cubes and their tops are visible


@dataclass(frozen=True)
class Turntable:
    """S views of each of P figures."""

    images: Tensor  # [P, S, size, size] uint8
    start: Tensor  # [P] float64 radians: angle of the first view

    def __len__(self) -> int:
        return len(self.images)

    def batch(self, rows: Tensor, views: int, generator: torch.Generator) -> Views:
        """Random views of some figures, each rotated by random quarter turns."""
        P, S = len(rows), self.images.shape[1]
        if not 1 <= views <= S:
            raise UserError(f"A batch may have from 1 to {S} views of a figure, not {views}.")
        columns = randomness.uniform((P, S), generator=generator).argsort(1)[:, :views]
        quarters = (4 * randomness.uniform((P, 1), generator=generator)).long()
        # a figure rotated by a quarter turn looks at w as it did at w + π/2
        w = self.start[rows, None] + columns * (2 * math.pi / S) - quarters * (math.pi / 2)
        images = self.images[rows[:, None], columns].float() / 255
        return Views.complete(images, w % (2 * math.pi), rows)


def turntable(figures: Sequence[Figure], seed: int = 0, size: int = SIZE) -> Turntable:
    """Render all figures, each from its own first angle; 0.1 ms and 1 KB per 32 x 32 view."""
    start = np.random.default_rng(seed).uniform(0, 2 * math.pi / ANGLES, len(figures))
    images = draw(figures, start[:, None] + grid().numpy(), size)
    return Turntable(torch.from_numpy(images), torch.from_numpy(start))


def views_of(figures: Sequence[Figure], size: int = SIZE) -> Tensor:
    """All figures at the 24 angles from 0 on, [P, 24, size, size] from 0 to 1."""
    w = np.broadcast_to(grid().numpy(), (len(figures), ANGLES))
    return torch.from_numpy(draw(figures, w, size)).float() / 255


def grid() -> Tensor:
    """The angles of the tasks, [24] radians."""
    return torch.arange(ANGLES, dtype=torch.float64) * (2 * math.pi / ANGLES)


def task(images: Tensor, given: int, first: int = 0) -> Task:
    """Predict all views [P, 24, H, W] of the grid from some evenly spaced ones.

    `first` is the number of the first given view. Views 0, 6, 12 and 18 face a side of the cubes
    and show less of a figure than the others.
    """
    if given < 1 or ANGLES % given:
        raise UserError(f"{given} views are not at equal distances on {ANGLES} angles.")
    observed = (torch.arange(ANGLES) - first) % (ANGLES // given) == 0
    return Task.between(images, grid(), observed, ~observed)


def references(training: Tensor, unseen: Tensor) -> dict[str, float]:
    """Mean squared errors without a model on views [P, 24, H, W], given the view at 0.

    `mean_image`: the mean of all training figures at the angle. `same_view`: the one view itself,
    not turned. `nearest_figure`: the training figure, turned by quarters, that looks most like it
    at 0. `neighbouring_view`, the true view 15 degrees before, shows how much one step changes.
    """
    starts = torch.cat([training[:, k * QUARTER] for k in range(4)])  # [4 N, H, W]
    found = torch.cdist(unseen[:, 0].flatten(1), starts.flatten(1)).argmin(1)
    quarter, row = found // len(training), found % len(training)
    columns = (torch.arange(ANGLES) + QUARTER * quarter[:, None]) % ANGLES  # [P, 24]
    predictions = {
        "mean_image": _mean_views(training),
        "same_view": unseen[:, :1],
        "nearest_figure": training[row[:, None], columns],
    }
    errors = {
        name: float((guess - unseen)[:, 1:].square().mean()) for name, guess in predictions.items()
    }
    errors["neighbouring_view"] = float((unseen.roll(1, 1) - unseen).square().mean())
    return errors


def _mean_views(images: Tensor) -> Tensor:
    """The mean view of figures [P, 24, H, W], turned by all quarter turns: [24, H, W]."""
    mean = images.mean(0)
    return torch.stack([mean.roll(k * QUARTER, 0) for k in range(4)]).mean(0)


class CubeFigure(Subject):
    """A figure that turns; its id are its moves."""

    w = grid().numpy()

    def __init__(self, figure: Figure, new: bool | None = True) -> None:
        super().__init__(figure.moves.replace(" ", ""), "cube figure", new=new)
        self.figure = figure

    @cached_property
    def images(self) -> Images:
        return self.truth_at(self.w)

    @property
    def thumbnail(self) -> Images:
        return self.images[FIRST]

    @property
    def first_views(self) -> list[int]:
        return [FIRST]

    @property
    def order(self) -> list[int]:
        """Evenly spaced views, the first at 30 degrees."""
        steps = (FIRST + k * ANGLES // n for n in (1, 2, 4, 8, 24) for k in range(n))
        return list(dict.fromkeys(step % ANGLES for step in steps))

    def truth_at(self, w: Places) -> Images:
        return draw([self.figure], np.asarray(w)[None])[0].astype(np.float32) / np.float32(255)


@dataclass(frozen=True)
class Cubes(Collection):
    """Shepard and Metzler's figures."""

    name = "cubes"
    group = "Objects"
    track = Track(360.0)
    ambiguous = True
    words = Words(
        "cube figure", "cube figures", "angle", "views", "Rotate an object", "Build a cube figure"
    )

    def subjects(self, new: bool, label: int | None = None) -> Sequence[CubeFigure]:
        return _listed(new)

    def find(self, text: str) -> CubeFigure | None:
        try:
            return self.figure(text)
        except UserError:
            return None

    def figure(self, moves: str) -> CubeFigure:
        """Parse a string of moves; raise a UserError that says what is wrong with it."""
        figure = parse(moves)
        if not figure.fits():
            raise UserError("The figure reaches out of the picture when it is turned.")
        known = {each.shape for each in splits().training}
        return CubeFigure(figure, figure.shape not in known)

    def training_views(self, label: int | None = None, count: int = 120) -> Views:
        return Views.complete(_training_images()[:count], grid())

    def mean_at(self, w: Places, label: int | None = None) -> Images:
        nearest = np.rint(np.asarray(w) * ANGLES / (2 * np.pi)).astype(int) % ANGLES
        return _mean_views(_training_images()).numpy()[nearest]


@cache
def _listed(new: bool) -> tuple[CubeFigure, ...]:
    shapes = splits().unseen if new else splits().training
    found = []
    for number in range(LISTED):
        copies = shapes[number * STEP % len(shapes)].copies()
        found.append(CubeFigure(copies[number % len(copies)], new))
    return tuple(found)


@cache
def _training_images() -> Tensor:
    """Views of some training shapes, each in one orientation, [P, 24, H, W]."""
    stream, chosen = np.random.default_rng(0), []
    for shape in splits().training[::SOME]:
        copies = shape.copies()
        chosen.append(copies[stream.integers(len(copies))])
    return views_of(chosen)
