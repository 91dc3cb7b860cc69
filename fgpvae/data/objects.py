"""The user's own objects: each image has an object and a real-valued view, on a circle or a line.

A model sees the view as w: an angle in radians where the views are periodic, from -1 to 1 over the
range of the views on a line.
"""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch
from torch import Tensor

from ..errors import UserError
from .track import Track
from .views import Task, Views, padded

MOST_PERIODS = 1e6  # periods between 0 and a view, beyond which angles lose precision
UNSEEN = 0.1  # share of the objects held out for testing
HELD_OUT_SHARE = 0.15  # share of the views of a training object that are test images
TEST, EXTRAPOLATION, ONE_VIEW = "test_mse", "extrapolation_mse", "one_view_mse"

Array = np.ndarray


@dataclass(frozen=True)
class Objects:
    """N images of P objects."""

    images: Array  # [N, H, W] or [N, H, W, 3] uint8
    index: Array  # [N] int64, index of the object
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
        """Q, the largest number of views of an object."""
        return max(map(len, self.by_object))

    @cached_property
    def by_object(self) -> list[list[int]]:
        """Indices of the images of each object, in the order of their views."""
        order = np.lexsort((self.view, self.index))
        ends = np.cumsum(np.bincount(self.index, minlength=len(self.names)))
        return [part.tolist() for part in np.split(order, ends[:-1])]


@dataclass(frozen=True)
class Split:
    """Training views and test tasks."""

    train: Views
    tasks: dict[str, Task]  # by the name of their score
    unseen: tuple[int, ...]  # objects that are not trained on
    held: frozenset[int]  # held-out images of training objects


def pixels(objects: Objects, images: Iterable[int]) -> Array:
    """Some images as model input: [S, H, W] or [S, 3, H, W] float32 from 0 to 1."""
    chosen = objects.images[list(images)].astype(np.float32) / np.float32(255)
    return chosen if chosen.ndim == 3 else chosen.transpose(0, 3, 1, 2)


def views(objects: Objects, track: Track, chosen: Mapping[int, Sequence[int]]) -> Views:
    """Views of objects: for each object number the indices of its images."""
    ids = torch.tensor(list(chosen), dtype=torch.int64)
    return Views(*_gather(objects, track, chosen.values()), ids, torch.zeros_like(ids))


def trained_objects(objects: Objects) -> int:
    """Number of objects that a run is trained on; the others are unseen."""
    P = len(objects.names)
    return P - max(1, round(UNSEEN * P))


def split(objects: Objects, track: Track, seed: int = 0) -> Split:
    """Hold out some objects, and some views of the others, for testing; a function of the seed.

    test_mse: held-out views of training objects, given their other views. extrapolation_mse:
    objects never trained on, half of whose views are given. one_view_mse: the same objects, of
    which only the view nearest to the middle of the track (on a circle, to 0) is given.
    """
    stream = random.Random(f"objects {seed}")
    P = len(objects.names)
    unseen = set(stream.sample(range(P), P - trained_objects(objects)))
    trained: dict[int, list[int]] = {}
    some: dict[int, list[int]] = {}
    one: dict[int, list[int]] = {}
    held: set[int] = set()
    for number, mine in enumerate(objects.by_object):
        if number in unseen:
            some[number] = sorted(stream.sample(mine, len(mine) // 2), key=mine.index)
            distance = track.apart(track.to_w(objects.view[mine]), 0.0)
            one[number] = [mine[int(distance.argmin())]]
            continue
        count = max(1, round(HELD_OUT_SHARE * len(mine))) if len(mine) > 2 else 0
        held.update(stream.sample(mine, count))
        trained[number] = [image for image in mine if image not in held]
    tasks = {EXTRAPOLATION: _task(objects, track, some), ONE_VIEW: _task(objects, track, one)}
    known = {n: mine for n, mine in trained.items() if len(mine) < len(objects.by_object[n])}
    if known:
        tasks = {TEST: _task(objects, track, known)} | tasks
    train = views(objects, track, trained)
    return Split(train, tasks, tuple(sorted(unseen)), frozenset(held))


def tasks_by_views(
    objects: Objects, track: Track, numbers: Sequence[int], counts: Sequence[int]
) -> dict[int, Task]:
    """All other views of some objects from so many of theirs, evenly along the track.

    An object takes part in a task if it has more views than that; a task without objects is left
    out.
    """
    tasks = {}
    for count in counts:
        given = {}
        for number in numbers:
            mine = objects.by_object[number]
            if len(mine) > count:
                even = (np.arange(count) + 0.5) * len(mine) / count
                given[number] = [mine[int(place)] for place in even]
        if given:
            tasks[count] = _task(objects, track, given)
    return tasks


def _task(objects: Objects, track: Track, context: Mapping[int, Sequence[int]]) -> Task:
    """Predict all other views of objects, given as their numbers with some images of each."""
    others = [
        [image for image in objects.by_object[number] if image not in given]
        for number, given in context.items()
    ]
    return Task(views(objects, track, context), *_gather(objects, track, others))


def _gather(
    objects: Objects, track: Track, chosen: Iterable[Sequence[int]]
) -> tuple[Tensor, Tensor, Tensor]:
    """Images [P, S, H, W] (or [P, S, 3, H, W]), w [P, S], and a mask [P, S] of those that exist."""
    rows = [list(mine) for mine in chosen]
    images = [pixels(objects, mine) for mine in rows]
    return padded(images, [track.to_w(objects.view[mine]) for mine in rows])
