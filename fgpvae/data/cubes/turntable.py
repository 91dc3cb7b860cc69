"""Views of many figures, drawn once and drawn from many times; tasks for figures never seen.

A figure has S views at equal distances, the first at an angle of its own, so that together they
cover the circle. Turned by quarters the same views are those of three more figures, which costs
nothing: a batch turns each of its figures at random.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ... import randomness
from ...errors import UserError
from ..views import Task, Views
from .drawing import SIZE, draw
from .figures import Figure

ANGLES = 24  # views of a figure
GIVEN = (1, 2, 4, 8)  # views given in the tasks, at equal distances


@dataclass(frozen=True)
class Turntable:
    """P figures from S sides."""

    images: Tensor  # [P, S, size, size] uint8
    start: Tensor  # [P] float64 radians: where the first view of each is taken

    def __len__(self) -> int:
        return len(self.images)

    def batch(self, rows: Tensor, views: int, generator: torch.Generator) -> Views:
        """Some figures, each turned by some quarters, with different random views each."""
        P, S = len(rows), self.images.shape[1]
        if not 1 <= views <= S:
            raise UserError(f"A batch may have from 1 to {S} views of a figure, not {views}.")
        columns = randomness.uniform((P, S), generator=generator).argsort(1)[:, :views]
        quarters = (4 * randomness.uniform((P, 1), generator=generator)).long()
        # a figure turned by a quarter looks at w as it did at w + π/2
        w = self.start[rows, None] + columns * (2 * math.pi / S) - quarters * (math.pi / 2)
        return Views(
            self.images[rows[:, None], columns].float() / 255,
            w % (2 * math.pi),
            torch.ones(P, views, dtype=torch.bool),
            rows.to(torch.int64),
            torch.zeros(P, dtype=torch.int64),
        )


def turntable(
    figures: Sequence[Figure],
    seed: int = 0,
    size: int = SIZE,
    angles: int = ANGLES,
    progress: Callable[[int], object] | None = None,
) -> Turntable:
    """Draw all figures, each from a start of its own; 0.1 ms and 1 KB a view of 32 x 32 pixels."""
    start = np.random.default_rng(seed).uniform(0, 2 * math.pi / angles, len(figures))
    w = start[:, None] + np.arange(angles) * (2 * math.pi / angles)
    images = draw(figures, w, size, progress=progress)
    return Turntable(torch.from_numpy(images), torch.from_numpy(start))


def views_of(figures: Sequence[Figure], size: int = SIZE) -> Tensor:
    """All figures at the 24 angles from 0 on, [P, 24, size, size] from 0 to 1."""
    w = np.broadcast_to(grid().numpy(), (len(figures), ANGLES))
    return torch.from_numpy(draw(figures, w, size)).float() / 255


def grid() -> Tensor:
    """The angles of the tasks, [24] radians."""
    return torch.arange(ANGLES, dtype=torch.float64) * (2 * math.pi / ANGLES)


def task(images: Tensor, given: int, first: int = 0) -> Task:
    """Of views [P, 24, H, W] at the grid, predict all from some at equal distances.

    `first` is the number of the first given view. From 0, 6, 12 and 18 the viewer looks straight at
    a side of the cubes and sees less of a figure than from elsewhere.
    """
    if given < 1 or ANGLES % given:
        raise UserError(f"{given} views are not at equal distances on {ANGLES} angles.")
    P, step = len(images), ANGLES // given
    asked = (torch.arange(ANGLES) - first) % step != 0
    w = grid().expand(P, -1)
    context = Views(
        images[:, ~asked],
        w[:, ~asked],
        torch.ones(P, given, dtype=torch.bool),
        torch.full((P,), -1),
        torch.zeros(P, dtype=torch.int64),
    )
    return Task(context, images[:, asked], w[:, asked])
