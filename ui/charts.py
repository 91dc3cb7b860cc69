"""The figures of Compare: models in rows, lines with their names at the end."""

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from fgpvae import comparison
from ui import colours, figures
from ui.results import Curve, Row

MARGIN = 1.12  # of the largest value that a figure shows
PUBLISHED = {"test_mse": "mse", "extrapolation_mse": "extrapolation"}
POSTERIORS = (
    ("joint", "joint", colours.TRUTH, "solid"),
    ("dense", "factorised", colours.GLOBAL, "solid"),
    ("fourier", "Fourier", colours.GLOBAL, "dot"),
)


def show(made: go.Figure, name: str) -> None:
    """A figure with one tool: the picture as a file."""
    made.update_layout(
        paper_bgcolor="#171b24" if figures.dark() else "#ffffff",
        modebar={"bgcolor": figures.TRANSPARENT, "color": colours.TRUTH},
    )
    picture = {"format": "png", "scale": 3, "filename": f"fgpvae-{name}"}
    st.plotly_chart(
        made,
        width="stretch",
        key=f"chart-{name}",
        config={
            "displayModeBar": True,
            "displaylogo": False,
            "modeBarButtons": [["toImage"]],
            "toImageButtonOptions": picture,
            "scrollZoom": False,
            "doubleClick": False,
        },
    )


def errors(rows: Sequence[Row], metric: str, lines: dict[str, float]) -> go.Figure:
    """A row a model: every seed, their mean and standard deviation, and what was published."""
    traces: list[Any] = []
    for row in rows:
        found = row.errors[metric]
        if found.mean is None:
            continue
        seeds = {"color": figures.faded(row.colour, 0.3), "size": 6}
        traces += [
            _dots(list(found.values), row.label, seeds, hoverinfo="skip"),
            _dots(
                [found.mean],
                row.label,
                {"color": row.colour, "size": 12},
                error_x=_bar(found.sd, row.colour),
                hovertemplate=f"{escape(row.label)}<br>{found.text()}<extra></extra>",
            ),
        ]
    key = PUBLISHED.get(metric, "")
    known = [row for row in rows if key in row.published]
    hollow = {"symbol": "diamond-open", "color": colours.TRUTH, "size": 13, "line": {"width": 2}}
    for row in known:
        traces.append(
            _dots(
                [row.published[key]],
                row.label,
                hollow,
                error_x=_bar(row.published["sd"] if key == "mse" else None, colours.TRUTH),
                hovertemplate=f"published<br>{row.published[key]:.4f}<extra></extra>",
            )
        )
    largest = [row.errors[metric].mean or 0.0 for row in rows]
    largest += [row.published[key] for row in known] + list(lines.values())
    end = MARGIN * max([*largest, 0.01])
    made = figures.figure(*traces, height=150 + 42 * len(rows))
    missing = "no angle held out" if metric == "test_mse" else "takes no new digits"
    names = [  # inside, so that a narrow screen keeps its width for the figures
        _note(
            escape(row.label) + (f" · {missing}" if row.errors[metric].mean is None else ""),
            row.colour,
            x=0.008 * end,
            y=row.label,
            yshift=12,
        )
        for row in rows
    ]
    made.update_layout(
        margin={"l": 8, "r": 16, "t": 124, "b": 8},
        xaxis={"range": [-0.012 * end, end], "title": "mean squared error of a pixel"},
        yaxis={
            "type": "category",
            "categoryorder": "array",
            "categoryarray": [row.label for row in rows][::-1],
            "range": [-0.4, len(rows) - 0.2],
            "showticklabels": False,
        },
        shapes=[_rule(name, value) for name, value in lines.items()],
        annotations=names
        + [
            _note(
                f"{name} {value:.4f}",
                _reference_colour(name),
                x=value,
                y=1,
                yref="paper",
                yanchor="bottom",
                textangle=-50,
                size=11,
            )
            for name, value in lines.items()
        ],
    )
    return made


def _dots(x: list[float], label: str, marker: dict[str, Any], **options: Any) -> go.Scatter:
    return go.Scatter(x=x, y=[label] * len(x), mode="markers", marker=marker, **options)


def _bar(sd: float | None, colour: str) -> dict[str, Any]:
    return {"array": [sd or 0], "color": colour, "thickness": 2, "width": 5}


def _reference_colour(name: str) -> str:
    """What needs no model is grey; the one that knows what a rotation is stands out."""
    return figures.ink() if "geometric" in name else colours.TRUTH


def _rule(name: str, value: float) -> dict[str, Any]:
    """A dotted line down the figure."""
    line = {"color": _reference_colour(name), "width": 1.4, "dash": "dot"}
    ends = {"x0": value, "x1": value, "y0": 0, "y1": 1, "yref": "paper"}
    return {"type": "line", "line": line, "layer": "below"} | ends


def _note(text: str, colour: str, size: int = 12, **options: Any) -> dict[str, Any]:
    font = {"size": size, "color": colour}
    return {"text": text, "font": font, "showarrow": False, "xanchor": "left"} | options


