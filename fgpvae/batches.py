"""Where a training run gets its batches from: views that are given, or made anew each time.

Every random number is drawn from (seed, purpose, index), never from what came before.
"""

import math
from functools import lru_cache
from typing import Protocol

import numpy as np
import torch
from torch import Tensor

from fgpvae import randomness
from fgpvae.data import Digits, Views, rotate_fast, warp
from fgpvae.data.cubes import Turntable
from fgpvae.randomness import Part

TOGETHER = 32  # seeds that are made in one go


def random_generator(seed: int, purpose: int, index: int) -> torch.Generator:
    """A generator that depends on these three numbers and nothing else."""
    own = _seeds(seed, purpose, index // TOGETHER)[index % TOGETHER]
    return torch.Generator().manual_seed(own)


@lru_cache(maxsize=16)
def _seeds(seed: int, purpose: int, block: int) -> tuple[int, ...]:
    """Of all indices of a block: one alone, in the middle of a training step, finds its code out of
    the processor's cache and takes 20 times as long."""
    indices = range(block * TOGETHER, (block + 1) * TOGETHER)
    each = (np.random.SeedSequence([seed, purpose, index]) for index in indices)
    return tuple(int(sequence.generate_state(1, np.uint64)[0]) for sequence in each)


class Source(Protocol):
    """Batches by number, whole or a worker's part of one."""

    digits: int
    steps: int  # batches in an epoch
    slow: bool  # is it worth while to make a batch before it is needed?

    def batch(self, step: int, part: Part | None = None) -> Views: ...
    def everything(self) -> Views: ...


class Shuffle:
    """Which digits a step takes: each epoch a new order of all of them."""

    def __init__(self, digits: int, size: int, seed: int) -> None:
        self.digits, self.size, self.seed = digits, size, seed
        self.steps = math.ceil(digits / size)
        self._epoch, self._order = -1, torch.empty(0, dtype=torch.int64)

    def rows(self, step: int) -> Tensor:
        epoch, k = divmod(step, self.steps)
        if epoch != self._epoch:
            generator = random_generator(self.seed, 0, epoch)
            self._epoch, self._order = epoch, torch.randperm(self.digits, generator=generator)
        return self._order[k * self.size : (k + 1) * self.size]


class FixedViews:
    """A training set of given views, as they are or smoothly deformed anew each time."""

    def __init__(self, views: Views, size: int, seed: int, strength: float = 0.0) -> None:
        self.views, self.seed, self.strength = views, seed, strength
        self.shuffle = Shuffle(len(views), size, seed)
        self.digits, self.steps = len(views), self.shuffle.steps
        self.slow = strength > 0

    def batch(self, step: int, part: Part | None = None) -> Views:
        rows = self.shuffle.rows(step)
        views = self.views[rows if part is None else part.of(rows)]
        if not self.strength:
            return views
        with randomness.drawn_for(part):
            return warp(views, self.strength, random_generator(self.seed, 1, step))

    def everything(self) -> Views:
        return self.views


class FreshViews:
    """Upright digits, turned to new angles all around the circle in every batch."""

    def __init__(
        self, digits: Digits, size: int, views: int, seed: int, strength: float = 0.0
    ) -> None:
        self.images = torch.as_tensor(digits.images)
        self.labels = torch.as_tensor(digits.labels)
        self.views, self.seed, self.strength = views, seed, strength
        self.shuffle = Shuffle(len(self.labels), size, seed)
        self.digits, self.steps = len(self.labels), self.shuffle.steps
        self.slow = True

    def batch(self, step: int, part: Part | None = None) -> Views:
        rows, generator = self.shuffle.rows(step), random_generator(self.seed, 1, step)
        with randomness.drawn_for(part):
            return self.turned(rows if part is None else part.of(rows), generator)

    def turned(self, rows: Tensor, generator: torch.Generator) -> Views:
        angles = 2 * math.pi * randomness.uniform((len(rows), self.views), torch.float64, generator)
        observed = torch.ones(angles.shape, dtype=torch.bool)
        images = rotate_fast(self.images[rows].float(), angles)
        views = Views(images, angles, observed, rows, self.labels[rows])
        return warp(views, self.strength, generator) if self.strength else views

    def everything(self) -> Views:
        return self.turned(torch.arange(self.digits), random_generator(self.seed, 1, -1 % 2**32))


class TurnedFigures:
    """Figures of cubes, from other sides in every batch.

    In an epoch each of the first `often` figures comes four times, for it can stand in four ways;
    each of the others once.
    """

    slow = False

    def __init__(self, table: Turntable, often: int, size: int, views: int, seed: int) -> None:
        self.table, self.views, self.seed = table, views, seed
        rows = torch.arange(len(table))
        self.entries = torch.cat([rows[:often].repeat(4), rows[often:]])
        self.shuffle = Shuffle(len(self.entries), size, seed)
        self.digits, self.steps = len(self.entries), self.shuffle.steps

    def batch(self, step: int, part: Part | None = None) -> Views:
        rows, generator = self.shuffle.rows(step), random_generator(self.seed, 1, step)
        with randomness.drawn_for(part):
            mine = rows if part is None else part.of(rows)
            return self.table.batch(self.entries[mine], self.views, generator)

    def everything(self) -> Views:
        """Each figure once."""
        generator = random_generator(self.seed, 1, -1 % 2**32)
        return self.table.batch(torch.arange(len(self.table)), self.views, generator)


def random_context(observed: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """For a share of the digits only a random part of the views, from 1 to all, is context."""
    rank, less = _random_order(observed, generator)
    everything = randomness.uniform((len(observed), 1), generator=generator) >= share
    return observed & (everything | (rank <= less))


def random_part(observed: Tensor, generator: torch.Generator) -> Tensor:
    """A random part of the views of each digit, from none to all but one."""
    rank, less = _random_order(observed, generator)
    return observed & (rank < less)


def _random_order(observed: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """The observed views in a random order [P, Q], and a number below their count [P, 1]."""
    P, Q = observed.shape
    order = randomness.uniform((P, Q), generator=generator).masked_fill(~observed, 2.0)
    count = observed.sum(-1, keepdim=True)
    less = (randomness.uniform((P, 1), generator=generator) * count).long()
    return order.argsort(-1).argsort(-1), less
