"""How likely each angle of a picture is, drawn around it."""

from html import escape

import numpy as np

from ui.components import pictures
from ui.shell import palette

INNER, LENGTH = 48, 38  # radius of the ring of beliefs, and of the likeliest angle beyond it


def belief_ring(belief: np.ndarray, image: np.ndarray, chosen: float) -> str:
    """A posterior [G] over the angle as petals around a picture; a dot where it is taken to be.

    Angles run as on the dial: counter-clockwise, from the top.
    """
    step = 2 * np.pi / len(belief)
    outer = INNER + LENGTH * belief / max(belief.max(), 1e-12)
    petals = []
    for index, (here, there) in enumerate(zip(outer, np.roll(outer, -1), strict=True)):
        if max(here, there) < INNER + 0.1:
            continue
        w, following = index * step, (index + 1) * step
        corners = (_at(INNER, w), _at(INNER, following), _at(there, following), _at(here, w))
        path = " ".join(f"{x:.2f},{y:.2f}" for x, y in corners)
        colour = palette.angle_colour(w + step / 2)
        petals.append(
            f'<polygon points="{path}" fill="{colour}" stroke="{colour}" stroke-width="0.4"/>'
        )
    x, y = _at(INNER - 4, chosen)
    degrees = np.rad2deg(chosen) % 360
    label = f"How likely each angle is; taken to be {degrees:.0f} degrees"
    return (
        f'<svg viewBox="-90 -90 180 180" role="img" aria-label="{escape(label)}">'
        '<clipPath id="disc"><circle r="38"/></clipPath><circle r="38" fill="#000"/>'
        f'<image href="{pictures.address(image, 4)}" x="-38" y="-38" width="76" height="76" '
        f'clip-path="url(#disc)"/><circle class="line faint" r="{INNER}" stroke-width="1"/>'
        f'{"".join(petals)}<circle class="ink" cx="{x:.2f}" cy="{y:.2f}" r="4.5"/></svg>'
    )


def _at(radius: float, w: float) -> tuple[float, float]:
    return -radius * float(np.sin(w)), -radius * float(np.cos(w))
