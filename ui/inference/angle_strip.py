"""A digit or figure at many angles side by side, each with its colour; a click turns the dial."""

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
    angles: np.ndarray = ANGLES,
    observed: Iterable[int] = (),
    held_out: Iterable[int] = (),
    held_out_text: str = "held out",
    move: Callable[[str, float], None] = dial.move,
) -> None:
    """Pictures [S, H, W] at angles [S] radians; a click moves the dial `key` there."""
    every = np.rad2deg(angles).round(1).tolist()
    seen, hidden = set(observed), set(held_out)

    def state(index: int) -> str:
        return held_out_text if index in hidden else "observed" if index in seen else "imagined"

    shown = [
        Tile(
            str(index),
            address(image, 3),
            f"{degrees:g} degrees, {state(index)}",
            text=f"{degrees:g}°",
            colour=palette.angle_colour(angles[index]),
            dot=index in seen,
            marked=index in hidden,
            selected=abs(degrees - angle) < 0.05,
        )
        for index, (image, degrees) in enumerate(zip(images, every, strict=True))
    ]
    tiles(
        shown,
        key=f"{key}.strip",
        label=f"{len(every)} angles",
        layout="strip",
        on_pick=lambda name: move(key, every[int(name)]),
    )
