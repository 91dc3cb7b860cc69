"""What `st.plotly_chart` lacks: files as PNG and SVG, updates in place, and pictures of points.

Its options are JSON without functions, a changed figure is a new element, which loses the zoom,
Plotly's own label holds text only, and Streamlit reports clicks but not hovering.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ui.components.pictures import address
from ui.components.shared import Component

_tools, _pictures = Component("plot_tools"), Component("hover_picture", "plot_tools")


def show(key: str, file: str, alt: str = "", figure: str = "") -> None:
    """Serve the chart in the same container, whose key ends in `.place`.

    `file` is the name of saved files. `figure`, as JSON, replaces the chart's figure.
    """
    _tools(key, {"file": file, "alt": alt, "figure": figure})


def stacked(images: Sequence[np.ndarray]) -> dict[str, Any]:
    """Pictures, each [H, W] or [3, H, W], for `hover`."""
    height, width = images[0].shape[-2:]
    strip = address(np.concatenate(images, axis=-2))
    return {"strip": strip, "count": len(images), "aspect": height / width}


def hover(charts: Sequence[str], pictures: dict[str, Any], key: str) -> None:
    """Show the pictures of points under the pointer in charts of these keys.

    The customdata of a point is the index of its picture.
    """
    places = [f".st-key-{chart.replace('.', '-')}" for chart in charts]
    _pictures(key, {"charts": places, **pictures})


__all__ = ["hover", "show", "stacked"]
