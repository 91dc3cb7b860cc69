"""One's own objects: images with an object and a real-valued view each, on a circle or a line.

They come as a NumPy archive with the arrays `images`, `object` and `view`, or as a folder of image
files with a table (CSV) of the columns file, object and view. A model sees the view as w: an angle
in radians where the views are periodic, from -1 to 1 over the range of the views on a line.
"""

import csv
import io
import math
import random
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from .. import files
from ..errors import UserError
from .views import Task, Views

LARGEST_SIDE = 64  # pixels
FEWEST_OBJECTS = 4
MOST_OBJECTS = 50_000
MOST_VIEWS = 512  # of one object
MOST_VALUES = 2**27  # pixel values, with every object as if it had as many views as the richest
LARGEST_ARCHIVE = 2 * MOST_VALUES  # bytes
LARGEST_IMAGE_FILE = 2**24  # bytes
LONGEST_NAME = 100
MOST_PERIODS = 1e6  # from 0 to a view: further away an angle has too few digits left
UNSEEN = 0.1  # share of the objects that nothing is trained on
HELD_OUT_SHARE = 0.15  # share of the views of a training object that are test images
TEST, EXTRAPOLATION, ONE_VIEW = "test_mse", "extrapolation_mse", "one_view_mse"

Array = np.ndarray


@dataclass(frozen=True)
class Track:
    """Where views lie: on a circle of the given period, or on a line from low to high."""

    period: float = 0.0  # 0 is a line
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        if not 0 <= self.period < math.inf:
            raise UserError(f"The period of the views must be positive, not {self.period:g}.")
        if not self.period and not -math.inf < self.low < self.high < math.inf:
            raise UserError("The views of a line must have a range: a lowest and a highest one.")

    @property
    def ends(self) -> tuple[float, float]:
        """The views between which a track is shown."""
        return (0.0, self.period) if self.period else (self.low, self.high)

    def to_w(self, view: Any) -> Any:
        """Views as a model sees them."""
        if self.period:
            return 2 * math.pi * (view / self.period)
        return 2 * (view - self.low) / (self.high - self.low) - 1

    def to_view(self, w: Any) -> Any:
        if self.period:
            return (w / (2 * math.pi)) % 1 * self.period
        return self.low + (w + 1) / 2 * (self.high - self.low)

    def apart(self, a: Any, b: Any) -> Any:
        """How far two w are from each other, arrays of any shape."""
        delta = np.abs(np.asarray(a) - np.asarray(b))
        return np.abs((delta + math.pi) % (2 * math.pi) - math.pi) if self.period else delta


@dataclass(frozen=True)
class Objects:
    """N images of P objects."""

    images: Array  # [N, H, W] or [N, H, W, 3] uint8
    index: Array  # [N] int64, of which object
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
        """Q, the views of the object that has most."""
        return max(map(len, self.by_object))

    @cached_property
    def by_object(self) -> list[list[int]]:
        """The images of each object, in the order of their views."""
        order = np.lexsort((self.view, self.index))
        ends = np.cumsum(np.bincount(self.index, minlength=len(self.names)))
        return [part.tolist() for part in np.split(order, ends[:-1])]


@dataclass(frozen=True)
class Split:
    """What is trained on, and what is asked afterwards."""

    train: Views
    tasks: dict[str, Task]  # by the name of its figure
    unseen: tuple[int, ...]  # objects that are not trained on
    held: frozenset[int]  # images that are not trained on though their object is


def load(path: str | Path) -> Objects:
    """From an archive or a folder."""
    path = Path(path)
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise UserError(f"There is no file or folder {files.named(path)}.")
    if path.suffix.lower() != ".npz":
        raise UserError(
            f"{files.named(path)} is neither a NumPy archive (.npz) nor a folder of images."
        )
    return parse(files.read(path, LARGEST_ARCHIVE), path.name)


