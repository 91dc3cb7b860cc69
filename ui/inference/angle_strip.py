"""The sixteen angles side by side, each with its colour; a click turns the dial there."""

from collections.abc import Callable, Iterable

import numpy as np

from fgpvae.data import ANGLES
from ui.components import dial
from ui.components.pictures import address
from ui.components.tiles import Tile, tiles
from ui.shell import palette

DEGREES = np.rad2deg(ANGLES).round(1)


def angle_strip(
    images: np.ndarray,
    *,
    key: str,
    angle: float,
    observed: Iterable[int] = (),
    held_out: Iterable[int] = (),
    held_out_text: str = "held out",
    move: Callable[[str, float], None] = dial.move,
) -> None:
    """Pictures [16, H, W] at the sixteen angles; a click moves the dial `key` there."""
    seen, hidden = set(observed), set(held_out)

    def state(index: int) -> str:
        return held_out_text if index in hidden else "observed" if index in seen else "imagined"

    shown = [
        Tile(
            str(index),
            address(image, 3),
            f"{degrees:g} degrees, {state(index)}",
            text=f"{degrees:g}°",
            colour=palette.angle_colour(ANGLES[index]),
            dot=index in seen,
            marked=index in hidden,
            selected=abs(degrees - angle) < 0.05,
        )
        for index, (image, degrees) in enumerate(zip(images, DEGREES.tolist(), strict=True))
    ]
    tiles(
        shown,
        key=f"{key}.strip",
        label="The digit at sixteen angles",
        layout="strip",
        on_pick=lambda name: move(key, float(DEGREES[int(name)])),
    )
