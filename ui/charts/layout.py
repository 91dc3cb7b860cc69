"""The look of every chart: one layout, and the marks that charts share.

`st.plotly_chart` fills in the theme's text, grid and hover colours (template "streamlit"), also
when the theme changes. So nothing here names a colour of text or of the ground.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ui.charts.colours import GREY, faded
from ui.shell import palette

if TYPE_CHECKING:
    import plotly.graph_objects as go

CLEAR = "rgba(0,0,0,0)"
TURN = {
    "range": [0, 360],
    "tickvals": [0, 90, 180, 270, 360],
    "ticktext": ["0°", "90°", "180°", "270°", "360°"],
}  # an axis
TOP = 30  # pixels above the axes, where the mode bar is
SMALL = 11  # pixels of text within a chart


def figure(height: int, x: str = "", y: str = "", top: int = TOP) -> go.Figure:
    """An empty chart of one pair of axes with their titles."""
    import plotly.graph_objects as go

    made = _styled(go.Figure(), height, top)
    made.update_xaxes(title_text=x)
    made.update_yaxes(title_text=y, title_standoff=15)
    return made


def panels(
    titles: Sequence[str], columns: int, row_height: int, gap: int = 58, **options: Any
) -> go.Figure:
    """An empty chart of many small ones; `options` go to Plotly's make_subplots."""
    from plotly.subplots import make_subplots

    rows = -(-len(titles) // columns)
    height = rows * row_height + TOP + 20
    made = make_subplots(
        rows,
        columns,
        subplot_titles=[words(title) for title in titles],
        vertical_spacing=gap / height if rows > 1 else None,
        **options,
    )
    made.update_annotations(font_size=12, yshift=2)
    return _styled(made, height, TOP + 16)


def _styled(made: go.Figure, height: int, top: int) -> go.Figure:
    return made.update_layout(
        template="streamlit",
        height=height,
        margin={"l": 4, "r": 14, "t": top, "b": 4},
        paper_bgcolor=CLEAR,
        plot_bgcolor=CLEAR,
        hovermode="closest",
        showlegend=False,
        legend={"orientation": "h", "yref": "container", "yanchor": "bottom", "y": 0, "x": 0},
        modebar={"bgcolor": CLEAR, "color": GREY, "activecolor": palette.GLOBAL},
        uirevision="kept",
    )


def line(
    x: Sequence[float] | np.ndarray,
    y: Sequence[float] | np.ndarray,
    name: str,
    colour: str,
    hover: str,
    *,
    dash: str | None = None,
    width: float = 2,
    **options: Any,
) -> go.Scatter:
    """A line; `hover` is what it says of a point, with %{x} and %{y} in it."""
    import plotly.graph_objects as go

    label = words(name)
    return go.Scatter(
        x=np.asarray(x, np.float32),  # half the bytes; a screen shows no more
        y=np.asarray(y, np.float32),
        name=label,
        mode=options.pop("mode", "lines"),
        line={"color": colour, "dash": dash, "width": width},
        hovertemplate=f"{label}<br>{hover}<extra></extra>" if label else f"{hover}<extra></extra>",
        **options,
    )


def band(
    x: Sequence[float] | np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    name: str,
    colour: str,
    **options: Any,
) -> go.Scatter:
    """The room between two lines, as one trace that says nothing to the pointer."""
    import plotly.graph_objects as go

    there = np.asarray(x, np.float32)
    return go.Scatter(
        x=np.concatenate([there, there[::-1]]),
        y=np.concatenate([high, low[::-1]]).astype(np.float32),
        name=words(name),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=faded(colour, 0.2),
        hoverinfo="skip",
        **options,
    )


def log_axis(values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis for positive values, with whole numbers at round ticks."""
    low, high = min(values), max(values)
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    decades = math.log10(high / low)
    steps = (1, 2, 5) if decades < 2 else (1,)
    powers = range(first, last + 1, 3 if decades > 7 else 1)
    marks = [(step, power) for power in powers for step in steps]
    ticks = [float(f"{step}e{power}") for step, power in marks]
    if sum(low <= tick <= high for tick in ticks) < 2:
        return {"type": "log"}  # too short for these: Plotly finds its own
    most = 1e3 if high >= 1e5 else 1e5  # one way of writing large numbers in an axis
    names = [
        f"{tick:g}" if 1e-4 <= tick < most else f"{step}·10<sup>{power}</sup>".removeprefix("1·")
        for tick, (step, power) in zip(ticks, marks, strict=True)
    ]
    return {"type": "log", "tickvals": ticks, "ticktext": names}


def words(text: object) -> str:
    """A name for where Plotly expects its own HTML: shown as it is, at most 60 characters."""
    shown = " ".join(str(text).split())
    shown = shown if len(shown) <= 60 else shown[:59] + "…"
    return escape(shown, quote=False).replace("%{", "%&#123;")
