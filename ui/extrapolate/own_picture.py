"""A close-up of the user's picture in its own ink and light, and the ring of angles around it."""

from html import escape

import numpy as np
from PIL import Image

from fgpvae import images
from fgpvae.images import Box
from ui.components import pictures
from ui.shell import palette

SIDE = 192  # pixels of the visible part
ROOM = 280  # pixels of the stored part: more than the diagonal, so that it can be rotated
DISC, INNER, LENGTH = 56, 66, 22  # radii of picture and ring; longest petal


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


def belief_ring(belief: np.ndarray | None, picture: str) -> str:
    """A posterior [G] over the angle as petals around a picture; no petals without a posterior.

    Each petal is where the top of the digit would be: angles run as on the dial, counter-clockwise
    from the top of the picture as it came.
    """
    petals = "" if belief is None else "".join(_petals(belief))
    return (
        '<svg viewBox="-90 -90 180 180" aria-hidden="true">'
        f'<clipPath id="disc"><circle r="{DISC}"/></clipPath><circle r="{DISC}" fill="#000"/>'
        f'<image href="{escape(picture)}" x="-{DISC}" y="-{DISC}" '
        f'width="{2 * DISC}" height="{2 * DISC}" clip-path="url(#disc)"/>'
        f'<circle class="line" r="{INNER}"/>{petals}</svg>'
    )


def _petals(belief: np.ndarray) -> list[str]:
    w = np.linspace(0, 2 * np.pi, len(belief) + 1)
    inner = np.full(len(w), INNER)
    outer = INNER + LENGTH * np.append(belief, belief[0]) / max(belief.max(), 1e-12)
    radii = np.stack([inner[:-1], inner[1:], outer[1:], outer[:-1]], 1)  # [G, 4] of the corners
    angles = np.stack([w[:-1], w[1:], w[1:], w[:-1]], 1)
    petals = []
    for radius, angle in zip(radii, angles, strict=True):
        if radius.max() > INNER + 0.1:
            corners = np.stack([-radius * np.sin(angle), -radius * np.cos(angle)], 1)
            path = " ".join(f"{x:.2f},{y:.2f}" for x, y in corners)
            paint = f'"{palette.angle_colour(angle[:2].mean())}"'
            petals.append(
                f'<polygon points="{path}" fill={paint} stroke={paint} stroke-width="0.4"/>'
            )
    return petals
