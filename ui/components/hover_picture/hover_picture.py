"""A picture of the thing whose point of a chart is under the pointer.

Plotly's own label holds text alone, and Streamlit tells the server of clicks, not of hovering. So
the pictures are in the browser, and nothing is asked of the server.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ui.components.pictures import address
from ui.components.shared import Component
from ui.shell.kept import content, kept

_component = Component("hover_picture", "hover_picture/hover_picture.js")


@dataclass(frozen=True)
class Thumbnails:
    """One picture [P, H, W] or [P, 3, H, W] of each of P things."""

    images: np.ndarray
    degrees: Sequence[float] = ()  # by which each view is turned, where that is all that differs

    def strip(self) -> str:
        """All of them below each other, as one address."""
        return _strip(self.images)


@kept(16, by=content)
def _strip(images: np.ndarray) -> str:
    rows = np.moveaxis(images, 0, -3)  # [(3,) P, H, W]
    return address(rows.reshape(*rows.shape[:-3], -1, rows.shape[-1]), 1)


def follow(charts: Sequence[str], shown: Thumbnails, key: str) -> None:
    """Show pictures over charts of these keys, whose points have [thing, view] as customdata."""
    data = {
        "charts": [f".st-key-{chart.replace('.', '-')}" for chart in charts],
        "strip": shown.strip(),
        "count": len(shown.images),
        "aspect": shown.images.shape[-2] / shown.images.shape[-1],
        "degrees": [float(each) for each in shown.degrees],
    }
    _component(key=key, data=data)
