"""How likely each angle of a picture is, drawn around it."""

from html import escape

import numpy as np

from ui.shell import palette

DISC, INNER, LENGTH = 56, 66, 22  # radii of picture and ring; of the likeliest angle beyond it


def belief_ring(belief: np.ndarray | None, picture: str) -> str:
    """A posterior [G] over the angle as petals around a picture; none where there is no belief.

    Each petal is where the top of the digit would be: angles run as on the dial, counter-clockwise
    from the top of the picture as it came.
    """
    petals = [] if belief is None else _petals(belief)
    return (
        '<svg viewBox="-90 -90 180 180" aria-hidden="true">'
        f'<clipPath id="disc"><circle r="{DISC}"/></clipPath><circle r="{DISC}" fill="#000"/>'
        f'<image href="{escape(picture)}" x="-{DISC}" y="-{DISC}" '
        f'width="{2 * DISC}" height="{2 * DISC}" clip-path="url(#disc)"/>'
        f'<circle class="line" r="{INNER}"/>{"".join(petals)}</svg>'
    )


def _petals(belief: np.ndarray) -> list[str]:
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
    return petals


def _at(radius: float, w: float) -> tuple[float, float]:
    return -radius * float(np.sin(w)), -radius * float(np.cos(w))
