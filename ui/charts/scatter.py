"""Views as points in two or three dimensions, with the picked ones marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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
    spatial: bool = False  # in three dimensions


def cloud(space: Cloud) -> go.Figure:
    """The points, and the loop of the subject that was picked with its view marked.

    The customdata of a point is its subject.
    """
    made, spatial = _chart(space), space.spatial
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
        points = _views(space, members, range(Q), marker, mode="markers")
        made.add_trace(points.update(name=words(group), showlegend=True))
    if not spatial:
        full = {"marker": {"opacity": 1}}  # undo Plotly's change of points that are not selected
        made.update_traces(selected=full, unselected=full)
    if space.truth is not None:
        line = {"color": GREY, "width": 14}
        path = _trace(space, space.truth, mode="lines", line=line, hoverinfo="skip")
        made.add_trace(path.update(opacity=0.4))
    order = [*range(Q), *([0] if space.closed and Q > 1 else [])]
    for p in space.picked:
        marker = {"size": 5 if spatial else 8, "line": {"color": GREY, "width": 1}}
        line = {"color": GREY, "width": 2}
        made.add_trace(_views(space, [p], order, marker, mode="lines+markers", line=line))
        dots = space.projection.points[p] if space.dots is None else space.dots
        size, ring_of_view = 5 if spatial else 10, (dots[[space.view]], [GREY], 2, 3)
        rings = [] if space.dots is None else [(dots, list(space.dot_colours), 1, 1)]
        for places, colours, scale, width in (*rings, ring_of_view):
            line = {"width": width, "color": colours}
            marker = {"symbol": "circle-open", "size": scale * size, "color": colours, "line": line}
            ring = _trace(space, places, mode="markers", marker=marker, hoverinfo="skip")
            made.add_trace(ring)
    # side by side, not stacked as in the order of groups
    legend = {"itemsizing": "constant", "traceorder": "normal"}
    return made.update_layout(showlegend=len(set(groups)) > 1, legend=legend)


def _chart(space: Cloud) -> go.Figure:
    """An empty chart with axis titles and equal scales."""
    name = "" if space.spatial else f"{space.axis} "  # long titles are cut in space
    titles = [
        f"{name}{k + 1}" + (f" · {share:.0%}" if share else "")
        for k, share in enumerate(space.projection.shares)
    ]
    if not space.spatial:
        x, y = {"zeroline": False, "showgrid": True}, {"scaleanchor": "x", "scaleratio": 1}
        return figure(*titles[:2], xaxis=x, yaxis=y)
    axes: dict[str, Any] = {
        f"{name}axis": {"title": {"text": title}, "nticks": 5}
        for name, title in zip("xyz", titles, strict=True)
    }
    whole = {"aspectmode": "data", "camera": {"eye": dict.fromkeys("xyz", 1.9)}}  # with its titles
    return figure().update_layout(scene=axes | whole, margin={"l": 0, "b": 0})


def _views(
    space: Cloud, members: Iterable[int], views: Iterable[int], marker: Any, **options: Any
) -> Any:
    """A trace of some views of some subjects."""
    every, points = [(p, q) for p in members for q in views], space.projection.points
    marker["color"] = [space.colours[p * points.shape[1] + q] for p, q in every]
    label: dict[str, Any] = {"hoverinfo": "none"}
    if space.names:
        number = "%{x:.2f}, %{y:.2f}" + (", %{z:.2f}" if space.spatial else "")
        label = {"hovertemplate": f"%{{text}}<br>{number}<extra></extra>"}
        label["text"] = [
            " · ".join(map(words, [space.names[p], *space.views[q : q + 1]])) for p, q in every
        ]
    places, data = np.array([points[p, q] for p, q in every]), np.array([p for p, _ in every])
    return _trace(space, places, marker=marker, customdata=data, **label, **options)


def _trace(space: Cloud, points: np.ndarray, **options: Any) -> Any:
    """A trace of points [N, D] in two or three dimensions."""
    places = dict(zip("xyz" if space.spatial else "xy", np.round(points.T, 5), strict=False))
    kind = go.Scatter3d if space.spatial else go.Scatter
    return kind(**places, **{"showlegend": False, **options})
