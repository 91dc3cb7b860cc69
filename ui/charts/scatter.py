"""Views as points in two or three dimensions, with the picked ones marked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from fgpvae.evaluation.latents import Projection
from ui.charts import GREY, figure, words

# symbols of groups, in addition to colours; fewer in three dimensions
SYMBOLS = ["circle", "square", "diamond", "cross", "x"]
SPATIAL_SYMBOLS = [*SYMBOLS, "circle-open", "square-open", "diamond-open"]
SYMBOLS += ["triangle-up", "triangle-down", "pentagon", "star", "hourglass"]


@dataclass(frozen=True)
class Cloud:
    """Q views each of P subjects, projected from some channels, with a view of those picked."""

    projection: Projection
    colours: Sequence[str]  # colours of the P Q points, subject after subject
    groups: Sequence[str] = ()  # groups of the P subjects: each is a trace with a legend entry
    names: Sequence[str] = ()  # labels of the P subjects; None for no labels
    views: Sequence[str] = ()  # names of the Q views, if a subject is not one point
    closed: bool = True  # whether the last view is connected to the first
    dots: np.ndarray | None = None  # other places [V, 3] of views of the picked subject
    dot_colours: Sequence[str] = ()
    axis: str = "component"
    truth: np.ndarray | None = None  # the line [S, 3] that the picked subject should follow
    picked: Sequence[int] = ()  # at most one subject
    view: int = 0  # of the picked subject


def cloud(space: Cloud, spatial: bool) -> go.Figure:
    """The points, and the loop of the subject that was picked with its view marked.

    The customdata of a point is [subject].
    """
    made = _chart(space, spatial)
    symbols = SPATIAL_SYMBOLS if spatial else SYMBOLS
    P, Q = space.projection.points.shape[:2]
    groups = space.groups or ["views"] * P
    for index, group in enumerate(dict.fromkeys(groups)):
        members = [p for p, name in enumerate(groups) if name == group]
        marker = {
            "size": (3 if spatial else 4) * (2 if Q == 1 else 1),
            "opacity": 0.12 if space.truth is not None else 0.45 if space.picked else 0.9,
            "symbol": symbols[index % len(symbols)],
        }
        points = _trace(space, members, range(Q), spatial, marker, mode="markers")
        made.add_trace(points.update(name=words(group), showlegend=True))
    if not spatial:
        full = {"marker": {"opacity": 1}}  # undo Plotly's change of points that are not selected
        made.update_traces(selected=full, unselected=full)
    if space.truth is not None:
        line = {"color": GREY, "width": 14}
        path = _scatter(space.truth, spatial, mode="lines", line=line, hoverinfo="skip")
        made.add_trace(path.update(opacity=0.4))
    order = [*range(Q), *([0] if space.closed and Q > 1 else [])]
    for p in space.picked:
        marker = {"size": 5 if spatial else 8, "line": {"color": GREY, "width": 1}}
        line = {"color": GREY, "width": 2}
        loop = _trace(space, [p], order, spatial, marker, mode="lines+markers", line=line)
        made.add_trace(loop)
        dots = space.projection.points[p] if space.dots is None else space.dots
        size = 5 if spatial else 10
        if space.dots is not None:
            made.add_trace(_circles(dots, space.dot_colours, size, 1, spatial))
        made.add_trace(_circles(dots[[space.view]], [GREY], 2 * size, 3, spatial))
    # side by side, not stacked as in the order of groups
    legend = {"itemsizing": "constant", "traceorder": "normal"}
    return made.update_layout(showlegend=len(set(groups)) > 1, legend=legend)


def _chart(space: Cloud, spatial: bool) -> go.Figure:
    """An empty chart with axis titles and equal scales."""
    titles = [
        f"{space.axis} {k + 1}" + (f" · {share:.0%}" if share else "")
        for k, share in enumerate(space.projection.shares)
    ]
    made = figure(titles[0], titles[1])
    if not spatial:
        made.update_yaxes(scaleanchor="x", scaleratio=1)
        return made.update_xaxes(zeroline=False, showgrid=True)
    axes: dict[str, Any] = {
        f"{name}axis": {"title": {"text": title}, "nticks": 5}
        for name, title in zip("xyz", titles, strict=True)
    }
    return made.update_layout(scene=axes | {"aspectmode": "data"}, margin={"l": 0, "b": 0})


def _trace(
    space: Cloud,
    members: Sequence[int],
    views: Sequence[int],
    spatial: bool,
    marker: dict[str, Any],
    **options: Any,
) -> go.Scatter | go.Scatter3d:
    """Some views of some subjects."""
    every, points = [(p, q) for p in members for q in views], space.projection.points
    marker["color"] = [space.colours[p * points.shape[1] + q] for p, q in every]
    label: dict[str, Any] = {"hoverinfo": "none"}
    if space.names:
        number = "%{x:.2f}, %{y:.2f}" + (", %{z:.2f}" if spatial else "")
        label = {"hovertemplate": f"%{{text}}<br>{number}<extra></extra>"}
        label["text"] = [
            " · ".join(map(words, [space.names[p], *space.views[q : q + 1]])) for p, q in every
        ]
    return _scatter(
        np.array([points[p, q] for p, q in every]),
        spatial,
        marker=marker,
        customdata=[[p] for p, _ in every],
        **label,
        **options,
    )


def _circles(
    points: np.ndarray, colours: Sequence[str], size: int, width: int, spatial: bool
) -> go.Scatter | go.Scatter3d:
    line = {"width": width, "color": list(colours)}
    marker = {"symbol": "circle-open", "size": size, "color": list(colours), "line": line}
    return _scatter(points, spatial, marker=marker, mode="markers", hoverinfo="skip")


def _scatter(points: np.ndarray, spatial: bool, **options: Any) -> go.Scatter | go.Scatter3d:
    places = dict(zip("xyz" if spatial else "xy", np.round(points.T, 5), strict=False))
    return (go.Scatter3d if spatial else go.Scatter)(**places, **{"showlegend": False, **options})
