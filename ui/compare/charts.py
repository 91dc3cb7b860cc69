"""The charts of Compare: errors of all models, and errors and times against sizes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import plotly.graph_objects as go

from fgpvae.evaluation import comparison
from ui import charts
from ui.catalog.results import Curve, Row
from ui.shell import palette

MARGIN = 1.12  # factor of the largest value
PUBLISHED = {"test_mse": "mse", "extrapolation_mse": "extrapolation"}
POSTERIORS = (
    ("joint", "joint", palette.TRUTH, "solid"),
    ("dense", "factorised", palette.GLOBAL, "solid"),
    ("fourier", "Fourier", palette.GLOBAL, "dot"),
)
PAPER, LATER, HERE = "compared in the paper", "later models and variants", "evaluated here"
GROUPS = {PAPER: "circle", LATER: "square", HERE: "star"}  # symbols of these groups
ROW, LABELS = 42, 140  # pixels of a row, and of the line names above the first
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")


def errors(rows: Sequence[Row], metric: str, lines: dict[str, float]) -> go.Figure:
    """One row per model: all seeds, their mean and standard deviation, and the published value."""
    made = charts.figure("mean squared error of a pixel")
    _references(made, lines, len(rows))
    marks = [  # a place in the chart, what it shows, and in which group
        (at, each, HERE if each.own else PAPER if each.of_paper else LATER)
        for at, row in enumerate(rows)
        for each in filter(None, (row, row.here))
        if each.errors[metric].values
    ]
    seeds = [(value, at, row) for at, row, _ in marks for value in row.errors[metric].values]
    x, y, colours = [s[0] for s in seeds], [s[1] for s in seeds], [s[2].colour for s in seeds]
    _marks(made, x, y, "each seed", {"color": colours, "size": 6, "opacity": 0.35})
    for name, symbol in GROUPS.items():
        group = [(at, row, row.errors[metric]) for at, row, kind in marks if kind == name]
        _marks(
            made,
            [found.mean or 0 for *_, found in group],
            [at for at, *_ in group],
            name,
            {"color": [row.colour for _, row, _ in group], "size": 12, "symbol": symbol},
            error_x={"array": [found.sd or 0 for *_, found in group], "color": charts.GREY},
            text=[f"{charts.words(row.label)}<br>{found.text()}" for _, row, found in group],
            hovertemplate="%{text}<extra></extra>",
        )
    key = PUBLISHED.get(metric, "")
    published = [(at, row.published) for at, row in enumerate(rows) if key in row.published]
    said = [found[key] for _, found in published]
    _marks(
        made,
        said,
        [at for at, _ in published],
        "published",
        {"symbol": "diamond-open", "color": palette.TRUTH, "size": 13},
        error_x={
            "array": [found["sd"] if key == "mse" else 0 for _, found in published],
            "color": palette.TRUTH,
        },
    )
    end = MARGIN * max([*x, *said, *lines.values(), 0.01])
    made.update_xaxes(range=[-0.012 * end, end], showgrid=True)
    _names(made, rows, metric)
    return made.update_layout(showlegend=True)


def _marks(
    made: go.Figure, x: list[float], y: list[int], name: str, mark: dict[str, Any], **more: Any
) -> None:
    more = {"hovertemplate": f"{name}: %{{x:.4f}}<extra></extra>"} | more
    if x:
        made.add_scatter(x=x, y=y, name=name, mode="markers", marker=mark, **more)


def _references(made: go.Figure, lines: dict[str, float], rows: int) -> None:
    """References without a model: vertical lines with their names above the first row."""
    y = [place for at in range(rows) for place in (at - 0.12, at + 0.4, math.nan)]
    for name, value in lines.items():
        text = f"{name} {value:.4f}"
        line = charts.line([value] * len(y), y, text, charts.GREY, "", dash="dot", width=1.5)
        made.add_trace(line.update(showlegend=False))
        above: dict[str, Any] = {"y": -0.7, "yanchor": "bottom", "textangle": -90}
        made.add_annotation(text=charts.words(text), x=value, showarrow=False, **above)


def _names(made: go.Figure, rows: Sequence[Row], metric: str) -> None:
    """Names of the rows above their marks, so that the values have the whole width.

    Axis labels inside the chart would make Plotly hide the numbers below.
    """
    missing = "no angle held out" if metric == "test_mse" else "takes no new digits"
    made.update_yaxes(
        range=[len(rows) - 0.6, -0.8 - LABELS / ROW],
        tickvals=list(range(len(rows))),
        showticklabels=False,
        showgrid=True,
        zeroline=False,
    )
    for at, row in enumerate(rows):
        name = charts.words(row.label) + ("" if row.errors[metric].values else f" · {missing}")
        place = {"x": 0, "xref": "paper", "xanchor": "left", "y": at, "yanchor": "bottom"}
        made.add_annotation(text=name, yshift=6, showarrow=False, **place)


def error_by_views(curves: Sequence[Curve]) -> go.Figure:
    """Error against the number of views; bars are standard deviations over seeds."""
    made = charts.figure("views given", "mean squared error of a pixel")
    largest = 0.0
    for index, curve in enumerate(curves):
        points = {n: point.mean for n, point in curve.points.items() if point.mean is not None}
        bars = [curve.points[n].sd or 0 for n in points]
        largest = max([largest, *points.values()])
        made.add_trace(
            charts.line(
                list(points),
                list(points.values()),
                curve.name,
                curve.colour,
                "%{x} views: %{y:.4f}",
                dash=curve.dash,
                mode="lines" if curve.dash == "dot" else "lines+markers",
                marker={"size": 8, "symbol": SYMBOLS[index % len(SYMBOLS)]},
                error_y={"array": bars, "thickness": 1} if any(bars) else None,
            )
        )
    made.update_xaxes(**_sizes(comparison.VIEWS))
    made.update_yaxes(range=[-0.02 * MARGIN * largest, MARGIN * largest])
    return made.update_layout(showlegend=True)


def by_digits(
    result: dict[str, Any], name: str, title: str, runs: list[tuple[str, int, float]]
) -> go.Figure:
    """Time or error against the number of digits P, on logarithmic axes; own runs as diamonds."""
    P = [row["P"] for row in result["by_digits"]]
    values = [row[name]["mean"] for row in result["by_digits"]]
    made = charts.figure("digits P", title)
    made.add_trace(_measured(P, values, "measured", palette.GLOBAL, "P = %{x}: %{y:.4g}"))
    if runs:
        names, sizes, found = zip(*runs, strict=True)
        made.add_scatter(
            x=sizes,
            y=found,
            name="your runs",
            mode="markers",
            marker={"symbol": "diamond", "size": 11, "color": charts.GREY},
            text=[charts.words(run) for run in names],
            hovertemplate="%{text}<br>P = %{x}: %{y:.4g}<extra></extra>",
        )
        values += found
    made.update_xaxes(**_sizes(P))
    if max(values) > 5 * min(values):  # enough for the round numbers of a logarithmic axis
        made.update_yaxes(**charts.log_axis(values))
    return made.update_layout(showlegend=bool(runs))


def by_views(result: dict[str, Any]) -> go.Figure:
    """Seconds of a posterior against the number of views Q, each line with its exponent."""
    Q = [row["Q"] for row in result["by_views"]]
    made = charts.figure("views Q of each of 20 digits", "seconds")
    for kind, name, colour, dash in POSTERIORS:
        seconds = [row[kind] for row in result["by_views"]]
        exponent = result["exponents"][f"{kind}_in_Q"]
        trace = _measured(Q, seconds, name, colour, "Q = %{x}: %{y:.3g} s", dash)
        made.add_trace(trace.update(name=f"{name} Q<sup>{exponent:.1f}</sup>"))
    made.update_xaxes(**_sizes(Q[::2]))
    made.update_yaxes(type="log", exponentformat="power")
    return made.update_layout(showlegend=True)


def _measured(
    x: list[int], y: list[float], name: str, colour: str, hover: str, dash: str = "solid"
) -> go.Scatter:
    mark = {"size": 7}
    return charts.line(x, y, name, colour, hover, dash=dash, mode="lines+markers", marker=mark)


def _sizes(values: Sequence[int]) -> dict[str, Any]:
    return {"type": "log", "tickvals": list(values), "ticktext": [str(size) for size in values]}
