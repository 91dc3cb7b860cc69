"""The posterior over the angle of a picture, drawn around it."""

from html import escape

import numpy as np

from ui.shell import palette

DISC, INNER, LENGTH = 56, 66, 22  # radii of picture and ring; longest petal


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
