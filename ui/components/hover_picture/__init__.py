"""A picture of the subject whose point of a chart is under the pointer.

Plotly's own label holds text only, and Streamlit reports clicks but not hovering. So the pictures
are sent to the browser in advance.
"""

from collections.abc import Sequence

import numpy as np

from ui.components.pictures import address
from ui.components.shared import Component

_component = Component("hover_picture")


def follow(charts: Sequence[str], images: np.ndarray, key: str) -> None:
    """Show pictures [P, H, W] or [P, 3, H, W] over charts of these keys.

    The customdata of a point begins with the index of its picture.
    """
    rows = np.moveaxis(images, 0, -3)  # [(3,) P, H, W]
    data = {
        "charts": [f".st-key-{chart.replace('.', '-')}" for chart in charts],
        "strip": address(rows.reshape(*rows.shape[:-3], -1, rows.shape[-1])),
        "count": len(images),
        "aspect": images.shape[-2] / images.shape[-1],
    }
    _component(key, data)


__all__ = ["follow"]
