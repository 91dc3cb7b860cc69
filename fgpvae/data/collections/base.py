"""Subjects, which have views along one coordinate, and collections of subjects."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from ..track import Track
from ..views import Views

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
    title: str  # of the page that shows one: "Rotate a digit"
    bring: str  # of the page for one's own: "Turn a digit of your own"


class Subject(ABC):
    """A digit that turns, a cube figure, an own object or a film: views along one coordinate.

    Subjects of one collection are equal if their ids are.
    """

    def __init__(
        self,
        id: str,  # as in links
        name: str,  # as people call it: "three"
        label: int | None = None,  # its class, where there are classes
        new: bool | None = True,  # False where a model was trained on it, None where nobody knows
        row: int = -1,  # its number in the training set, for models that know no other subjects
        held_out: Sequence[int] = (),  # views that are never observed
    ) -> None:
        self.id, self.name, self.label, self.new = id, name, label, new
        self.row, self.held_out = row, held_out

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Subject) and other.id == self.id

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    @abstractmethod
    def images(self) -> Images:
        """The views that it has, [Q, H, W], or [Q, 3, H, W] in colour."""

    @property
    @abstractmethod
    def w(self) -> Places:
        """Where these views are on its track, [Q]."""

    def truth_at(self, w: Places) -> Images | None:
        """True views at any places [S], [S, H, W]; None where only `images` are known."""
        return None

    def process(self, w: Places) -> Places | None:
        """The random process that it follows, at places [S]: [S, 2]; None where there is none."""
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
        """Views that may be observed, each as far as possible from those before it."""
        rest = [view for view in range(len(self.w)) if view not in set(self.held_out)]
        found = [rest.pop(0)]
        while rest:
            gaps = [min(abs(view - other) for other in found) for view in rest]
            found.append(rest.pop(int(np.argmax(gaps))))
        return found


class Collection(ABC):
    """Subjects of one kind, all with the same track and shape of image."""

    name: str  # "digits"
    group: str  # of the switch on top of a page: "Digits", "Objects" or "Films"
    words: Words
    track: Track
    classes: tuple[int, ...] = ()  # of its subjects; empty where there are none
    fills_disc = False  # do pictures have nothing in their corners?
    ambiguous = False  # do posterior samples differ visibly?

    @abstractmethod
    def subjects(self, new: bool, label: int | None = None) -> Sequence[Subject]:
        """Subjects to choose from, of one class or all: those never trained on, or the others."""

    @abstractmethod
    def find(self, text: str) -> Subject | None:
        """The subject of a link; None if there is none."""

    @abstractmethod
    def training_views(self, label: int | None = None, count: int = 120) -> Views:
        """Training subjects, of one class or all, to learn the meaning of styles from."""

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
        """True pictures of A moving like B at places [S]; None where they are not known."""
        return None


def views_of(subjects: Sequence[Subject]) -> Views:
    """Subjects with equally many views, as a model takes them."""
    images = torch.stack([torch.as_tensor(each.images) for each in subjects])
    w = torch.stack([torch.as_tensor(each.w) for each in subjects])
    labels = torch.tensor([each.label or 0 for each in subjects])
    rows = torch.tensor([each.row for each in subjects])
    return Views.complete(images, w, rows, labels)


def nearest(
    track: Track, subject: Subject, observed: NDArray[np.bool_], w: Places
) -> NDArray[np.int64]:
    """Which observed view is nearest to each place [S], [S]."""
    given = np.flatnonzero(observed)
    return given[np.asarray(track.apart(np.asarray(w)[:, None], subject.w[given])).argmin(1)]
