"""The charts of Compare: a row a model, and errors and times against sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from fgpvae import comparison
from ui import charts
from ui.catalog.results import Curve, Row
from ui.shell import palette

if TYPE_CHECKING:
    import plotly.graph_objects as go

MARGIN = 1.12  # of the largest value that a chart shows
PUBLISHED = {"test_mse": "mse", "extrapolation_mse": "extrapolation"}
POSTERIORS = (
    ("joint", "joint", palette.TRUTH, "solid"),
    ("dense", "factorised", palette.GLOBAL, "solid"),
    ("fourier", "Fourier", palette.GLOBAL, "dot"),
)
DASHES = ("dot", "dash", "dashdot", "longdash")
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")
VIEWS_HEIGHT = 460
SCALING_HEIGHT = 330


def errors_height(rows: Sequence[Row], narrow: bool = False) -> int:
    return (340 if narrow else 210) + 42 * len(rows)


def errors(
    rows: Sequence[Row], metric: str, lines: dict[str, float], narrow: bool = False
) -> go.Figure:
    """A row a model: every seed, their mean and standard deviation, and what was published.

    On a `narrow` screen the names are inside, and the figures keep the width.
    """
    import plotly.graph_objects as go

    key = PUBLISHED.get(metric, "")
    known = [(at, row) for at, row in enumerate(rows) if row.errors[metric].values]
    said = [(at, row) for at, row in enumerate(rows) if key in row.published]
    largest = [row.errors[metric].mean or 0.0 for _, row in known]
    largest += [row.published[key] for _, row in said] + list(lines.values())
    made = charts.figure(errors_height(rows, narrow), "mean squared error of a pixel")
    for index, (name, value) in enumerate(lines.items()):
        made.add_trace(
            _reference(f"{name} {value:.4f}", value, len(rows), DASHES[index % 4], narrow)
        )
    seeds = [(value, at, row) for at, row in known for value in row.errors[metric].values]
    made.add_trace(
        go.Scatter(
            x=[value for value, _, _ in seeds],
            y=[at for _, at, _ in seeds],
            name="each seed",
            mode="markers",
            marker={"color": [row.colour for *_, row in seeds], "size": 6, "opacity": 0.35},
            hovertemplate="one seed: %{x:.4f}<extra></extra>",
        )
    )
    made.add_trace(
        go.Scatter(
            x=[row.errors[metric].mean for _, row in known],
            y=[at for at, _ in known],
            error_x={
                "array": [row.errors[metric].sd or 0 for _, row in known],
                "color": charts.GREY,
            },
            name="mean and standard deviation",
            mode="markers",
            marker={"color": [row.colour for _, row in known], "size": 12},
            text=[f"{charts.words(row.label)}<br>{row.errors[metric].text()}" for _, row in known],
            hovertemplate="%{text}<extra></extra>",
        )
    )
    made.add_trace(
        go.Scatter(
            x=[row.published[key] for _, row in said],
            y=[at for at, _ in said],
            error_x={
                "array": [row.published["sd"] if key == "mse" else 0 for _, row in said],
                "color": palette.TRUTH,
            },
            name="published",
            mode="markers",
            marker={"symbol": "diamond-open", "color": palette.TRUTH, "size": 13},
            hovertemplate="published: %{x:.4f}<extra></extra>",
        )
    )
    end = MARGIN * max([*largest, 0.01])
    made.update_xaxes(range=[-0.012 * end, end], showgrid=True)
    missing = "no angle held out" if metric == "test_mse" else "takes no new digits"
    names = [
        charts.words(row.label) + ("" if row.errors[metric].values else f" · {missing}")
        for row in rows
    ]
    made.update_yaxes(
        range=[len(rows) - 0.6, -0.9],
        tickvals=list(range(len(rows))),
        ticktext=names,
        showticklabels=not narrow,
        showgrid=True,
        zeroline=False,
    )
    for at, name in enumerate(names if narrow else ()):
        # not as labels of the axis: where these are inside, Plotly hides the numbers below
        made.add_annotation(
            text=name,
            x=0,
            xref="paper",
            xanchor="left",
            y=at,
            yanchor="bottom",
            yshift=6,  # above the marks of the row
            showarrow=False,
        )
    return made.update_layout(showlegend=True)


def _reference(name: str, value: float, rows: int, dash: str, narrow: bool) -> go.Scatter:
    """What needs no model: a line from top to bottom, which leaves out names that are inside."""
    y = [-0.9, rows - 0.6]
    if narrow:
        y = [place for at in range(rows) for place in (at - 0.12, at + 0.4, math.nan)]
    return charts.line([value] * len(y), y, name, charts.GREY, "", dash=dash, width=1.5)


def error_by_views(curves: Sequence[Curve]) -> go.Figure:
    """Error against the number of views; bars are standard deviations over seeds."""
    made = charts.figure(VIEWS_HEIGHT, "views given", "mean squared error of a pixel")
    for index, curve in enumerate(curves):
        points = {n: point for n, point in curve.points.items() if point.mean is not None}
        bars = [point.sd or 0 for point in points.values()]
        made.add_trace(
            charts.line(
                list(points),
                [point.mean or 0 for point in points.values()],
                curve.name,
                curve.colour,
                "%{x} views: %{y:.4f}",
                dash=curve.dash,
                mode="lines" if curve.dash == "dot" else "lines+markers",
                marker={"size": 8, "symbol": SYMBOLS[index % len(SYMBOLS)]},
                error_y={"array": bars, "thickness": 1} if any(bars) else None,
            )
        )
    ticks = list(comparison.VIEWS)
    made.update_xaxes(type="log", tickvals=ticks, ticktext=[str(n) for n in ticks])
    top = MARGIN * max((p.mean or 0 for c in curves for p in c.points.values()), default=0.1)
    made.update_yaxes(range=[-0.02 * top, top])
    return made.update_layout(showlegend=True)


def by_digits(
    result: dict[str, Any], name: str, title: str, own: Sequence[tuple[str, int, float]] = ()
) -> go.Figure:
    """Time or error against the number of digits P, on logarithmic axes; own runs as diamonds."""
    import plotly.graph_objects as go

    P = [row["P"] for row in result["by_digits"]]
    values = [row[name]["mean"] for row in result["by_digits"]]
    made = charts.figure(SCALING_HEIGHT, "digits P", title)
    made.add_trace(_measured(P, values, "measured", palette.GLOBAL, "P = %{x}: %{y:.4g}"))
    if own:
        made.add_trace(
            go.Scatter(
                x=[digits for _, digits, _ in own],
                y=[value for *_, value in own],
                name="your runs",
                mode="markers",
                marker={"symbol": "diamond", "size": 11, "color": charts.GREY},
                text=[charts.words(run) for run, *_ in own],
                hovertemplate="%{text}<br>P = %{x}: %{y:.4g}<extra></extra>",
            )
        )
    _logarithmic(made, P, values + [value for *_, value in own])
    return made.update_layout(showlegend=bool(own))


def by_views(result: dict[str, Any]) -> go.Figure:
    """Seconds of a posterior against the number of views Q, each line with its exponent."""
    Q = [row["Q"] for row in result["by_views"]]
    made = charts.figure(SCALING_HEIGHT, "views Q of each of 20 digits", "seconds")
    for kind, name, colour, dash in POSTERIORS:
        seconds = [row[kind] for row in result["by_views"]]
        exponent = result["exponents"][f"{kind}_in_Q"]
        trace = _measured(Q, seconds, name, colour, "Q = %{x}: %{y:.3g} s", dash)
        made.add_trace(trace.update(name=f"{name} Q<sup>{exponent:.1f}</sup>"))
    every = [row[kind] for row in result["by_views"] for kind, *_ in POSTERIORS]
    _logarithmic(made, Q[::2], every)
    return made.update_layout(showlegend=True)


def _measured(
    x: list[int], y: list[float], name: str, colour: str, hover: str, dash: str = "solid"
) -> go.Scatter:
    mark = {"size": 7}
    return charts.line(x, y, name, colour, hover, dash=dash, mode="lines+markers", marker=mark)


def _logarithmic(made: go.Figure, sizes: Sequence[int], values: Sequence[float]) -> None:
    """Sizes on a logarithmic axis; values as well if they differ enough for its round numbers."""
    made.update_xaxes(type="log", tickvals=list(sizes), ticktext=[str(size) for size in sizes])
    if max(values) > 5 * min(values):
        made.update_yaxes(**charts.log_axis(values))
