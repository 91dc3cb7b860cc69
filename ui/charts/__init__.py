"""The one charting layer: the look of Plotly figures, the marks that charts share, and display.

`st.plotly_chart` fills in the theme's text, grid and hover colours (template "streamlit"), also
when the theme changes. So no colour of text or background is set here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go

from ui.charts.display import BEST, phone, show, table
from ui.shell import palette

# Colours without a meaning (others are in `ui.shell.palette`), visible on white and on black
GREY = "#7a8194"  # references without a model, and own runs: neither local nor global
# Ten classes, as different as ten colours can be on both backgrounds: every two differ by ΔE 48 or
# more, and by 25 or more for people who do not see red or green.
CLASSES = (
    *("#1bc2e7", "#83c70e", "#0c6a46", "#a706ac", "#a2450a"),
    *("#fe8ca1", "#b4aa5b", "#715d81", "#068afa", "#1c4bfe"),
)
CLEAR = "rgba(0,0,0,0)"
TURN: dict[str, Any] = {"range": [0, 360], "dtick": 90, "ticksuffix": "°"}  # an axis
POWERS = {"type": "log", "exponentformat": "power"}  # the same, logarithmic
TOP = 30  # pixels above the axes, where the mode bar is


def faded(colour: str, alpha: float) -> str:
    """#rrggbb as rgba."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def figure(
    x: str = "",
    y: str = "",
    traces: Iterable[Any] = (),
    *,
    xaxis: dict[str, Any] | None = None,
    yaxis: dict[str, Any] | None = None,
    legend: bool = False,
) -> go.Figure:
    """Traces on one pair of axes with their titles and options."""
    made = _styled(go.Figure(list(traces)), TOP)
    made.update_xaxes(xaxis, title_text=x)
    made.update_yaxes(yaxis, title_text=y, title_standoff=15)
    return made.update_layout(showlegend=legend)


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
    return _styled(made, TOP + 16)


def _styled(made: go.Figure, top: int) -> go.Figure:
    return made.update_layout(
        template="streamlit",
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
    y: Sequence[float | None] | np.ndarray,
    name: str,
    colour: str,
    hover: str,
    *,
    dash: str | None = None,
    width: float = 2,
    **options: Any,
) -> go.Scatter:
    """A line; `hover` is the label of its points, with %{x} and %{y}."""
    label = words(name)
    return go.Scatter(
        x=np.asarray(x, np.float32),  # half the bytes; precise enough for a screen
        y=np.asarray(y, np.float32),
        name=label,
        mode=options.pop("mode", "lines"),
        line={"color": colour, "dash": dash, "width": width},
        hovertemplate=f"{label}<br>{hover}<extra></extra>" if label else f"{hover}<extra></extra>",
        **options,
    )


def dot(x: float, y: float, name: str, colour: str, hover: str, **options: Any) -> go.Scatter:
    """A dot on a line at the value that the page shows."""
    options |= {"mode": "markers", "marker": {"size": 11}, "showlegend": False}
    return line([x], [y], name, colour, hover, **options)


def band(x: np.ndarray, low: np.ndarray, high: np.ndarray, colour: str) -> go.Scatter:
    """The area between two lines, as one trace without a label."""
    return go.Scatter(
        x=np.concatenate([x, x[::-1]]).astype(np.float32),
        y=np.concatenate([high, low[::-1]]).astype(np.float32),
        mode="lines",
        line={"width": 0},
        fill="toself",
        fillcolor=faded(colour, 0.2),
        hoverinfo="skip",
    )


def heatmap(
    values: np.ndarray, names: Sequence[str], colour: str, axis: str = "", edge: int | None = None
) -> go.Figure:
    """A square matrix of values from 0, no colour, to 1, full colour; its first row on top.

    `names` are those of rows and columns, all different. Without `axis`, a title for both, the axes
    are hidden. Lines divide it at `edge`, the index of the first global channel.
    """
    n = len(values)
    made = figure(axis, axis)
    made.add_heatmap(
        z=np.clip(np.nan_to_num(values), 0, 1).astype(np.float32),
        x=list(names),
        y=list(names),
        zmin=0,
        zmax=1,
        colorscale=[[0, faded(colour, 0.03)], [1, colour]],
        hovertemplate="%{y} and %{x}: %{z:.2f}<extra></extra>",
        showscale=bool(axis),
        colorbar={"thickness": 6, "outlinewidth": 0, "xpad": 4, "tickvals": [0, 0.5, 1]},
    )
    common = {
        "type": "category",
        "tickvals": list(names[:: max(n // 4, 1)]),
        "showgrid": False,
        "zeroline": False,
        "constrain": "domain",
        "visible": bool(axis),
    }
    made.update_xaxes(range=[-0.5, n - 0.5], **common)
    made.update_yaxes(range=[n - 0.5, -0.5], scaleanchor="x", **common)
    if edge is not None:
        rule = {"line": {"color": palette.GLOBAL, "width": 1.5}}
        made.add_vline(edge - 0.5, **rule).add_hline(edge - 0.5, **rule)
    return made


def sizes_axis(sizes: Sequence[int]) -> dict[str, Any]:
    """A logarithmic axis that names these sizes."""
    return {"type": "log", "tickvals": list(sizes), "ticktext": [f"{size:,}" for size in sizes]}


def log_axis(values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis with plain numbers, or powers of ten if some are very large or small."""
    return POWERS | ({"tickformat": "~g"} if 1e-4 <= min(values) <= max(values) < 1e5 else {})


def words(text: object) -> str:
    """Escape a name for Plotly's HTML and cut it to 72 characters."""
    shown = " ".join(str(text).split())
    shown = shown if len(shown) <= 72 else shown[:71] + "…"
    return escape(shown, quote=False).replace("%{", "%&#123;")


__all__ = ["BEST", "CLASSES", "GREY", "POWERS", "TURN"]
__all__ += ["band", "dot", "faded", "figure", "heatmap", "line", "panels", "scatter", "words"]
__all__ += ["log_axis", "phone", "show", "sizes_axis", "table"]