def parse(content: bytes, name: str) -> Objects:
    """From the content of an archive; nothing is unpickled."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            found = {entry.filename for entry in archive.infolist()}
            missing = [c for c in ("images", "object", "view") if f"{c}.npy" not in found]
            if missing:
                raise UserError(
                    f"'{name}' has no array '{missing[0]}': it must have images, object and view."
                )
            images, owner, view = (_member(archive, c, name) for c in ("images", "object", "view"))
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError):
        raise UserError(f"'{name}' is damaged or not a NumPy archive.") from None
    return _checked(images, owner, view, name)


def pack(objects: Objects) -> bytes:
    """An archive that `parse` takes."""
    buffer = io.BytesIO()
    names = np.array(objects.names)
    np.savez_compressed(
        buffer, images=objects.images, object=names[objects.index], view=objects.view
    )
    return buffer.getvalue()


def _member(archive: zipfile.ZipFile, column: str, name: str) -> Array:
    """One array of an archive, whose header is not believed before it has been checked."""
    with archive.open(f"{column}.npy") as file:
        content = file.read(LARGEST_ARCHIVE + 1)
    if len(content) > LARGEST_ARCHIVE:
        raise UserError(f"'{column}' in '{name}' is too large.")
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }[version]
        shape, columns_first, dtype = read(stream)
    except Exception:  # whatever a header makes of its reader, it is none
        raise UserError(f"'{column}' in '{name}' is not a NumPy array.") from None
    sides = [type(side) is int and side >= 0 for side in shape]
    if not all(sides) or dtype.subdtype is not None or dtype.names is not None:
        raise UserError(f"'{column}' in '{name}' is damaged: it is no array of plain numbers.")
    if dtype.hasobject:
        raise UserError(
            f"'{column}' in '{name}' holds Python objects, which are not read: save it as plain "
            "numbers or text."
        )
    body = content[stream.tell() :]
    if dtype.itemsize == 0 or math.prod(shape) * dtype.itemsize != len(body):
        raise UserError(f"'{column}' in '{name}' is damaged: its size is not what it says.")
    flat = np.frombuffer(body, dtype=dtype)
    return flat.reshape(shape, order="F" if columns_first else "C")


def _folder(path: Path) -> Objects:
    name = path.name
    tables = sorted(path.glob("*.csv"))
    if len(tables) != 1:
        raise UserError(
            f"The folder '{name}' must hold one table (.csv) with the columns file, object and "
            f"view; it holds {len(tables)}."
        )
    try:
        text = files.read(tables[0], LARGEST_IMAGE_FILE).decode("utf-8-sig")
        table = list(csv.DictReader(io.StringIO(text), strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise UserError(f"'{tables[0].name}' is not a table in UTF-8 with commas.") from None
    if not table:
        raise UserError(f"'{tables[0].name}' has no rows.")
    for column in ("file", "object", "view"):
        if table[0].get(column) is None:
            raise UserError(
                f"'{tables[0].name}' has no column '{column}': it must have file, object and view."
            )
    if len(table) * LARGEST_SIDE > MOST_VALUES:
        raise UserError(f"'{tables[0].name}' has too many rows.")
    images, view = [], []
    for line, row in enumerate(table, start=2):
        if any(row[column] is None for column in ("file", "object", "view")):
            raise UserError(f"Line {line} of '{tables[0].name}' has too few columns.")
        try:
            view.append(float(row["view"]))
        except ValueError:
            raise UserError(
                f"Line {line} of '{tables[0].name}' has no number as its view."
            ) from None
        images.append(_picture(path, row["file"]))
        if images[-1].shape[:2] != images[0].shape[:2]:
            raise UserError(
                f"All images must have one size, but '{row['file']}' has {_sides(images[-1])} "
                f"pixels and '{table[0]['file']}' {_sides(images[0])}."
            )
    if all((image == image[..., :1]).all() for image in images):
        images = [image[..., 0] for image in images]
    owner = np.array([row["object"] for row in table])
    return _checked(np.stack(images), owner, np.array(view), name)


def _picture(folder: Path, file: str) -> Array:
    """An image of a folder, [H, W, 3]; what is transparent is black."""
    path = folder / file
    if not path.resolve().is_relative_to(folder.resolve()):
        raise UserError(f"'{file}' is not in the folder of its table.")
    content = files.read(path, LARGEST_IMAGE_FILE)
    try:
        with Image.open(io.BytesIO(content)) as picture:
            if max(picture.size) > LARGEST_SIDE:
                raise UserError(_too_large(picture.height, picture.width, f"'{file}' has"))
            colour = picture.convert("RGBA")
    except UserError:
        raise
    except Exception:  # the readers of images have errors of their own, and many
        raise UserError(f"'{file}' is damaged or not an image.") from None
    black = Image.new("RGBA", colour.size, (0, 0, 0, 255))
    return np.asarray(Image.alpha_composite(black, colour).convert("RGB"))


def _checked(images: Array, owner: Array, view: Array, name: str) -> Objects:
    images = _checked_images(images, name)
    N = len(images)
    for column, values in (("object", owner), ("view", view)):
        if values.shape != (N,):
            raise UserError(
                f"'{column}' in '{name}' must have one entry for each of the {N} images, not the "
                f"shape {list(values.shape)}."
            )
    if view.dtype.kind not in "fiu":
        raise UserError(f"'view' in '{name}' must be real numbers.")
    view = view.astype(np.float64)
    if not (np.isfinite(view).all() and (np.abs(view) <= 1e12).all()):
        raise UserError(f"A view in '{name}' is not a finite number below 1e12.")
    names, index = _identities(owner, name)
    if not FEWEST_OBJECTS <= len(names) <= MOST_OBJECTS:
        raise UserError(
            f"'{name}' has {len(names)} objects: from {FEWEST_OBJECTS} to {MOST_OBJECTS} are "
            "needed, some of which are kept for testing."
        )
    count = np.bincount(index)
    if count.max() > MOST_VIEWS:
        most = names[int(count.argmax())]
        raise UserError(
            f"Object '{most}' has {count.max()} views; at most {MOST_VIEWS} are allowed."
        )
    if count.max() == 1:
        raise UserError(f"Every object in '{name}' has a single view: there is nothing to learn.")
    if count.min() == 1:
        alone = names[int(count.argmin())]
        raise UserError(f"Object '{alone}' has a single view; give at least two of each object.")
    if len(names) * int(count.max()) * images[0].size > MOST_VALUES:
        raise UserError(
            f"'{name}' is too large: objects times views times pixels may be at most "
            f"{MOST_VALUES / 1e6:.0f} million."
        )
    return Objects(images, index, view, names)


def _checked_images(images: Array, name: str) -> Array:
    """As bytes [N, H, W] or [N, H, W, 3]."""
    if images.ndim == 4 and images.shape[-1] == 1:
        images = images[..., 0]
    if images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[-1] != 3):
        raise UserError(
            f"'images' in '{name}' must have the shape [N, height, width], or [N, height, width, "
            f"3] in colour, not {list(images.shape)}."
        )
    if not len(images):
        raise UserError(f"'{name}' has no images.")
    height, width = images.shape[1:3]
    if not min(height, width):
        raise UserError(f"The images in '{name}' have no pixels.")
    if max(height, width) > LARGEST_SIDE:
        raise UserError(_too_large(height, width, f"those in '{name}' have"))
    if images.dtype == np.uint8:
        return np.ascontiguousarray(images)
    if images.dtype.kind not in "bfiu":
        raise UserError(f"'images' in '{name}' must be numbers.")
    low, high = images.min(), images.max()
    if images.dtype.kind in "iu" and low >= 0 and high <= 255:
        return images.astype(np.uint8)
    if images.dtype.kind in "iu" or not (low >= 0 and high <= 1):  # so a NaN is refused as well
        raise UserError(
            f"'images' in '{name}' must be bytes from 0 to 255, or numbers from 0 to 1."
        )
    return np.rint(255 * images.astype(np.float64)).astype(np.uint8)


def _identities(owner: Array, name: str) -> tuple[tuple[str, ...], Array]:
    if owner.dtype.kind not in "iuUS":
        raise UserError(f"'object' in '{name}' must be whole numbers or text.")
    found, first, index = np.unique(owner, return_index=True, return_inverse=True)
    order = np.argsort(first)  # objects in the order in which they are met
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    names = []
    for value in found[order]:
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        if not text.strip() or len(text) > LONGEST_NAME or not text.isprintable():
            raise UserError(
                f"The name of an object in '{name}' is empty, longer than {LONGEST_NAME} letters "
                "or not printable."
            )
        names.append(text)
    return tuple(names), place[index.reshape(-1)]


def _sides(image: Array) -> str:
    return f"{image.shape[0]} x {image.shape[1]}"


def _too_large(height: int, width: int, what: str) -> str:
    return (
        f"Images may have at most {LARGEST_SIDE} x {LARGEST_SIDE} pixels, but {what} {height} x "
        f"{width}: make them smaller first."
    )


def pixels(objects: Objects, images: Iterable[int]) -> Array:
    """Some images in 0..1, [S, H, W] or [S, 3, H, W] float32, as a model takes them."""
    chosen = objects.images[list(images)].astype(np.float32) / np.float32(255)
    return chosen if chosen.ndim == 3 else chosen.transpose(0, 3, 1, 2)


def views(objects: Objects, track: Track, chosen: Mapping[int, Sequence[int]]) -> Views:
    """Views of objects, given as their numbers with the images of each."""
    images, w, observed = _gather(objects, track, list(chosen.values()))
    ids = torch.tensor(list(chosen), dtype=torch.int64)
    return Views(images, w, observed, ids, torch.zeros_like(ids))


def split(objects: Objects, track: Track, seed: int = 0) -> Split:
    """Some objects, and some views of the others, are kept for testing; the same ones every time.

    test_mse: held-out views of training objects, given their other views. extrapolation_mse:
    objects never trained on, half of whose views are given. one_view_mse: the same objects, of
    which only the view nearest to the middle of the track (on a circle, to 0) is given.
    """
    stream = random.Random(f"objects {seed}")
    P = len(objects.names)
    unseen = set(stream.sample(range(P), max(1, round(UNSEEN * P))))
    trained: dict[int, Sequence[int]] = {}
    held: dict[int, Sequence[int]] = {}
    some: dict[int, Sequence[int]] = {}
    one: dict[int, Sequence[int]] = {}
    for number, mine in enumerate(objects.by_object):
        if number in unseen:
            some[number] = sorted(stream.sample(mine, len(mine) // 2), key=mine.index)
            distance = track.apart(track.to_w(objects.view[mine]), 0.0)
            one[number] = [mine[int(distance.argmin())]]
            continue
        kept = max(1, round(HELD_OUT_SHARE * len(mine))) if len(mine) > 2 else 0
        if kept:
            held[number] = stream.sample(mine, kept)
        trained[number] = [i for i in mine if i not in held.get(number, ())]
    rest = {n: [i for i in objects.by_object[n] if i not in some[n]] for n in some}
    others = {n: [i for i in objects.by_object[n] if i not in one[n]] for n in one}
    tasks = {}
    if held:
        known = {n: trained[n] for n in held}
        tasks[TEST] = _task(objects, track, known, held)
    tasks[EXTRAPOLATION] = _task(objects, track, some, rest)
    tasks[ONE_VIEW] = _task(objects, track, one, others)
    images = frozenset(i for each in held.values() for i in each)
    return Split(views(objects, track, trained), tasks, tuple(sorted(unseen)), images)


def _task(
    objects: Objects,
    track: Track,
    context: Mapping[int, Sequence[int]],
    targets: Mapping[int, Sequence[int]],
) -> Task:
    images, at, asked = _gather(objects, track, [targets[number] for number in context])
    return Task(views(objects, track, context), images, at, asked)


def _gather(
    objects: Objects, track: Track, chosen: Sequence[Sequence[int]]
) -> tuple[Tensor, Tensor, Tensor]:
    """Images [P, S, H, W] (or [P, S, 3, H, W]), w [P, S] and which of them there are [P, S]."""
    P, S = len(chosen), max(map(len, chosen))
    channels, height, width = objects.shape
    size = (height, width) if channels == 1 else (channels, height, width)
    images = torch.zeros(P, S, *size)
    w = torch.zeros(P, S, dtype=torch.float64)
    there = torch.zeros(P, S, dtype=torch.bool)
    for row, mine in enumerate(chosen):
        n, mine = len(mine), list(mine)
        images[row, :n] = torch.from_numpy(pixels(objects, mine))
        w[row, :n] = torch.from_numpy(np.asarray(track.to_w(objects.view[mine])))
        there[row, :n] = True
    return images, w, there
