"""Every channel of one digit over the angle, as small multiples."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from fgpvae import latents
from fgpvae.data import ANGLES
from ui import charts
from ui.catalog import Choice
from ui.latents.codes import CHANNELS, DEGREES, encoded, strongest
from ui.shell import palette

FINE = np.linspace(0, 2 * np.pi, 121)
FARTHEST = 6.0  # that an axis goes
COLOUR = {"local": palette.LOCAL, "global": palette.GLOBAL, "joint": palette.TRUTH}
TURN = {"range": [0, 360], "tickvals": [0, 180, 360], "ticktext": ["0°", "180°", "360°"]}


def show(
    found: list[charts.Channel],
    given: np.ndarray,
    hues: Sequence[str],
    axis: dict[str, Any],
    unit: str,
    key: str,
) -> None:
    """Channels in one chart, four in a row, or two on a phone."""
    columns = 2 if charts.phone() else 4
    names = ", ".join(each.name for each in found)
    charts.show(
        partial(charts.channels, found, given, hues, columns, axis, unit),
        key,
        charts.channels_height(len(found), columns),
        f"Channels over the view, with estimates of {len(given)} views: {names}",
    )


def block_channels(
    block: str,
    start: int,
    few: list[int],
    x: np.ndarray,
    curves: latents.Curves | None,
    at: np.ndarray,
    mu: np.ndarray,
    sd: np.ndarray,
) -> list[charts.Channel]:
    """Channels of a block, which starts at channel `start`, on axes of one range."""
    inside = [np.abs(mu[:, few]) + 2 * sd[:, few]]
    if curves is not None:
        inside.append(np.abs(curves.mean[:, few]) + 2 * curves.sd[:, few])
    reach = min(max(float(each.max(initial=0.5)) for each in inside), FARTHEST)
    return [
        charts.Channel(
            f"{channel + 1}" if block == "joint" else f"{block} {channel - start + 1}",
            COLOUR[block],
            x,
            None if curves is None else curves.mean[:, channel],
            None if curves is None else curves.sd[:, channel],
            at,
            mu[:, channel],
            sd[:, channel],
            float(np.ceil(reach * 2) / 2),
        )
        for channel in few
    ]


def channel_panels(choice: Choice, digit: int, given: np.ndarray) -> None:
    """Every local channel, and the strongest global ones, over the angle."""
    model, found = choice.load(), encoded(choice)
    mu, var = found.mu[digit], found.var[digit]
    curves = latents.curves(model, mu, var, given, FINE) if "local" in model.blocks else None
    every: list[charts.Channel] = []
    for block, part in found.blocks.items():
        numbers = list(range(part.start, part.stop))
        few = numbers if block == "local" else numbers[:CHANNELS]
        if block == "global" and curves is not None:
            few = strongest(choice)[:CHANNELS]
        if len(few) < len(numbers):
            st.caption(f"{len(few)} of the {len(numbers)} {block} channels")
        x = np.rad2deg(FINE)
        every += block_channels(block, part.start, few, x, curves, DEGREES, mu, np.sqrt(var))
    show(every, given, palette.angle_colours(ANGLES), TURN, "°", "latents.panels")
