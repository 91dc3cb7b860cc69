"""One's own objects: images with an object and a real-valued view each, on a circle or a line.

A model sees the view as w: an angle in radians where the views are periodic, from -1 to 1 over the
range of the views on a line.
"""

import math
import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor

from ..errors import UserError
from .views import Task, Views

MOST_PERIODS = 1e6  # from 0 to a view: further away an angle has too few digits left
UNSEEN = 0.1  # share of the objects that nothing is trained on
HELD_OUT_SHARE = 0.15  # share of the views of a training object that are test images
TEST, EXTRAPOLATION, ONE_VIEW = "test_mse", "extrapolation_mse", "one_view_mse"

Array = np.ndarray


@dataclass(frozen=True)
class Track:
    """Where views lie: on a circle of the given period, or on a line from low to high."""

    period: float = 0.0  # 0 is a line
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.period < math.inf:
            raise UserError(f"The period of the views must be positive, not {self.period:g}.")
        if not self.period and not -math.inf < self.low < self.high < math.inf:
            raise UserError("The views of a line must have a range: a lowest and a highest one.")

    @property
    def ends(self) -> tuple[float, float]:
        """The views between which a track is shown."""
        return (0.0, self.period) if self.period else (self.low, self.high)

    def to_w(self, view: Any) -> Any:
        """Views as a model sees them."""
        if self.period:
            return 2 * math.pi * (view / self.period)
        return 2 * (view - self.low) / (self.high - self.low) - 1

    def to_view(self, w: Any) -> Any:
        if self.period:
            return (w / (2 * math.pi)) % 1 * self.period
        return self.low + (w + 1) / 2 * (self.high - self.low)

    def apart(self, a: Any, b: Any) -> Any:
        """How far two w are from each other, arrays of any shape."""
        delta = np.abs(np.asarray(a) - np.asarray(b))
        return np.abs((delta + math.pi) % (2 * math.pi) - math.pi) if self.period else delta


@dataclass(frozen=True)
class Objects:
    """N images of P objects."""

    images: Array  # [N, H, W] or [N, H, W, 3] uint8
    index: Array  # [N] int64, of which object
    view: Array  # [N] float64
    names: tuple[str, ...]  # [P]

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height, width of an image."""
        height, width = self.images.shape[1:3]
        return (3 if self.images.ndim == 4 else 1, height, width)

    def track(self, period: float = 0.0) -> Track:
        """The track of these views: a circle of the given period, or the line that they span."""
        if period:
            track = Track(period)
            if not (np.abs(self.view) <= MOST_PERIODS * period).all():
                raise UserError(f"A view is more than {MOST_PERIODS:g} periods of {period:g} away.")
            return track
        low, high = float(self.view.min()), float(self.view.max())
        if low == high:
            raise UserError(f"All views are {low:g}: there is nothing between them to learn.")
        return Track(0.0, low, high)

    def most_views(self) -> int:
        """Q, the views of the object that has most."""
        return max(map(len, self.by_object))

    @cached_property
    def by_object(self) -> list[list[int]]:
        """The images of each object, in the order of their views."""
        order = np.lexsort((self.view, self.index))
        ends = np.cumsum(np.bincount(self.index, minlength=len(self.names)))
        return [part.tolist() for part in np.split(order, ends[:-1])]


@dataclass(frozen=True)
class Split:
    """What is trained on, and what is asked afterwards."""

    train: Views
    tasks: dict[str, Task]  # by the name of its figure
    unseen: tuple[int, ...]  # objects that are not trained on
    held: frozenset[int]  # images that are not trained on though their object is


def pixels(objects: Objects, images: Iterable[int]) -> Array:
    """Some images in 0..1, [S, H, W] or [S, 3, H, W] float32, as a model takes them."""
    chosen = objects.images[list(images)].astype(np.float32) / np.float32(255)
    return chosen if chosen.ndim == 3 else chosen.transpose(0, 3, 1, 2)


def views(objects: Objects, track: Track, chosen: Mapping[int, Sequence[int]]) -> Views:
    """Views of objects, given as their numbers with the images of each."""
    images, w, observed = _gather(objects, track, list(chosen.values()))
    ids = torch.tensor(list(chosen), dtype=torch.int64)
    return Views(images, w, observed, ids, torch.zeros_like(ids))


def split(objects: Objects, track: Track, seed: int = 0) -> Split:
    """Some objects, and some views of the others, are kept for testing; the same ones every time.

    test_mse: held-out views of training objects, given their other views. extrapolation_mse:
    objects never trained on, half of whose views are given. one_view_mse: the same objects, of
    which only the view nearest to the middle of the track (on a circle, to 0) is given.
    """
    stream = random.Random(f"objects {seed}")
    P = len(objects.names)
    unseen = set(stream.sample(range(P), max(1, round(UNSEEN * P))))
    trained: dict[int, Sequence[int]] = {}
    held: dict[int, Sequence[int]] = {}
    some: dict[int, Sequence[int]] = {}
    one: dict[int, Sequence[int]] = {}
    for number, mine in enumerate(objects.by_object):
        if number in unseen:
            some[number] = sorted(stream.sample(mine, len(mine) // 2), key=mine.index)
            distance = track.apart(track.to_w(objects.view[mine]), 0.0)
            one[number] = [mine[int(distance.argmin())]]
            continue
        kept = max(1, round(HELD_OUT_SHARE * len(mine))) if len(mine) > 2 else 0
        if kept:
            held[number] = stream.sample(mine, kept)
        trained[number] = [i for i in mine if i not in held.get(number, ())]
    rest = {n: [i for i in objects.by_object[n] if i not in some[n]] for n in some}
    others = {n: [i for i in objects.by_object[n] if i not in one[n]] for n in one}
    tasks = {}
    if held:
        known = {n: trained[n] for n in held}
        tasks[TEST] = _task(objects, track, known, held)
    tasks[EXTRAPOLATION] = _task(objects, track, some, rest)
    tasks[ONE_VIEW] = _task(objects, track, one, others)
    images = frozenset(i for each in held.values() for i in each)
    return Split(views(objects, track, trained), tasks, tuple(sorted(unseen)), images)


def _task(
    objects: Objects,
    track: Track,
    context: Mapping[int, Sequence[int]],
    targets: Mapping[int, Sequence[int]],
) -> Task:
    images, at, asked = _gather(objects, track, [targets[number] for number in context])
    return Task(views(objects, track, context), images, at, asked)


def _gather(
    objects: Objects, track: Track, chosen: Sequence[Sequence[int]]
) -> tuple[Tensor, Tensor, Tensor]:
    """Images [P, S, H, W] (or [P, S, 3, H, W]), w [P, S] and which of them there are [P, S]."""
    P, S = len(chosen), max(map(len, chosen))
    channels, height, width = objects.shape
    size = (height, width) if channels == 1 else (channels, height, width)
    images = torch.zeros(P, S, *size)
    w = torch.zeros(P, S, dtype=torch.float64)
    there = torch.zeros(P, S, dtype=torch.bool)
    for row, mine in enumerate(chosen):
        n, mine = len(mine), list(mine)
        images[row, :n] = torch.from_numpy(pixels(objects, mine))
        w[row, :n] = torch.from_numpy(np.asarray(track.to_w(objects.view[mine])))
        there[row, :n] = True
    return images, w, there
