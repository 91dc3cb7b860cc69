"""Channels over the view: small multiples in one chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ui.charts.colours import GREY
from ui.charts.layout import band, line, panels

if TYPE_CHECKING:
    import plotly.graph_objects as go

ROW = 160  # pixels of a row


@dataclass(frozen=True)
class Channel:
    """One channel: what is concluded over the view, and what is said of each view."""

    name: str
    colour: str
    x: np.ndarray  # where it is concluded
    mean: np.ndarray | None  # over x; None if the model concludes nothing
    sd: np.ndarray | None
    at: np.ndarray  # the views
    estimate: np.ndarray  # of each view, with its error
    error: np.ndarray
    reach: float  # the axis goes from -reach to reach


def channels_height(count: int, columns: int) -> int:
    """Pixels of a chart of so many channels."""
    return -(-count // columns) * ROW + 50


def channels(
    found: Sequence[Channel],
    given: np.ndarray,
    hues: Sequence[str],
    columns: int,
    axis: dict[str, Any],
    unit: str,
) -> go.Figure:
    """Posterior mean and band of each channel; dots are estimates of views, hollow if not `given`.

    Bands and bars are two standard deviations. `axis` are the options of the axis of views.
    """
    made = panels([each.name for each in found], columns, ROW, horizontal_spacing=0.16 / columns)
    for index, each in enumerate(found):
        where = {"row": index // columns + 1, "col": index % columns + 1}
        if each.mean is not None and each.sd is not None:
            low, high = each.mean - 2 * each.sd, each.mean + 2 * each.sd
            made.add_trace(band(each.x, low, high, "", each.colour), **where)
            made.add_trace(
                line(each.x, each.mean, "posterior", each.colour, f"%{{x:.3g}}{unit}: %{{y:.2f}}"),
                **where,
            )
        made.add_trace(_dots(each, given, hues, unit), **where)
        made.update_yaxes(range=[-each.reach, each.reach], nticks=4, **where)
    made.update_xaxes(**axis)
    return made


def _dots(each: Channel, given: np.ndarray, hues: Sequence[str], unit: str) -> go.Scatter:
    import plotly.graph_objects as go

    return go.Scatter(
        x=each.at,
        y=each.estimate,
        mode="markers",
        name="views",
        error_y={"array": 2 * each.error, "color": GREY, "thickness": 1, "width": 0},
        marker={
            "color": list(hues),
            "size": 7,
            "symbol": ["circle" if seen else "circle-open" for seen in given],
        },
        customdata=2 * each.error,
        hovertemplate=f"view at %{{x:.4g}}{unit}<br>%{{y:.2f}} ± %{{customdata:.2f}}"
        "<extra></extra>",
    )
