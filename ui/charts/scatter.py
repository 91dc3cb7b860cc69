"""Where views lie: points in two or three dimensions, and the ones that were picked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ui.charts.colours import GREY
from ui.charts.layout import figure, words

if TYPE_CHECKING:
    import plotly.graph_objects as go

STANDS = "picked"
# of groups, so that colour is not all that tells them apart; space has fewer of them
SYMBOLS = (
    "circle",
    "square",
    "diamond",
    "cross",
    "x",
    "triangle-up",
    "triangle-down",
    "pentagon",
    "star",
    "hourglass",
)
SPATIAL_SYMBOLS = (*SYMBOLS[:5], "circle-open", "square-open", "diamond-open")


@dataclass(frozen=True)
class Cloud:
    """Views [P, Q, 3] of P things as some channels place them."""

    points: np.ndarray
    shares: np.ndarray  # of the variance, an axis each
    colours: Sequence[str]  # of the P Q points, thing after thing
    groups: Sequence[str]  # of the P things: a trace and an entry of the legend each
    names: Sequence[str]  # of the P things
    views: Sequence[str]  # names of the Q views
    still: bool = False  # all views of a thing are one point
    closed: bool = True  # after the last view comes the first


def cloud(space: Cloud, picked: Sequence[int], view: int, spatial: bool, height: int) -> go.Figure:
    """The points, and the loops of the things that were picked; the first has its view marked.

    The customdata of a point is [thing, view]; the view of a still point is -1.
    """
    titles = [f"component {k + 1} · {share:.0%}" for k, share in enumerate(space.shares)]
    made = figure(height, titles[0], titles[1])
    symbols = SPATIAL_SYMBOLS if spatial else SYMBOLS
    for index, group in enumerate(dict.fromkeys(space.groups)):
        members = [p for p, name in enumerate(space.groups) if name == group]
        points = _points(space, members, group, spatial, bool(picked))
        made.add_trace(points.update(marker_symbol=symbols[index % len(symbols)]))
    for p in picked:
        made.add_trace(_loop(space, p, spatial))
    if picked:
        made.add_trace(_mark(space, picked[0], view, spatial))
    if spatial:
        named = dict(zip(("xaxis", "yaxis", "zaxis"), titles, strict=False))
        axes = {axis: {"title": {"text": title}, "nticks": 5} for axis, title in named.items()}
        made.update_layout(scene=axes | {"aspectmode": "data"}, margin={"l": 0, "b": 0})
    else:
        made.update_yaxes(scaleanchor="x", scaleratio=1)
        made.update_xaxes(zeroline=False, showgrid=True)
    several = len(set(space.groups)) > 1
    # side by side: in the order of groups, of which one is there, they would be one below the other
    legend = {"itemsizing": "constant", "traceorder": "normal"}
    return made.update_layout(showlegend=several, legend=legend)


def _trace(points: np.ndarray, spatial: bool, **options: Any) -> go.Scatter | go.Scatter3d:
    import plotly.graph_objects as go

    places = dict(zip("xyz" if spatial else "xy", np.round(points.T, 5), strict=False))
    return (go.Scatter3d if spatial else go.Scatter)(**places, **options)


def _points(
    space: Cloud, members: Sequence[int], group: str, spatial: bool, behind: bool
) -> go.Scatter | go.Scatter3d:
    Q = len(space.views)
    views = [0] if space.still else list(range(Q))
    every = [(p, q) for p in members for q in views]
    number = "%{x:.2f}, %{y:.2f}" + (", %{z:.2f}" if spatial else "")
    size = (3 if spatial else 5) + 3 * space.still
    options: dict[str, Any] = {}
    if not spatial:
        options = {"selected": {"marker": {"opacity": 1}}, "unselected": {"marker": {"opacity": 1}}}
    return _trace(
        np.array([space.points[p, q] for p, q in every]),
        spatial,
        name=words(group),
        mode="markers",
        marker={
            "color": [space.colours[p * Q + q] for p, q in every],
            "size": size,
            "opacity": 0.5 if behind else 0.9,
        },
        text=[_said(space, p, q) for p, q in every],
        customdata=[[p, -1 if space.still else q] for p, q in every],
        hovertemplate=f"%{{text}}<br>{number}<extra></extra>",
        **options,
    )


def _said(space: Cloud, p: int, q: int) -> str:
    return words(space.names[p]) + ("" if space.still else f" · {words(space.views[q])}")


def _loop(space: Cloud, p: int, spatial: bool) -> go.Scatter | go.Scatter3d:
    """All views of a thing, joined in their order."""
    Q = len(space.views)
    order = [0] if space.still else [*range(Q), *([0] if space.closed else [])]
    hues = [space.colours[p * Q + q] for q in order]
    return _trace(
        space.points[p, order],
        spatial,
        name=STANDS,
        legendgroup=STANDS,
        showlegend=False,
        mode="lines+markers",
        line={"color": GREY, "width": 1.5},
        marker={
            "color": hues,
            "size": 5 if spatial else 10,
            "line": {"color": GREY, "width": 1},
        },
        text=[_said(space, p, q) for q in order],
        customdata=[[p, -1 if space.still else q] for q in order],
        hovertemplate="%{text}<extra></extra>",
    )


def _mark(space: Cloud, p: int, view: int, spatial: bool) -> go.Scatter | go.Scatter3d:
    """A ring around the view that the page shows."""
    at = 0 if space.still else view
    ring = {"symbol": "circle-open", "size": 10 if spatial else 18, "color": GREY}
    return _trace(
        space.points[p, [at]],
        spatial,
        name=STANDS,
        showlegend=False,
        mode="markers",
        marker=ring | {"line": {"width": 3, "color": GREY}},
        hoverinfo="skip",
    )
