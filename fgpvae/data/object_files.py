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

from ..errors import UserError
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
    path = Path(path)
    if path.is_dir():
        return _folder(path)
    if not path.exists():
        raise UserError(f"There is no file or folder '{files.as_given(path)}'.")
    if path.suffix.lower() != ".npz":
        raise UserError(
            f"'{files.as_given(path)}' is neither a NumPy archive (.npz) nor a folder of images."
        )
    return parse(files.read(path, LARGEST_ARCHIVE), files.as_given(path))


def parse(content: bytes, name: str) -> Objects:
    """Parse the content of an archive; nothing is unpickled."""
    arrays = []
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for column in ARRAYS:
                if f"{column}.npy" not in archive.namelist():
                    raise UserError(f"'{name}' has no array '{column}'.")
                with archive.open(f"{column}.npy") as file:
                    part = file.read(LARGEST_ARCHIVE + 1)
                if len(part) > LARGEST_ARCHIVE:
                    raise UserError(f"'{column}' in '{name}' is too large.")
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
    buffer = io.BytesIO()
    names = np.array(objects.names)
    np.savez_compressed(
        buffer, images=objects.images, object=names[objects.index], view=objects.view
    )
    return buffer.getvalue()


def _folder(path: Path) -> Objects:
    name = files.as_given(path)
    tables = sorted(path.glob("*.csv"))
    if len(tables) != 1:
        raise UserError(
            f"The folder '{name}' must hold one table (.csv) with the columns file, object and "
            f"view; it holds {len(tables)}."
        )
    table_name = files.as_given(tables[0])
    try:
        text = files.read(tables[0], LARGEST_IMAGE_FILE).decode("utf-8-sig")
        table = list(csv.DictReader(io.StringIO(text), strict=True))
    except (UnicodeDecodeError, csv.Error):
        raise UserError(f"'{table_name}' is not a table in UTF-8 with commas.") from None
    if not 0 < len(table) <= MOST_VALUES // LARGEST_SIDE:
        raise UserError(f"'{table_name}' has no rows, or too many.")
    images, view = [], []
    for line, row in enumerate(table, start=2):
        for column in COLUMNS:
            if row.get(column) is None:
                raise UserError(f"Line {line} of '{table_name}' has no column '{column}'.")
        try:
            view.append(float(row["view"]))
        except ValueError:
            raise UserError(f"Line {line} of '{table_name}' has no number as its view.") from None
        images.append(_picture(path, row["file"]))
        if images[-1].shape != images[0].shape:
            raise UserError(
                f"All images must have one size: that of '{row['file']}' is not that of "
                f"'{table[0]['file']}'."
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
    except Exception:  # image readers raise many kinds of errors
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
            "needed, some of which are held out for testing."
        )
    count = np.bincount(index)
    if count.max() > MOST_VIEWS:
        most = names[int(count.argmax())]
        raise UserError(
            f"Object '{most}' has {count.max()} views; at most {MOST_VIEWS} are allowed."
        )
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
    """Convert images to bytes [N, H, W] or [N, H, W, 3]."""
    if images.ndim == 4 and images.shape[-1] == 1:
        images = images[..., 0]
    if images.ndim not in (3, 4) or images.shape[3:] not in ((), (3,)) or 0 in images.shape:
        raise UserError(
            f"'images' in '{name}' must have the shape [N, height, width], or [N, height, width, "
            f"3] in colour, not {list(images.shape)}."
        )
    height, width = images.shape[1:3]
    if max(height, width) > LARGEST_SIDE:
        raise UserError(_too_large(height, width, f"those in '{name}' have"))
    if images.dtype.kind not in "bfiu":
        raise UserError(f"'images' in '{name}' must be numbers.")
    whole = images.dtype.kind in "iu"
    if not (images.min() >= 0 and images.max() <= (255 if whole else 1)):  # also refuses NaN
        raise UserError(
            f"'images' in '{name}' must be bytes from 0 to 255, or numbers from 0 to 1."
        )
    if whole:
        return np.ascontiguousarray(images, dtype=np.uint8)
    return np.rint(255 * images.astype(np.float64)).astype(np.uint8)


def _identities(owner: Array, name: str) -> tuple[tuple[str, ...], Array]:
    if owner.dtype.kind not in "iuUS":
        raise UserError(f"'object' in '{name}' must be whole numbers or text.")
    values = owner.tolist()
    place = {value: index for index, value in enumerate(dict.fromkeys(values))}
    names = []
    for value in place:
        text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
        if not text.strip() or len(text) > LONGEST_NAME or not text.isprintable():
            raise UserError(
                f"The name of an object in '{name}' is empty, longer than {LONGEST_NAME} letters "
                "or not printable."
            )
        names.append(text)
    return tuple(names), np.array([place[value] for value in values])


def _too_large(height: int, width: int, what: str) -> str:
    return (
        f"Images may have at most {LARGEST_SIDE} x {LARGEST_SIDE} pixels, but {what} {height} x "
        f"{width}: make them smaller first."
    )
