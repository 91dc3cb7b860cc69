"""Full MNIST, from IDX files or from OpenML."""

import gzip
import math
import struct
import zlib
from itertools import islice
from pathlib import Path

import numpy as np

from ..errors import UserError
from .digits import Digits

_PIECE, _MAX_PIECES = 2**20, 200  # bytes of a piece, and the maximum number of pieces
_TRAIN_FILE = 60_000  # OpenML has the training file first, then the test file
_MAGIC = {2: 2051, 0: 2049}  # magic numbers of images and of labels


def load_idx(directory: str | Path, train: bool = True) -> Digits:
    """The digits of the training (or test) files in a directory of IDX files, plain or .gz."""
    directory = Path(directory)
    if not directory.is_dir():
        raise UserError(f"There is no directory {directory}.")
    prefix = "train" if train else "t10k"
    images = _read(_find(directory, prefix, "images", 3), (28, 28))
    labels = _read(_find(directory, prefix, "labels", 1), ())
    if len(images) != len(labels):
        raise UserError(
            f"The files in {directory} disagree: {len(images)} images but {len(labels)} labels."
        )
    if labels.max() > 9:
        raise UserError(f"The labels in {directory} are not digits from 0 to 9.")
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
    if len(images) <= _TRAIN_FILE:
        raise UserError(f"openml.org has {len(images)} digits of MNIST instead of 70000.")
    part = slice(_TRAIN_FILE) if train else slice(_TRAIN_FILE, None)
    return Digits(images[part] / np.float32(255), labels[part])


def _find(directory: Path, prefix: str, kind: str, dimensions: int) -> Path:
    for separator in "-.":
        for suffix in ("", ".gz"):
            path = directory / f"{prefix}-{kind}{separator}idx{dimensions}-ubyte{suffix}"
            if path.is_file():
                return path
    raise UserError(f"{directory} has no file {prefix}-{kind}-idx{dimensions}-ubyte (or .gz).")


def _read(path: Path, item: tuple[int, ...]) -> np.ndarray:
    """An IDX file of bytes, plain or compressed, as an array [P, *item]."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
        with gzip.open(path) if packed else path.open("rb") as file:
            # piece by piece, so that memory is bounded by the content, not by the header
            pieces = iter(lambda: file.read(_PIECE), b"")
            content = b"".join(islice(pieces, _MAX_PIECES))
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path} cannot be read; it is damaged or incomplete.") from error
    # magic number, count, and the size of an image, big-endian
    header = 4 * (2 + len(item))
    count = int.from_bytes(content[4:8])
    expected = struct.pack(f">{2 + len(item)}I", _MAGIC[len(item)], count, *item)
    if content[:header] != expected:
        raise UserError(f"{path} is not an IDX file of {'28 x 28 images' if item else 'labels'}.")
    if not count or len(content) - header != count * math.prod(item):
        raise UserError(
            f"{path} is empty, truncated or longer than its header says: it announces {count} "
            "digits."
        )
    return np.frombuffer(content, np.uint8, offset=header).reshape(count, *item)
