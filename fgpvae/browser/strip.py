"""Write predictions for a subject to a file, as a strip or a moving picture."""

import io
import math
from pathlib import Path
from typing import Any

import numpy as np

from fgpvae import files, images
from fgpvae.browser.imagined import imagine
from fgpvae.data.collections import Collection, Digits, PictureSubject, Subject
from fgpvae.errors import UserError, require
from fgpvae.evaluation.metrics import mse
from fgpvae.models import Model
from fgpvae.orientation import several_views
from fgpvae.orientation.picture_scores import as_seen
from fgpvae.runs.checkpoints import config_of, load_objects, load_pretrained
from fgpvae.training.batches import collection_of
from fgpvae.training.configs import OBJECTS

MOST_IMAGES = 720  # in a strip or GIF
LARGEST_PICTURE = 2**26  # bytes
PICTURES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP", ".gif": "GIF"}


def rotate(what: str, name: str, given: str | None, to: str, out: Path) -> dict[str, Any]:
    """Write predictions for a subject: the picture of a digit, the moves of cubes, or a film.

    `given` are the places of the given views, `to` those to predict, in the unit of the collection;
    the angle of a picture is inferred if it is not given.
    """
    suffix = out.suffix.lower()
    require(suffix in PICTURES, f"'{out}' must end in .png, .jpg, .jpeg, .webp or .gif.")
    model = load_pretrained(name)
    collection: Collection = Digits()
    if Path(name).suffix != ".safetensors":  # weights alone are of digits
        config = config_of(name)
        own = load_objects(Path(name)) if config.data.split == OBJECTS else None
        collection = collection_of(config.data, own, config.seed)
    able, one = model.takes_new_digits and model.knows_angles, collection.words.one
    require(able, f"A {model.title} cannot turn a {one} that is new to it.")
    subject: Subject
    if isinstance(collection, Digits):
        subject, result = _picture(model, Path(what), given)
        views = subject.first_views
    else:
        found = collection.find(what)
        if found is None:
            raise UserError(f"There is no {one} '{what[:60]}'.")
        subject, views, result = found, found.first_views, {}
        if given is not None:
            apart = collection.track.apart(_places(collection, given)[:, None], found.w)
            views = sorted(set(apart.argmin(1).tolist()))
    seen = imagine(model, subject, views)
    w = collection.track.grid(60) if to == "all" else _places(collection, to)
    frames, truth, gif = seen.images(w), subject.truth_at(w), suffix == ".gif"
    if truth is not None:
        result["mse"] = mse(frames, truth)
        frames = np.concatenate([truth, frames], 2 if gif else 1)
    if gif:
        content = images.to_gif(frames)
    else:
        picture, buffer = images.strip(frames), io.BytesIO()
        try:
            picture.save(buffer, PICTURES[suffix])
        except (OSError, ValueError):
            raise UserError(
                f"A strip of {picture.width} pixels is too wide for {suffix}; ask for fewer "
                "angles or write a .png."
            ) from None
        content = buffer.getvalue()
    files.write(out, content)
    shown = [round(float(v), 4) for v in np.asarray(collection.track.to_view(subject.w[views]))]
    return result | {"views": shown, "images": len(frames), "out": str(out)}


def _picture(
    model: Model, picture: Path, angle: str | None
) -> tuple[PictureSubject, dict[str, Any]]:
    """The digit in a picture as a subject, and notes on how it was read."""
    digits = not model.config.on_a_line and model.config.network.shape == (1, 28, 28)
    require(digits, "This model was trained on other objects than digits.")
    able = angle is not None or model.tells_angle
    require(able, "This model cannot tell the angle of a picture; give it with --angle.")
    data = files.read(picture, LARGEST_PICTURE)
    try:
        normalised = images.normalise(data)
    except UserError as error:
        raise UserError(f"'{picture}': {error}") from None
    if angle is None:
        radians = float(several_views.place(model, [normalised.digit], upright=True).angles[0])
    else:
        radians = math.radians(_numbers(angle)[0])
    view = as_seen(normalised.digit, radians)
    inferred = {"angle_inferred": True} if angle is None else {}
    found = {"notes": list(normalised.notes), "angle": math.degrees(radians), **inferred}
    return PictureSubject(picture.name, view[None], np.array([radians])), found


def _numbers(text: str) -> list[float]:
    """Parse comma-separated numbers."""
    try:
        values = [float(part) for part in text.split(",")]
    except ValueError:
        values = []
    good = 0 < len(values) <= MOST_IMAGES and all(map(math.isfinite, values))
    require(good, f"'{text[:60]}' is not a list of at most {MOST_IMAGES} finite numbers.")
    return values


def _places(collection: Collection, text: str) -> np.ndarray:
    """Parse places in the unit of the collection; on a line, those from end to end."""
    track, views = collection.track, np.array(_numbers(text))
    low, high = track.ends
    require(
        track.period or ((low <= views) & (views <= high)).all(),
        f"'{text[:60]}' is not all from {track.text(low)} to {track.text(high)}, where the "
        f"{collection.words.views} of this {collection.words.one} are.",
    )
    return np.asarray(track.to_w(views), dtype=np.float64)