def error_by_views(curves: Sequence[Curve], height: int = 400) -> go.Figure:
    traces, ends = [], []
    for curve in curves:
        means = [point.mean for point in curve.points.values()]
        sds = [point.sd or 0 for point in curve.points.values()]
        traces.append(
            go.Scatter(
                x=list(curve.points),
                y=means,
                mode="lines+markers" if curve.dash == "solid" else "lines",
                line={"color": curve.colour, "width": 2, "dash": curve.dash},
                marker={"size": 7},
                error_y={"array": sds, "color": curve.colour, "thickness": 1.5, "width": 3},
                hovertemplate=f"{escape(curve.name)}<br>%{{x}} views: %{{y:.4f}}<extra></extra>",
            )
        )
        ends.append((means[-1] or 0.0, escape(curve.name), curve.colour))
    made = figures.figure(*traces, height=height)
    top = MARGIN * max((p.mean or 0 for c in curves for p in c.points.values()), default=0.1)
    made.update_yaxes(range=[-0.02 * top, top], title="mean squared error")
    made.update_xaxes(type="log", tickvals=list(comparison.VIEWS), title="views given of a digit")
    _name_ends(made, ends, gap=20 / height * top)
    return made


def by_digits(
    result: dict[str, Any], name: str, title: str, own: Sequence[tuple[str, int, float]] = ()
) -> go.Figure:
    """Time or error against the number of digits P, on logarithmic axes; own runs as diamonds."""
    P = [row["P"] for row in result["by_digits"]]
    values = [row[name] for row in result["by_digits"]]
    traces = [_line(P, values, colours.GLOBAL, "solid", "P = %{x}: %{y:.4g}")]
    for run, digits, value in own:
        traces.append(
            go.Scatter(
                x=[digits],
                y=[value],
                mode="markers",
                marker={"color": figures.ink(), "size": 10, "symbol": "diamond"},
                hovertemplate=f"{escape(run)}<br>P = {digits}: {value:.4g}<extra></extra>",
            )
        )
    made = figures.figure(*traces, height=300)
    made.update_layout(margin={"l": 8, "r": 8, "t": 30, "b": 8})
    made.update_xaxes(type="log", tickvals=P, title="digits P")
    return made.update_yaxes(type="log", title=title, tickvals=_ticks(values))


def by_views(result: dict[str, Any]) -> go.Figure:
    """Seconds of a posterior against the number of views Q, each line with its exponent."""
    Q = [row["Q"] for row in result["by_views"]]
    traces, ends, every = [], [], []
    for kind, name, colour, dash in POSTERIORS:
        seconds = [row[kind] for row in result["by_views"]]
        every += seconds
        exponent = result["exponents"][f"{kind}_in_Q"]
        ends.append((float(np.log10(seconds[-1])), f"{name} Q<sup>{exponent:.1f}</sup>", colour))
        traces.append(_line(Q, seconds, colour, dash, f"{name}, Q = %{{x}}: %{{y:.3g}} s"))
    made = figures.figure(*traces, height=300)
    made.update_xaxes(type="log", tickvals=Q[::2], title="views Q of each of 20 digits")
    made.update_yaxes(type="log", title="seconds", tickvals=_ticks(every))
    _name_ends(made, ends, gap=22 / 300 * (_decades(every) + 0.3))
    return made


def _line(x: list[Any], y: list[float], colour: str, dash: str, hover: str) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=y,
        mode="lines+markers",
        line={"color": colour, "width": 2, "dash": dash},
        hovertemplate=f"{hover}<extra></extra>",
    )


def _decades(values: Sequence[float]) -> float:
    return float(np.log10(max(values) / min(values)))


def _ticks(values: Sequence[float]) -> list[float]:
    """Round numbers for a logarithmic axis: powers of ten, and 2 and 5 between if it is short."""
    low, high = np.floor(np.log10(min(values))), np.ceil(np.log10(max(values)))
    steps = (1, 2, 5) if _decades(values) < 2 else (1,)
    return [float(f"{step}e{k:.0f}") for k in np.arange(low, high + 1) for step in steps]


def _name_ends(made: go.Figure, ends: Sequence[tuple[float, str, str]], gap: float) -> None:
    """The name of each line at its right end, moved apart where two would overlap."""
    ordered = sorted(ends)
    heights = spaced([value for value, _, _ in ordered], gap)
    made.update_layout(
        margin={"l": 8, "r": 124, "t": 30, "b": 8},
        annotations=[
            _note(name, colour, x=1.01, xref="paper", y=y)
            for (_, name, colour), y in zip(ordered, heights, strict=True)
        ],
    )


def spaced(values: Sequence[float], gap: float) -> list[float]:
    """Ascending values moved as little as needed to be `gap` apart.

    Values that would touch form a block, which stays centred on their mean.
    """
    blocks: list[list[float]] = []
    for value in values:
        blocks.append([value])
        while len(blocks) > 1 and _first(blocks[-1], gap) - _last(blocks[-2], gap) < gap:
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    return [_first(block, gap) + gap * k for block in blocks for k in range(len(block))]


def _first(block: list[float], gap: float) -> float:
    return sum(block) / len(block) - gap * (len(block) - 1) / 2


def _last(block: list[float], gap: float) -> float:
    return _first(block, gap) + gap * (len(block) - 1)
