"""Figures of cubes that turn about the vertical axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import torch

from ...errors import UserError
from .. import cubes
from ..track import Track
from ..views import Views
from .base import Collection, Images, Places, Subject, Words

LISTED = 36  # figures to choose from
STEP = 7  # step between these in the list of shapes, whose neighbours look alike
SOME = 4  # one in so many training shapes is used
FIRST = 2  # the view at 30 degrees: two sides of the cubes and their tops are visible


class CubeFigure(Subject):
    """A figure, given by its moves."""

    w = cubes.grid().numpy()

    def __init__(self, moves: str, new: bool | None = True) -> None:
        super().__init__(moves.replace(" ", ""), "cube figure", new=new)
        self.moves = moves

    @cached_property
    def images(self) -> Images:
        return cubes.views_of([cubes.parse(self.moves)])[0].numpy()

    @property
    def thumbnail(self) -> Images:
        return self.images[FIRST]

    @property
    def first_views(self) -> list[int]:
        return [FIRST]

    @property
    def order(self) -> list[int]:
        """Evenly spaced views, the first at 30 degrees."""
        steps = [
            (FIRST + k * cubes.ANGLES // n) % cubes.ANGLES
            for n in (1, 2, 4, 8, 24)
            for k in range(n)
        ]
        return list(dict.fromkeys(steps))

    def truth_at(self, w: Places) -> Images:
        drawn = cubes.draw([cubes.parse(self.moves)], np.asarray(w, dtype=np.float64)[None])[0]
        return drawn.astype(np.float32) / np.float32(255)


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
        figure = cubes.parse(moves)
        if not cubes.fits(figure):
            raise UserError("The figure reaches out of the picture when it is turned.")
        return CubeFigure(figure.moves, figure.shape not in _training_shapes())

    def training_views(self, label: int | None = None, count: int = 120) -> Views:
        return Views.complete(_training_images()[:count], cubes.grid())

    def mean_at(self, w: Places, label: int | None = None) -> Images:
        step = 2 * np.pi / cubes.ANGLES
        nearest = np.rint(np.asarray(w) / step).astype(int) % cubes.ANGLES
        return _mean()[nearest]


@cache
def _listed(new: bool) -> tuple[CubeFigure, ...]:
    shapes = cubes.splits().unseen if new else cubes.splits().training
    found = []
    for number in range(LISTED):
        copies = shapes[number * STEP % len(shapes)].copies()
        found.append(CubeFigure(copies[number % len(copies)].moves, new))
    return tuple(found)


@cache
def _training_shapes() -> frozenset[object]:
    return frozenset(figure.shape for figure in cubes.splits().training)


@cache
def _training_images() -> torch.Tensor:
    """Views of some training shapes, each in one orientation, [P, 24, H, W]."""
    stream, chosen = np.random.default_rng(0), []
    for shape in cubes.splits().training[::SOME]:
        copies = shape.copies()
        chosen.append(copies[stream.integers(len(copies))])
    return cubes.views_of(chosen)


@cache
def _mean() -> Images:
    """The mean view of training figures, rotated by all quarter turns, [24, H, W]."""
    images = _training_images().mean(0)
    quarter = cubes.ANGLES // 4
    return torch.stack([images.roll(k * quarter, 0) for k in range(4)]).mean(0).numpy()
