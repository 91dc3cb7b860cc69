"""The user's own objects from files, whose content is checked and never unpickled.

A NumPy archive with the arrays `images`, `object` and `view`, or a folder of image files with a
table (CSV) of the columns file, object and view.
"""

import csv
import io
import zipfile
from pathlib import Path

import numpy as np
from PIL import Image

from fgpvae import files

from ..errors import UserError, require
from .objects import Array, Objects

LARGEST_SIDE = 64  # pixels
FEWEST_OBJECTS = 4
MOST_OBJECTS = 50_000
MOST_VIEWS = 512  # of one object
MOST_VALUES = 2**27  # pixel values, if every object is padded to the largest number of views
LARGEST_ARCHIVE = 2 * MOST_VALUES  # bytes
LARGEST_IMAGE_FILE = 2**24  # bytes
LONGEST_NAME = 100
ARRAYS = ("images", "object", "view")  # of an archive
COLUMNS = ("file", "object", "view")  # of a table


def load(path: str | Path) -> Objects:
    """Load objects from an archive or a folder."""
    path, name = Path(path), files.as_given(Path(path))
    if path.is_dir():
        return _folder(path)
    require(path.exists(), f"There is no file or folder '{name}'.")
    archive = path.suffix.lower() == ".npz"
    require(archive, f"'{name}' is neither a NumPy archive (.npz) nor a folder of images.")
    return parse(files.read(path, LARGEST_ARCHIVE), name)


def parse(content: bytes, name: str) -> Objects:
    """Parse the content of an archive; nothing is unpickled."""
    arrays = []
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for column in ARRAYS:
                require(f"{column}.npy" in archive.namelist(), f"'{name}' has no array '{column}'.")
                with archive.open(f"{column}.npy") as file:
                    part = file.read(LARGEST_ARCHIVE + 1)
                require(len(part) <= LARGEST_ARCHIVE, f"'{column}' in '{name}' is too large.")
                try:
                    arrays.append(np.lib.format.read_array(io.BytesIO(part), allow_pickle=False))
                except Exception:  # a damaged header can raise any error
                    raise UserError(
                        f"'{column}' in '{name}' is damaged, or holds Python objects, which are "
                        "not read: save it as plain numbers or text."
                    ) from None
    except (zipfile.BadZipFile, OSError, EOFError, RuntimeError, NotImplementedError):
        raise UserError(f"'{name}' is damaged or not a NumPy archive.") from None
    images, owner, view = arrays
    return _checked(images, owner, view, name)


def pack(objects: Objects) -> bytes:
    """Pack objects into an archive that `parse` takes."""
    buffer, names = io.BytesIO(), np.array(objects.names)[objects.index]
    np.savez_compressed(buffer, images=objects.images, object=names, view=objects.view)
    return buffer.getvalue()


