"""Upright digits of MNIST: those of the package, and all of them from IDX files or OpenML."""

import gzip
import lzma
import math
import operator
import random
import struct
import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from itertools import islice
from pathlib import Path

import numpy as np

from ..errors import UserError, require

DIGITS_PER_CLASS = 400
TRAIN_DIGITS = 360  # per class; the other 40 are never trained on
UNSEEN_PER_CLASS = 50
# How many digits of each class 0..9 the MNIST training file has.
CLASS_COUNTS = (5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949)

_PIECE, _MAX_PIECES = 2**20, 200  # bytes of a piece, and the maximum number of pieces
_TRAIN_FILE = 60_000  # OpenML has the training file first, then the test file
_MAGIC = {2: 2051, 0: 2049}  # magic numbers of images and of labels


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


def unseen(classes: Iterable[int] = range(10), rows: slice = slice(None)) -> Digits:
    """The first 50 digits of each class of the MNIST test file; nothing is trained on them."""
    return _pick(_asset()[1][:, rows], check_classes(classes))


def recipe_ids(label: int, stream: random.Random | None = None) -> list[int]:
    """Indices in file order, within a class, of digits 0..399; advances the stream."""
    return (stream or random.Random(0)).sample(range(CLASS_COUNTS[label]), DIGITS_PER_CLASS)


def trainable(digits: Digits) -> Digits:
    """Without the digits that stay unseen: 360..399 of each class, and all of `unseen`."""
    training_file, test_file = _asset()
    kept = np.concatenate([training_file[:, TRAIN_DIGITS:], test_file], axis=1)
    held = {image.tobytes() for image in kept.reshape(-1, 28, 28)}
    pixels = np.rint(255 * digits.images).astype(np.uint8)
    return digits[np.array([image.tobytes() not in held for image in pixels], dtype=bool)]


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
    good = found and len(set(found)) == len(found) and all(0 <= label <= 9 for label in found)
    require(good, "Choose at least one class of digits from 0 to 9, and each only once.")
    return found


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


def load_idx(directory: str | Path, train: bool = True) -> Digits:
    """The digits of the training (or test) files in a directory of IDX files, plain or .gz."""
    directory = Path(directory)
    require(directory.is_dir(), f"There is no directory {directory}.")
    prefix = "train" if train else "t10k"
    images = _read(directory, f"{prefix}-images", (28, 28))
    labels = _read(directory, f"{prefix}-labels", ())
    counts = f"{len(images)} images but {len(labels)} labels"
    require(len(images) == len(labels), f"The files in {directory} disagree: {counts}.")
    require(labels.max() <= 9, f"The labels in {directory} are not digits from 0 to 9.")
    return Digits(images.astype(np.float32) / np.float32(255), labels.astype(np.int64))


def load_openml(train: bool = True) -> Digits:
    """Load the MNIST training (or test) file from openml.org; scikit-learn caches the download."""
    from sklearn.datasets import fetch_openml

    # explicit dtypes: half the memory, and pandas fails on numeric labels
    types = dict.fromkeys(range(28 * 28), np.float32) | {28 * 28: str}
    try:
        pixels, labels = fetch_openml(
            "mnist_784",
            version=1,
            return_X_y=True,
            as_frame=False,
            parser="pandas",
            read_csv_kwargs={"dtype": types},
            n_retries=1,
        )
        images = np.asarray(pixels, np.float32).reshape(-1, 28, 28)
        labels = np.array([str(label).strip("'") for label in labels]).astype(np.int64)
    except (OSError, ValueError, TypeError, EOFError, ImportError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"MNIST could not be fetched from openml.org ({reason}).") from error
    both = len(images) > _TRAIN_FILE
    require(both, f"openml.org has {len(images)} digits of MNIST instead of 70000.")
    part = slice(_TRAIN_FILE) if train else slice(_TRAIN_FILE, None)
    return Digits(images[part] / np.float32(255), labels[part])


def _read(directory: Path, kind: str, item: tuple[int, ...]) -> np.ndarray:
    """An IDX file of bytes, plain or compressed, as an array [P, *item]."""
    names = [f"{kind}{separator}idx{1 + len(item)}-ubyte" for separator in "-."]
    paths = [directory / f"{name}{suffix}" for name in names for suffix in ("", ".gz")]
    path = next(filter(Path.is_file, paths), None)
    if path is None:
        raise UserError(f"{directory} has no file {names[0]} (or .gz).")
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            # piece by piece, so that memory is bounded by the content, not by the header
            content = b"".join(islice(iter(lambda: file.read(_PIECE), b""), _MAX_PIECES))
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path} cannot be read; it is damaged or incomplete.") from error
    # magic number, count, and the size of an image, big-endian
    header = 4 * (2 + len(item))
    count = int.from_bytes(content[4:8])
    expected = struct.pack(f">{2 + len(item)}I", _MAGIC[len(item)], count, *item)
    what = "28 x 28 images" if item else "labels"
    require(content[:header] == expected, f"{path} is not an IDX file of {what}.")
    require(
        count and len(content) - header == count * math.prod(item),
        f"{path} is empty, truncated or longer than its header says: it announces {count} digits.",
    )
    return np.frombuffer(content, np.uint8, offset=header).reshape(count, *item)
