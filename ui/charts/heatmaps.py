"""Matrices as heat maps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ui.charts.colours import faded
from ui.charts.layout import figure

if TYPE_CHECKING:
    import plotly.graph_objects as go


def heatmap(
    values: np.ndarray,
    names: Sequence[str],
    colour: str,
    height: int,
    axis: str = "",
    top: int = 30,
) -> go.Figure:
    """A square matrix of values from 0, no colour, to 1, full colour; its first row on top.

    `names` are those of rows and of columns, each another.
    Without `axis`, a title for both, the axes are not drawn.
    """
    import plotly.graph_objects as go

    n = len(values)
    made = figure(height, axis, axis, top)
    made.add_trace(
        go.Heatmap(
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
    )
    ticks = list(range(0, n, max(n // 4, 1)))
    common = {
        "type": "category",
        "tickvals": [names[k] for k in ticks],
        "showgrid": False,
        "zeroline": False,
        "constrain": "domain",
        "visible": bool(axis),
    }
    made.update_xaxes(range=[-0.5, n - 0.5], **common)
    made.update_yaxes(range=[n - 0.5, -0.5], scaleanchor="x", **common)
    return made
