"""The angles that the model finds: the picture put upright by each, to choose from."""

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st
from PIL import Image

from fgpvae.metrics import circular_error
from fgpvae.orientation import Mode
from ui.components.tiles import Tile, tiles
from ui.extrapolate import own_picture

POSSIBLE = 0.05  # share of the belief that makes an angle possible
SAME = np.deg2rad(4)
QUESTION = "Is this the right way up?"


def ask(modes: Sequence[Mode]) -> None:
    """Say that several angles are possible, where they are."""
    if sum(mode.share >= POSSIBLE for mode in modes) > 1:
        st.markdown(f"More than one angle is possible. **{QUESTION}**")


def offer(
    own: Image.Image,
    modes: Sequence[Mode],
    angle: float,
    *,
    key: str,
    on_pick: Callable[[float], None],
) -> None:
    """Show the picture upright by each angle; `on_pick` gets the degrees of one that is clicked.

    `angle` in radians is the one that is in use.
    """
    tiles(
        [_tile(own, mode, chosen=bool(circular_error(mode.angle, angle) < SAME)) for mode in modes],
        key=key,
        label="Angles that the model suggests",
        on_pick=lambda degrees: on_pick(float(degrees)),
        layout="choice",
    )


def _tile(own: Image.Image, mode: Mode, chosen: bool) -> Tile:
    degrees = round(float(np.rad2deg(mode.angle))) % 360
    share = f"{mode.share:.0%}" if mode.share >= 0.01 else "<1%"
    return Tile(
        name=str(degrees),
        image=own_picture.address(own, degrees, side=96),
        hint=f"Turned by {degrees}°: {share} likely",
        text=f"{degrees}° · {share}",
        selected=chosen,
    )
