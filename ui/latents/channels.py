"""Every channel of one digit over the angle, as small multiples."""

import numpy as np
import streamlit as st

from fgpvae import latents
from ui.catalog import Choice
from ui.charts import figures
from ui.latents.codes import CHANNELS, DEGREES, encoded, strongest
from ui.shell import palette

FINE = np.linspace(0, 2 * np.pi, 121)
COLOUR = {"local": palette.LOCAL, "global": palette.GLOBAL, "joint": palette.TRUTH}


def channel_panels(choice: Choice, digit: int, given: np.ndarray) -> None:
    """Every local channel, and the strongest global ones, over the angle."""
    model, found = choice.load(), encoded(choice)
    mu, var = found.mu[digit], found.var[digit]
    curves = latents.curves(model, mu, var, given, FINE) if "local" in model.blocks else None
    for block, part in found.blocks.items():
        every = list(range(part.start, part.stop))
        few = every if block == "local" else every[:CHANNELS]
        if block == "global" and curves is not None:
            few = strongest(choice)[:CHANNELS]
        spread = np.sqrt(var)
        inside = [np.abs(mu[:, few]) + 2 * spread[:, few]]
        if curves is not None:
            inside.append(np.abs(curves.mean[:, few]) + 2 * curves.sd[:, few])
        reach = min(max(float(each.max(initial=0.5)) for each in inside), 6.0)
        limits = (-np.ceil(reach * 2) / 2, np.ceil(reach * 2) / 2)
        panels = [
            figures.channel(
                f"{block} {channel - part.start + 1}" if block != "joint" else f"{channel + 1}",
                COLOUR[block],
                np.rad2deg(FINE),
                None if curves is None else curves.mean[:, channel],
                None if curves is None else curves.sd[:, channel],
                DEGREES,
                mu[:, channel],
                spread[:, channel],
                given,
                limits,
            )
            for channel in few
        ]
        if len(few) < len(every):
            st.caption(f"{len(few)} of the {len(every)} {block} channels")
        st.html(figures.multiples(panels))