def _folder(path: Path) -> Objects:
    name, tables = files.as_given(path), sorted(path.glob("*.csv"))
    require(
        len(tables) == 1,
        f"The folder '{name}' must hold one table (.csv) with the columns file, object and "
        f"view; it holds {len(tables)}.",
    )
    table_name = files.as_given(tables[0])
    try:
        text = files.read(tables[0], LARGEST_IMAGE_FILE).decode("utf-8-sig")
        table = list(csv.DictReader(io.StringIO(text), strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise UserError(f"'{table_name}' is not a table in UTF-8 with commas.") from None
    some = 0 < len(table) <= MOST_VALUES // LARGEST_SIDE
    require(some, f"'{table_name}' has no rows, or too many.")
    images, view = [], []
    for line, row in enumerate(table, start=2):
        for column in COLUMNS:
            known = row.get(column) is not None
            require(known, f"Line {line} of '{table_name}' has no column '{column}'.")
        try:
            view.append(float(row["view"]))
        except ValueError:
            raise UserError(f"Line {line} of '{table_name}' has no number as its view.") from None
        images.append(_picture(path, row["file"]))
        same = images[-1].shape == images[0].shape
        sizes = f"that of '{row['file']}' is not that of '{table[0]['file']}'"
        require(same, f"All images must have one size: {sizes}.")
    if all((image == image[..., :1]).all() for image in images):
        images = [image[..., 0] for image in images]
    owner = np.array([row["object"] for row in table])
    return _checked(np.stack(images), owner, np.array(view), name)


def _picture(folder: Path, file: str) -> Array:
    """An image of a folder, [H, W, 3]; what is transparent is black."""
    path = folder / file
    inside = path.resolve().is_relative_to(folder.resolve())
    require(inside, f"'{file}' is not in the folder of its table.")
    content = files.read(path, LARGEST_IMAGE_FILE)
    try:
        with Image.open(io.BytesIO(content)) as picture:
            _check_size(picture.height, picture.width, f"'{file}' has")
            colour = picture.convert("RGBA")
    except UserError:
        raise
    except Exception:  # image readers raise many kinds of errors
        raise UserError(f"'{file}' is damaged or not an image.") from None
    black = Image.new("RGBA", colour.size, (0, 0, 0, 255))
    return np.asarray(Image.alpha_composite(black, colour).convert("RGB"))


def _checked(images: Array, owner: Array, view: Array, name: str) -> Objects:
    images = _checked_images(images, name)
    N = len(images)
    for column, values in (("object", owner), ("view", view)):
        shape = f"one entry for each of the {N} images, not the shape {list(values.shape)}"
        require(values.shape == (N,), f"'{column}' in '{name}' must have {shape}.")
    require(view.dtype.kind in "fiu", f"'view' in '{name}' must be real numbers.")
    view = view.astype(np.float64)
    finite = np.isfinite(view).all() and (np.abs(view) <= 1e12).all()
    require(finite, f"A view in '{name}' is not a finite number below 1e12.")
    require(owner.dtype.kind in "iuUS", f"'object' in '{name}' must be whole numbers or text.")
    values = owner.tolist()
    place = {value: index for index, value in enumerate(dict.fromkeys(values))}
    names = [v.decode("utf-8", "replace") if isinstance(v, bytes) else str(v) for v in place]
    require(
        all(text.strip() and len(text) <= LONGEST_NAME and text.isprintable() for text in names),
        f"The name of an object in '{name}' is empty, longer than {LONGEST_NAME} letters "
        "or not printable.",
    )
    require(
        FEWEST_OBJECTS <= len(names) <= MOST_OBJECTS,
        f"'{name}' has {len(names)} objects: from {FEWEST_OBJECTS} to {MOST_OBJECTS} are "
        "needed, some of which are held out for testing.",
    )
    index = np.array([place[value] for value in values])
    count = np.bincount(index)
    few, most = int(count.min()), int(count.max())
    many = f"Object '{names[count.argmax()]}' has {most} views; at most {MOST_VIEWS} are allowed."
    require(most <= MOST_VIEWS, many)
    alone = f"Object '{names[count.argmin()]}' has a single view; give at least two of each object."
    require(few > 1, alone)
    require(
        len(names) * most * images[0].size <= MOST_VALUES,
        f"'{name}' is too large: objects times views times pixels may be at most "
        f"{MOST_VALUES / 1e6:.0f} million.",
    )
    return Objects(images, index, view, tuple(names))


def _checked_images(images: Array, name: str) -> Array:
    """Convert images to bytes [N, H, W] or [N, H, W, 3]."""
    if images.ndim == 4 and images.shape[-1] == 1:
        images = images[..., 0]
    require(
        images.ndim in (3, 4) and images.shape[3:] in ((), (3,)) and 0 not in images.shape,
        f"'images' in '{name}' must have the shape [N, height, width], or [N, height, width, "
        f"3] in colour, not {list(images.shape)}.",
    )
    _check_size(images.shape[1], images.shape[2], f"those in '{name}' have")
    require(images.dtype.kind in "bfiu", f"'images' in '{name}' must be numbers.")
    whole = images.dtype.kind in "iu"
    within = images.min() >= 0 and images.max() <= (255 if whole else 1)  # also refuses NaN
    require(within, f"'images' in '{name}' must be bytes from 0 to 255, or numbers from 0 to 1.")
    if whole:
        return np.ascontiguousarray(images, dtype=np.uint8)
    return np.rint(255 * images.astype(np.float64)).astype(np.uint8)


def _check_size(height: int, width: int, what: str) -> None:
    require(
        max(height, width) <= LARGEST_SIDE,
        f"Images may have at most {LARGEST_SIDE} x {LARGEST_SIDE} pixels, but {what} {height} x "
        f"{width}: make them smaller first.",
    )
