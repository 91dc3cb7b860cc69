"""A close-up of the user's picture: the digit in its own ink and light, rotated by any angle."""

import numpy as np
from PIL import Image

from fgpvae import images
from fgpvae.images import Box
from ui.components import pictures

SIDE = 192  # pixels of the visible part
ROOM = 280  # pixels of the stored part: more than the diagonal, so that it can be rotated


def of_digit(image: np.ndarray) -> Image.Image:
    """Enlarge an example [H, W]."""
    large = images.picture(image).resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    own = Image.new("L", (ROOM, ROOM))
    own.paste(large, ((ROOM - SIDE) // 2, (ROOM - SIDE) // 2))
    return own


def of_picture(picture: Image.Image, window: Box) -> Image.Image:
    """Cut out a digit with some room around it; the edge of the picture is continued."""
    sides = np.array(picture.size)
    low, high = np.reshape(window, (2, 2)) * sides  # [2] x and y in pixels
    scale = SIDE / (high - low).mean()
    corner = (low + high) / 2 - ROOM / 2 / scale
    first = np.clip(np.floor(corner), 0, sides - 1).astype(int)
    last = np.clip(np.ceil(corner + ROOM / scale), first + 1, sides).astype(int)
    size = np.maximum(1, np.rint(scale * (last - first))).astype(int)
    part = picture.convert("RGB").crop((*first, *last)).resize(size, Image.Resampling.BICUBIC)
    before = np.rint(scale * (first - corner)).clip(0).astype(int)
    after = (ROOM - before - size).clip(0)
    beyond = [(before[1], after[1]), (before[0], after[0]), (0, 0)]
    return Image.fromarray(np.pad(np.asarray(part), beyond, mode="edge")[:ROOM, :ROOM])


def address(own: Image.Image, degrees: float = 0.0, side: int = SIDE) -> str:
    """Return the data address of the picture, rotated back by the angle of its digit."""
    room = round(side * ROOM / SIDE)
    small = own.resize((room, room), Image.Resampling.BOX) if room < ROOM else own
    upright = small.rotate(-degrees, Image.Resampling.BICUBIC) if degrees else small
    low = (small.width - side) / 2
    return pictures.photo(upright.crop((low, low, low + side, low + side)), side)
