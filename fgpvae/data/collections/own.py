"""The user's own objects, from an archive or a folder."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import torch

from ..objects import Objects, Split, pixels, split
from ..track import Track
from ..views import Views
from .base import Collection, Images, Places, Subject, Words


class OwnObject(Subject):
    """Object `number` of a run."""

    def __init__(self, collection: "Own", number: int) -> None:
        held, new = collection.split.held, number in collection.split.unseen
        self.track, self.objects = collection.track, collection.objects
        self.rows = self.objects.by_object[number]  # its images
        super().__init__(
            str(number),
            self.objects.names[number],
            new=new,
            row=-1 if new else number,
            held_out=[index for index, image in enumerate(self.rows) if image in held],
        )

    @cached_property
    def images(self) -> Images:
        return pixels(self.objects, self.rows)

    @cached_property
    def w(self) -> Places:
        views = self.objects.view[self.rows]
        return np.asarray(self.track.to_w(views), dtype=np.float64)

    @property
    def first_views(self) -> list[int]:
        """Every other view of a new object; the training views of the others."""
        return list(range(len(self.w)))[::2] if self.new else sorted(self.order)

    @property
    def thumbnail(self) -> Images:
        return self.images[int(self.track.apart(self.w, 0.0).argmin())]


@dataclass(frozen=True, eq=False)
class Own(Collection):
    """The own objects of a run."""

    objects: Objects
    track: Track
    split: Split

    words: Words

    name = "own"
    group = "Objects"

    @classmethod
    def of(cls, objects: Objects, track: Track, seed: int) -> "Own":
        """Split objects as the run with this seed did."""
        title = "Rotate an object" if track.period else "Move an object"
        words = Words("object", "objects", "view", "views", title, "An object of your own")
        return cls(objects, track, split(objects, track, seed), words)

    def subjects(self, new: bool, label: int | None = None) -> Sequence[OwnObject]:
        unseen = set(self.split.unseen)
        every = range(len(self.objects.names))
        return [OwnObject(self, number) for number in every if (number in unseen) == new]

    def find(self, text: str) -> OwnObject | None:
        if not (text.isdecimal() and len(text) < 8 and int(text) < len(self.objects.names)):
            return None
        return OwnObject(self, int(text))

    def training_views(self, label: int | None = None, count: int = 120) -> Views:
        return self.split.train[:count]

    def mean_at(self, w: Places, label: int | None = None) -> Images:
        """The mean over training objects of their training view nearest to each place."""
        train = self.split.train
        apart = self.track.apart(np.asarray(w)[:, None, None], train.angles.numpy())  # [S, P, Q]
        apart[:, ~train.observed.numpy()] = np.inf
        rows = torch.arange(len(train))
        views = torch.from_numpy(apart.argmin(2))  # [S, P]
        return torch.stack([train.images[rows, each].mean(0) for each in views]).numpy()
