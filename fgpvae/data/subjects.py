"""Subjects, which have views along one coordinate, and collections of subjects."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from .track import Track
from .views import Views

Images = NDArray[np.float32]
Places = NDArray[np.float64]

NEAREST, MEAN = "nearest view", "mean image"


@dataclass(frozen=True)
class Words:
    """Words for the subjects of a collection and their coordinate."""

    one: str  # "digit"
    many: str  # "digits"
    place: str  # "angle"
    views: str  # "views"
    title: str  # title of the page Rotate: "Rotate a digit"
    bring: str  # title of the page Extrapolate: "Turn a digit of your own"


@dataclass(eq=False)
class Subject(ABC):
    """A digit that turns, a cube figure, an own object or a film: views along one coordinate."""

    id: str  # id in links
    name: str  # "three"
    label: int | None = None  # class, None without classes
    new: bool | None = True  # False: a model was trained on it; None: unknown
    row: int = -1  # row in the training set, for models that take no new subjects
    held_out: Sequence[int] = ()  # indices of views that are never observed

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Subject) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    @abstractmethod
    def images(self) -> Images:
        """Its views, [Q, H, W], or [Q, 3, H, W] in colour."""

    @property
    @abstractmethod
    def w(self) -> Places:
        """Coordinates of these views, [Q]."""

    def truth_at(self, w: Places) -> Images | None:
        """True views at places [S], [S, H, W]; None if only `images` are known."""
        return None

    def process(self, w: Places) -> Places | None:
        """The true random process at places [S], [S, 2]; None if there is none."""
        return None

    @property
    def thumbnail(self) -> Images:
        """One view [H, W] that identifies it in a gallery."""
        return self.images[0]

    @property
    def first_views(self) -> list[int]:
        """The views that are observed at first."""
        return self.order[:8]

    @property
    def order(self) -> list[int]:
        """Indices of views that may be observed, each far from those before it."""
        rest = [view for view in range(len(self.w)) if view not in set(self.held_out)]
        found = [rest.pop(0)]
        while rest:
            gaps = [min(abs(view - other) for other in found) for view in rest]
            found.append(rest.pop(int(np.argmax(gaps))))
        return found


class Collection(ABC):
    """Subjects of one kind, all with the same track and shape of image."""

    name: str  # "digits"
    group: str  # entry of the switch on pages: "Digits", "Objects" or "Films"
    words: Words
    track: Track
    classes: tuple[int, ...] = ()  # classes of its subjects; empty if there are none
    fills_disc = False  # whether the corners of pictures are empty
    ambiguous = False  # whether posterior samples differ visibly

    @abstractmethod
    def subjects(self, new: bool, label: int | None = None) -> Sequence[Subject]:
        """Subjects to choose from, of one class or all: new ones or training ones."""

    @abstractmethod
    def find(self, text: str) -> Subject | None:
        """The subject with this id, as in links; None if there is none."""

    @abstractmethod
    def training_views(self, label: int | None = None, count: int = 120) -> Views:
        """Training subjects, of one class or all, to which style sliders are fitted."""

    @abstractmethod
    def mean_at(self, w: Places, label: int | None = None) -> Images:
        """The mean of training subjects at places [S], [S, H, W]."""

    def first(self, label: int | None = None) -> Subject:
        """The subject that a page starts with."""
        return self.subjects(True, label)[0]

    def references(
        self, subject: Subject, observed: NDArray[np.bool_], w: Places
    ) -> dict[str, Images]:
        """Predictions without a model at places [S]: {name: [S, H, W]}."""
        return {
            NEAREST: subject.images[nearest(self.track, subject, observed, w)],
            MEAN: self.mean_at(w, subject.label),
        }

    def swapped(self, a: Subject, b: Subject, w: Places) -> Images | None:
        """True pictures of A that moves like B, at places [S]; None if unknown."""
        return None


def views_of(subjects: Sequence[Subject]) -> Views:
    """The views of subjects with equally many views, as model input."""
    images = torch.stack([torch.as_tensor(each.images) for each in subjects])
    w = torch.stack([torch.as_tensor(each.w) for each in subjects])
    labels = torch.tensor([each.label or 0 for each in subjects])
    return Views.complete(images, w, torch.tensor([each.row for each in subjects]), labels)


def nearest(
    track: Track, subject: Subject, observed: NDArray[np.bool_], w: Places
) -> NDArray[np.int64]:
    """Which observed view is nearest to each place [S], [S]."""
    given = np.flatnonzero(observed)
    return given[np.asarray(track.apart(np.asarray(w)[:, None], subject.w[given])).argmin(1)]
