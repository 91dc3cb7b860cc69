"""Heat maps: what the prior expects, what the encoder says, which channels go together."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st

from fgpvae import latents
from ui import charts
from ui.catalog import Choice
from ui.latents.codes import LABELS, encoded
from ui.shell import frame, palette
from ui.shell.kept import kept

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 340  # pixels of a chart


def show(values: np.ndarray, names: list[str], key: str, axis: str = "angle") -> None:
    """How alike local channels are at two views."""
    half = values[0, len(values) // 2]
    charts.show(
        partial(charts.heatmap, values, names, palette.LOCAL, HEIGHT, axis=axis),
        key,
        HEIGHT,
        f"Correlations of local channels at two views; {names[0]} and {names[len(values) // 2]}: "
        f"{half:.2f}",
    )


def show_channels(strength: np.ndarray, key: str, edge: int | None) -> None:
    """How much channels go together; `edge` is where the global ones begin."""
    off = strength[~np.eye(len(strength), dtype=bool)]
    charts.show(
        partial(between_channels, strength, edge),
        key,
        HEIGHT,
        f"Correlations of {len(strength)} channels; the largest of two different ones is "
        f"{off.max(initial=0):.2f}",
    )


def between_channels(strength: np.ndarray, edge: int | None) -> go.Figure:
    names = [str(k + 1) for k in range(len(strength))]
    made = charts.heatmap(strength, names, charts.GREY, HEIGHT, axis="channel")
    if edge is not None:
        rule = {"line": {"color": palette.GLOBAL, "width": 1.5}}
        made.add_vline(edge - 0.5, **rule).add_hline(edge - 0.5, **rule)
    return made


def matrices(choice: Choice) -> None:
    """Kernel and correlation heat maps."""
    divided = choice.load().divides_channels
    with st.container(key="latents.three"):
        first, second, third = st.columns(3, gap="medium")
    if divided:
        with (
            first,
            frame.card(
                "What the prior expects", ("How alike are the local channels at two angles?")
            ),
        ):
            show(expected(choice), LABELS, "latents.prior")
        with second, frame.card("What the encoder says", "The same, measured on all digits."):
            show(measured(choice), LABELS, "latents.said")
    with (
        third if divided else first,
        frame.card(
            "Which channels go together",
            ("Strength of the correlation between channels, without its sign."),
        ),
    ):
        edge = encoded(choice).blocks["global"].start if divided else None
        show_channels(strengths(choice), "latents.channels", edge)


@kept(12)
def expected(choice: Choice) -> np.ndarray:
    return latents.prior_gram(choice.load())


@kept(12)
def measured(choice: Choice) -> np.ndarray:
    moved = latents.about_prior_mean(choice.load(), encoded(choice).channels("local"))
    return latents.angle_correlation(moved)


@kept(12)
def strengths(choice: Choice) -> np.ndarray:
    return np.abs(latents.channel_correlation(encoded(choice).mu))
