"""Full MNIST, from IDX files or from OpenML."""

import gzip
import struct
import zlib
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from ..errors import UserError
from .digits import Digits

_MAX_DIGITS = 250_000  # a header that announces more is not believed
_TRAIN_FILE = 60_000  # OpenML has the training file first, then the test file
_MAGIC = {3: 2051, 1: 2049}


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
    """The MNIST training (or test) file from openml.org; scikit-learn keeps what it fetched."""
    from sklearn.datasets import fetch_openml

    # types of our own: half the memory, and labels that are numbers make pandas' reader fail
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
    """An IDX file of bytes as an array [P, *item]."""
    try:
        with path.open("rb") as file:
            packed = file.read(2) == b"\x1f\x8b"
            file.seek(0)
            return _parse(
                cast(BinaryIO, gzip.GzipFile(fileobj=file) if packed else file), path, item
            )
    except (OSError, EOFError, zlib.error) as error:
        raise UserError(f"{path} cannot be read; it is damaged or incomplete.") from error


def _parse(file: BinaryIO, path: Path, item: tuple[int, ...]) -> np.ndarray:
    dimensions = 1 + len(item)
    header = file.read(4 + 4 * dimensions)
    if len(header) < 4 + 4 * dimensions:
        raise UserError(f"{path} is too short for an IDX file.")
    magic, count, *size = struct.unpack(f">{1 + dimensions}I", header)
    if magic != _MAGIC[dimensions]:
        raise UserError(
            f"{path} is not the IDX file it should be: magic number {magic} instead of "
            f"{_MAGIC[dimensions]}."
        )
    if tuple(size) != item:
        raise UserError(f"{path} has images of {size[0]} x {size[1]} pixels instead of 28 x 28.")
    if not 1 <= count <= _MAX_DIGITS:
        raise UserError(f"{path} announces {count} digits; from 1 to {_MAX_DIGITS} are possible.")
    expected = count * int(np.prod(item, dtype=np.int64))
    body = _read_up_to(file, expected + 1)
    if len(body) != expected:
        state = "truncated" if len(body) < expected else "longer than its header says"
        raise UserError(f"{path} is {state}: it announces {count} digits.")
    return np.frombuffer(body, dtype=np.uint8).reshape(count, *item)


def _read_up_to(file: BinaryIO, limit: int) -> bytes:
    """At most `limit` bytes, piece by piece, so that memory follows the file's real content."""
    pieces, left = [], limit
    while left and (piece := file.read(min(left, 1 << 20))):
        pieces.append(piece)
        left -= len(piece)
    return b"".join(pieces)
