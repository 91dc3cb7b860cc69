"""Upright digits, and those that come with the package."""

import lzma
import operator
import random
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files

import numpy as np

from ..errors import UserError

DIGITS_PER_CLASS = 400
TRAIN_DIGITS = 360  # per class; the other 40 are never trained on
UNSEEN_PER_CLASS = 50
# How many digits of each class 0..9 the MNIST training file has.
CLASS_COUNTS = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)


@dataclass(frozen=True)
class Digits:
    """P upright digits."""

    images: np.ndarray  # [P, 28, 28] float32 in [0, 1]
    labels: np.ndarray  # [P] int64

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, index: slice | list[int] | np.ndarray) -> "Digits":
        """Some of the digits: a slice, a list or an array of row numbers, or a mask."""
        return Digits(self.images[index], self.labels[index])


def embedded(classes: Iterable[int] = (3,), rows: slice = slice(None)) -> Digits:
    """The 400 digits of each class, or some rows of these; the threes are the benchmark's."""
    return _pick(_asset()[0][:, rows], check_classes(classes))


def unseen(classes: Iterable[int] = range(10)) -> Digits:
    """The first 50 digits of each class of the MNIST test file; nothing is trained on them."""
    return _pick(_asset()[1], check_classes(classes))


def recipe_ids(label: int, stream: random.Random | None = None) -> list[int]:
    """Indices in file order, within a class, of digits 0..399; advances the stream."""
    stream = stream or random.Random(0)
    return stream.sample(range(CLASS_COUNTS[label]), DIGITS_PER_CLASS)


def trainable(digits: Digits) -> Digits:
    """Without the digits that stay unseen: 360..399 of each class, and all of `unseen`."""
    pixels = np.rint(255 * digits.images).astype(np.uint8)
    free = [image.tobytes() not in _never_trained() for image in pixels]
    return digits[np.array(free, dtype=bool)]


def other_than_unseen(digits: Digits, classes: Iterable[int], each: int) -> Digits:
    """The first `each` digits of every class that do not come with the package."""
    free = trainable(digits)
    rows = [np.flatnonzero(free.labels == label)[:each] for label in check_classes(classes)]
    return free[np.concatenate(rows)]


def check_classes(classes: Iterable[int]) -> tuple[int, ...]:
    """The classes as a tuple, or a UserError."""
    try:
        found = tuple(operator.index(label) for label in classes)
    except TypeError:
        found = ()
    if not found or len(set(found)) < len(found) or not all(0 <= label <= 9 for label in found):
        raise UserError("Choose at least one class of digits from 0 to 9, and each only once.")
    return found


@lru_cache(maxsize=1)
def _never_trained() -> frozenset[bytes]:
    training_file, test_file = _asset()
    kept = np.concatenate([training_file[:, TRAIN_DIGITS:], test_file], axis=1)
    return frozenset(image.tobytes() for image in kept.reshape(-1, 28, 28))


def _pick(pixels: np.ndarray, classes: tuple[int, ...]) -> Digits:
    images = pixels[list(classes)].reshape(-1, 28, 28)  # [P, 28, 28] uint8
    labels = np.repeat(np.array(classes, dtype=np.int64), pixels.shape[1])
    return Digits(images.astype(np.float32) / np.float32(255), labels)


@lru_cache(maxsize=1)
def _asset() -> tuple[np.ndarray, np.ndarray]:
    """The embedded digits [10, 400, 28, 28] and unseen ones [10, 50, 28, 28], uint8."""
    path = files("fgpvae") / "assets" / "digits.xz"
    try:
        raw = lzma.decompress(path.read_bytes())
    except (OSError, lzma.LZMAError) as error:
        message = "The digits that belong to the package are missing or damaged; reinstall it."
        raise UserError(message) from error
    pixels = np.frombuffer(raw, dtype=np.uint8)
    training_file, test_file = np.split(pixels, [10 * DIGITS_PER_CLASS * 28 * 28])
    return training_file.reshape(10, -1, 28, 28), test_file.reshape(10, -1, 28, 28)
