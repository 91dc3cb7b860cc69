"""A digit in a picture, or a figure of cubes, turned: a strip or a moving picture in a file."""

import io
import math
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from fgpvae import evaluation, figure_view, files, images, orientation
from fgpvae.checkpoints import load_pretrained
from fgpvae.configs import CUBES
from fgpvae.errors import UserError
from fgpvae.models import Model
from fgpvae.picture_scores import as_seen

MOST_IMAGES = 720  # in a strip or GIF
LARGEST_PICTURE = 2**26  # bytes
PICTURES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP", ".gif": "GIF"}


def rotate(what: str, name: str, angle: str | None, to: str, out: Path) -> dict[str, Any]:
    """Write what a model makes of a picture of a digit, or of the moves of a figure of cubes."""
    if out.suffix.lower() not in PICTURES:
        raise UserError(f"'{out.name}' must end in .png, .jpg, .jpeg, .webp or .gif.")
    model = load_pretrained(name)
    if model.config.network.shape != (1, 28, 28) and _of_cubes(name):
        frames, result = _figure(model, what, angle or "0", _angles(to), out)
    else:
        frames, result = _digit(model, Path(what), angle, _angles(to))
    if out.suffix.lower() == ".gif":
        content = images.to_gif(frames)
    else:
        content = _encoded(images.strip(frames), out)
    files.write(out, content)
    return result | {"images": len(frames), "out": str(out)}


def _of_cubes(name: str) -> bool:
    """A file of weights alone does not say what it was trained on."""
    return Path(name).suffix != ".safetensors" and evaluation.config_of(name).data.split == CUBES


def _digit(
    model: Model, picture: Path, angle: str | None, at: list[float]
) -> tuple[np.ndarray, dict[str, Any]]:
    """Frames [S, H, W] of the digit in a picture, and what was found in it."""
    if not (model.takes_new_digits and model.knows_angles):
        raise UserError(f"A {model.title} cannot turn a digit that it was not trained on.")
    if model.config.on_a_line or model.config.network.shape != (1, 28, 28):
        raise UserError("This model was trained on other objects than digits.")
    if angle is None and not model.tells_angle:
        raise UserError("This model cannot tell the angle of a picture; give it with --angle.")
    normalised = images.normalise(files.read(picture, LARGEST_PICTURE))
    result: dict[str, Any] = {"notes": list(normalised.notes)}
    if angle is None:
        belief = orientation.belief(model, normalised.digit)
        assert belief is not None
        radians = float(orientation.grid()[belief.argmax()])
        result["angle_inferred"] = True
    else:
        radians = math.radians(_number(angle))
    view = torch.from_numpy(as_seen(normalised.digit, radians))
    w = torch.tensor([[radians]], dtype=torch.float64)
    frames = model.generate(view[None, None], w, torch.tensor(at)[None])[0].numpy()
    return frames, result | {"angle": math.degrees(radians)}


def _figure(
    model: Model, moves: str, given: str, at: list[float], out: Path
) -> tuple[np.ndarray, dict[str, Any]]:
    """Frames of a figure, the truth above or, in what moves, to the left; and the error."""
    seen = figure_view.imagine(model, moves, _angles(given), np.array(at), possibilities=0)
    beside = 2 if out.suffix.lower() == ".gif" else 1
    frames = np.concatenate([seen.truth, seen.mean], beside)
    return frames, {
        "figure": seen.figure.moves,
        "given": np.degrees(seen.given).tolist(),
        "mse": float(seen.errors.mean()),
    }


def _encoded(picture: Image.Image, out: Path) -> bytes:
    buffer, suffix = io.BytesIO(), out.suffix.lower()
    try:
        picture.save(buffer, PICTURES[suffix])
    except (OSError, ValueError):
        raise UserError(
            f"A strip of {picture.width} pixels is too wide for {suffix}; ask for fewer angles or "
            "write a .png."
        ) from None
    return buffer.getvalue()


def _angles(text: str) -> list[float]:
    if text == "all":
        return list(np.linspace(0, 2 * math.pi, 60, endpoint=False))
    parts = text.split(",")
    if len(parts) > MOST_IMAGES:
        raise UserError(f"At most {MOST_IMAGES} angles can be asked for at a time.")
    return [math.radians(_number(part)) for part in parts]


def _number(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        raise UserError(f"'{text}' is not an angle in degrees.") from None
    if not math.isfinite(value):
        raise UserError(f"'{text}' is not an angle in degrees.")
    return value
