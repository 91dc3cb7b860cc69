"""Handwritten digits that turn, of MNIST and of pictures that were uploaded."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from .mnist import DIGITS_PER_CLASS, TRAIN_DIGITS, UNSEEN_PER_CLASS, embedded, unseen
from .rotation import ANGLES, HELD_OUT_INDEX, rotate
from .subjects import MEAN, Collection, Images, Places, Subject, Words, nearest
from .track import Track
from .views import Views

NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
PLAIN = {0: 3, 1: 2, 2: 27, 3: 2, 4: 4, 5: 18, 6: 11, 7: 30, 8: 4, 9: 8}  # easy to recognise
# all views, each in a gap between earlier ones
SPREAD = (0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15)
ROTATION = "geometric rotation"
TRACK = Track(360.0)


class Digit(Subject):
    """Digit `number` of a class, of the MNIST test file or of the embedded digits."""

    w = ANGLES

    def __init__(self, label: int, number: int, test: bool, new: bool | None, row: int) -> None:
        id = f"{'new-' if test else ''}{label}-{number}"
        super().__init__(id, NAMES[label], label, new, row, (HELD_OUT_INDEX,))
        self.label: int = label
        self.number, self.test = number, test

    @cached_property
    def images(self) -> Images:
        return self.truth_at(ANGLES)

    @property
    def thumbnail(self) -> Images:
        digits = unseen if self.test else embedded
        return digits((self.label,), slice(self.number, self.number + 1)).images[0]

    @property
    def order(self) -> list[int]:
        return [view for view in SPREAD if view != HELD_OUT_INDEX]

    def truth_at(self, w: Places) -> Images:
        return rotate(self.thumbnail[None], w)[0]


class PictureSubject(Subject):
    """Views [Q, 28, 28] at angles [Q] radians, and rotated copies of the first one.

    View 0 is the first picture, views 1 to 15 are copies of it, each rotated by 22.5 degrees more,
    and views from 16 on are the other pictures. So the meaning of an index does not depend on their
    number.
    """

    def __init__(self, id: str, images: Images, angles: Places, label: int | None = None) -> None:
        super().__init__(id, "digit" if label is None else NAMES[label], label)
        self.own_images, self.own_angles = images, angles

    @cached_property
    def images(self) -> Images:
        copies = rotate(self.own_images[:1], ANGLES[1:])[0]
        return np.concatenate([self.own_images[:1], copies, self.own_images[1:]]).astype(np.float32)

    @cached_property
    def w(self) -> Places:
        return np.concatenate([self.own_angles[0] + ANGLES, self.own_angles[1:]]) % (2 * np.pi)

    @property
    def first_views(self) -> list[int]:
        """The pictures themselves, without the copies."""
        return [0, *range(len(ANGLES), len(self.w))]

    @property
    def order(self) -> list[int]:
        return [*self.first_views, *SPREAD[1:]]


@dataclass(frozen=True)
class Digits(Collection):
    """Digits of some classes, of which a model was trained on the first `trained` of each."""

    classes: tuple[int, ...] = tuple(range(10))
    trained: int = TRAIN_DIGITS
    unsure: bool = False  # whether it was trained on the others is unknown

    name = "digits"
    group = "Digits"
    fills_disc = True
    track = TRACK
    words = Words("digit", "digits", "angle", "views", "Rotate a digit", "Turn a digit of your own")

    def subjects(self, new: bool, label: int | None = None) -> Sequence[Digit]:
        count = UNSEEN_PER_CLASS if new else self.trained
        labels = self.classes if label is None else (label,)
        return [self.digit(each, number, new) for each in labels for number in range(count)]

    def digit(self, label: int, number: int, test: bool = True) -> Digit:
        """One digit, of the MNIST test file or not, with whether the model was trained on it."""
        if test or label not in self.classes or number >= self.trained:
            return Digit(label, number, test, True, -1)
        row = self.classes.index(label) * DIGITS_PER_CLASS + number
        return Digit(label, number, test, None if self.unsure else False, row)

    def find(self, text: str) -> Digit | None:
        new = text.startswith("new-")
        label, _, number = text.removeprefix("new-").partition("-")
        if not (label.isdecimal() and number.isdecimal() and len(label) == 1 and len(number) < 4):
            return None
        count = UNSEEN_PER_CLASS if new else DIGITS_PER_CLASS
        return self.digit(int(label), int(number), new) if int(number) < count else None

    def first(self, label: int | None = None) -> Digit:
        if label not in self.classes:
            label = 3 if 3 in self.classes else self.classes[0]
        return self.digit(label, PLAIN[label])

    def training_views(self, label: int | None = None, count: int = TRAIN_DIGITS) -> Views:
        classes = self.classes if label not in self.classes else (label,)
        each = min(max(count // len(classes), 1), TRAIN_DIGITS)
        digits = embedded(classes, slice(each))
        turned = np.stack([np.rot90(digits.images, k, (1, 2)) for k in range(4)], 1)
        w, labels = torch.from_numpy(ANGLES[::4]), torch.from_numpy(digits.labels)
        return Views.complete(torch.from_numpy(turned), w, labels=labels)

    def mean_at(self, w: Places, label: int | None = None) -> Images:
        labels = self.classes if label is None else (label,)
        mean = np.mean([_mean(each) for each in labels], axis=0)
        return rotate(mean[None].astype(np.float32), w)[0]  # a rotation is linear

    def swapped(self, a: Subject, b: Subject, w: Places) -> Images | None:
        return a.truth_at(w)  # B is at the angle itself

    def references(
        self, subject: Subject, observed: NDArray[np.bool_], w: Places
    ) -> dict[str, Images]:
        """The nearest view, rotated as a picture, and the mean image."""
        return {ROTATION: rotated(subject, observed, w), MEAN: self.mean_at(w, subject.label)}


def rotated(subject: Subject, observed: NDArray[np.bool_], w: Places) -> Images:
    """The observed view nearest to each angle [S], rotated as a picture to it: [S, H, W]."""
    chosen = nearest(TRACK, subject, observed, w)
    turned = np.empty((len(w), *subject.images.shape[1:]), np.float32)
    for view in set(chosen.tolist()):
        here = chosen == view
        turned[here] = rotate(subject.images[[view]], w[here] - subject.w[view])[0]
    return turned


@cache
def _mean(label: int) -> Images:
    return embedded((label,), slice(TRAIN_DIGITS)).images.mean(0)
