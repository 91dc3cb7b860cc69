"""Heat maps: what the prior expects, what the encoder says, which channels go together."""

import numpy as np
import streamlit as st

from fgpvae import latents
from fgpvae.models import FGPVAE
from ui.catalog import Choice
from ui.charts import figures, plot
from ui.latents.codes import LABELS, encoded
from ui.shell import frame, palette


def matrices(choice: Choice) -> None:
    """Kernel and correlation heat maps."""
    model, found = choice.load(), encoded(choice)
    divided = len(found.blocks) == 2
    first, second, third = st.columns(3, gap="medium")
    if divided and isinstance(model, FGPVAE):
        with (
            first,
            frame.card("What the prior expects", "Local channels at two angles: how alike?"),
        ):
            made = figures.heatmap(latents.prior_gram(model), LABELS, palette.LOCAL, "prior")
            plot.show(made, "z_prior")
        with second, frame.card("What the encoder says", "The same, measured over all the digits."):
            moved = latents.about_prior_mean(model, found.channels("local"))
            measured = latents.angle_correlation(moved)
            plot.show(figures.heatmap(measured, LABELS, palette.LOCAL, "encoder"), "z_said")
    with (
        third if divided else first,
        frame.card("Which channels go together", "Correlation of channels, whatever its sign."),
    ):
        strength = np.abs(latents.channel_correlation(found.mu))
        channels = [str(k + 1) for k in range(len(strength))]
        made = figures.heatmap(strength, channels, palette.INK, "channels")
        if divided:
            edge = found.blocks["global"].start - 0.5
            made.rule(palette.GLOBAL, x=edge).rule(palette.GLOBAL, y=edge)
        plot.show(made, "z_channels")
