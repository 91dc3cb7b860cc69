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

from ..errors import require
from .subjects import Collection, Images, Places, Subject, Words
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
            track, near = Track(period), (np.abs(self.view) <= MOST_PERIODS * period).all()
            require(near, f"A view is more than {MOST_PERIODS:g} periods of {period:g} away.")
            return track
        low, high = float(self.view.min()), float(self.view.max())
        require(low < high, f"All views are {low:g}: there is nothing between them to learn.")
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


def pixels(objects: Objects, images: Iterable[int]) -> Array:
    """Some images as model input: [S, H, W] or [S, 3, H, W] float32 from 0 to 1."""
    chosen = objects.images[list(images)].astype(np.float32) / np.float32(255)
    return chosen if chosen.ndim == 3 else chosen.transpose(0, 3, 1, 2)


def trained_objects(objects: Objects) -> int:
    """Number of objects that a run is trained on; the others are unseen."""
    P = len(objects.names)
    return P - max(1, round(UNSEEN * P))


class OwnObject(Subject):
    """Object `number` of a run."""

    def __init__(self, collection: "Own", number: int) -> None:
        held, new = collection.held, number in collection.unseen
        self.track, self.objects = collection.track, collection.objects
        self.rows = self.objects.by_object[number]  # its images
        name = self.objects.names[number]
        super().__init__(
            str(number),
            f"object {name}" if name.isdecimal() else name,
            new=new,
            row=-1 if new else number,
            held_out=[index for index, image in enumerate(self.rows) if image in held],
        )

    @cached_property
    def images(self) -> Images:
        return pixels(self.objects, self.rows)

    @cached_property
    def w(self) -> Places:
        return np.asarray(self.track.to_w(self.objects.view[self.rows]), dtype=np.float64)

    @property
    def first_views(self) -> list[int]:
        """Every other view of a new object; the training views of the others."""
        return list(range(len(self.w)))[::2] if self.new else sorted(self.order)

    @property
    def thumbnail(self) -> Images:
        return self.images[int(self.track.apart(self.w, 0.0).argmin())]


class Own(Collection):
    """Own objects, some of which, and some views of the others, are held out for testing.

    `tasks`, by the name of their score. test_mse: held-out views of training objects, given their
    other views. extrapolation_mse: objects never trained on, half of whose views are given.
    one_view_mse: the same objects, of which only the view nearest to the middle of the track (on a
    circle, to 0) is given.
    """

    name = "own"
    group = "Objects"

    def __init__(self, objects: Objects, track: Track, seed: int = 0) -> None:
        title = "Rotate an object" if track.period else "Move an object"
        self.words = Words("object", "objects", "view", "views", title, "An object of your own")
        self.objects, self.track = objects, track
        stream = random.Random(f"objects {seed}")
        P = len(objects.names)
        # objects that are not trained on
        self.unseen = tuple(sorted(stream.sample(range(P), P - trained_objects(objects))))
        trained, some, one = (dict[int, list[int]]() for _ in range(3))
        self.held: set[int] = set()  # held-out images of training objects
        for number, mine in enumerate(objects.by_object):
            if number in self.unseen:
                some[number] = sorted(stream.sample(mine, len(mine) // 2), key=mine.index)
                distance = track.apart(track.to_w(objects.view[mine]), 0.0)
                one[number] = [mine[int(distance.argmin())]]
                continue
            count = max(1, round(HELD_OUT_SHARE * len(mine))) if len(mine) > 2 else 0
            self.held.update(stream.sample(mine, count))
            trained[number] = [image for image in mine if image not in self.held]
        known = {n: mine for n, mine in trained.items() if len(mine) < len(objects.by_object[n])}
        self.train = self._views(trained)
        self.tasks = {TEST: self._task(known)} if known else {}
        self.tasks |= {EXTRAPOLATION: self._task(some), ONE_VIEW: self._task(one)}

    def tasks_by_views(self, counts: Sequence[int]) -> dict[int, Task]:
        """All other views of the unseen objects from so many of theirs, evenly along the track.

        An object takes part in a task if it has more views than that; a task without objects is
        left out.
        """
        tasks = {}
        for count in counts:
            given = {}
            for number in self.unseen:
                mine = self.objects.by_object[number]
                if len(mine) > count:
                    even = (np.arange(count) + 0.5) * len(mine) / count
                    given[number] = [mine[int(place)] for place in even]
            if given:
                tasks[count] = self._task(given)
        return tasks

    def _task(self, given: Mapping[int, Sequence[int]]) -> Task:
        """Predict all other views of objects, from some images of each."""
        every = self.objects.by_object
        others = [[i for i in every[number] if i not in some] for number, some in given.items()]
        return Task(self._views(given), *self._padded(others))

    def _views(self, chosen: Mapping[int, Sequence[int]]) -> Views:
        """Views of objects: for each object number the indices of its images."""
        ids = torch.tensor(list(chosen), dtype=torch.int64)
        return Views(*self._padded(chosen.values()), ids, torch.zeros_like(ids))

    def _padded(self, chosen: Iterable[Sequence[int]]) -> tuple[Tensor, Tensor, Tensor]:
        """Images [P, S, ...], w [P, S], and a mask [P, S] of those that exist."""
        rows = [list(mine) for mine in chosen]
        images = [pixels(self.objects, mine) for mine in rows]
        return padded(images, [self.track.to_w(self.objects.view[mine]) for mine in rows])

    def subjects(self, new: bool, label: int | None = None) -> Sequence[OwnObject]:
        every = range(len(self.objects.names))
        return [OwnObject(self, number) for number in every if (number in self.unseen) == new]

    def find(self, text: str) -> OwnObject | None:
        if not (text.isdecimal() and len(text) < 8 and int(text) < len(self.objects.names)):
            return None
        return OwnObject(self, int(text))

    def training_views(self, label: int | None = None, count: int = 120) -> Views:
        return self.train[:count]

    def mean_at(self, w: Places, label: int | None = None) -> Images:
        """The mean over training objects of their training view nearest to each place."""
        angles, observed = self.train.angles.numpy(), self.train.observed.numpy()
        rows, images = torch.arange(len(angles)), []
        for place in w:
            apart = np.where(observed, self.track.apart(place, angles), np.inf)  # [P, Q]
            images.append(self.train.images[rows, apart.argmin(1)].mean(0))
        return torch.stack(images).numpy()
