"""A close-up of the user's picture in its own ink and light, and the ring of angles around it."""

from html import escape

import numpy as np
from PIL import Image

from fgpvae.images import Box
from ui.components import pictures
from ui.shell import palette

SIDE = 192  # pixels of the visible part
ROOM = 280  # pixels of the stored part: more than the diagonal, so that it can be rotated
DISC, INNER, LENGTH = 56, 66, 22  # radii of picture and ring; longest petal


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


def belief_ring(belief: np.ndarray | None, picture: str) -> str:
    """A posterior [G] over the angle as petals around a picture; no petals without a posterior.

    Each petal is where the top of the digit would be: angles run as on the dial, counter-clockwise
    from the top of the picture as it came.
    """
    lengths = np.zeros(0) if belief is None else LENGTH * belief / belief.max()
    petals = "".join(
        f'<rect class="petal" x="-1.5" y="{-INNER - length:.1f}" width="3" height="{length:.1f}" '
        f'fill="{palette.angle_colour(np.deg2rad(degrees))}" transform="rotate({-degrees:g})"/>'
        for degrees, length in zip(np.linspace(0, 360, len(lengths), False), lengths, strict=True)
        if length > 0.1
    )
    return (
        '<svg viewBox="-90 -90 180 180" aria-hidden="true">'
        f'<clipPath id="disc"><circle r="{DISC}"/></clipPath><circle r="{DISC}" fill="#000"/>'
        f'<image href="{escape(picture)}" x="-{DISC}" y="-{DISC}" '
        f'width="{2 * DISC}" height="{2 * DISC}" clip-path="url(#disc)"/>'
        f'<circle class="line" r="{INNER}"/>{petals}</svg>'
    )
