"""A picture of the subject whose point of a chart is under the pointer.

Plotly's own label holds text only, and Streamlit reports clicks but not hovering. So the pictures
are sent to the browser in advance.
"""

from collections.abc import Sequence

import numpy as np

from ui.components.pictures import address
from ui.components.shared import Component

_component = Component("hover_picture")


def follow(charts: Sequence[str], images: Sequence[np.ndarray], key: str) -> None:
    """Show pictures, each [H, W] or [3, H, W], over charts of these keys.

    The customdata of a point begins with the index of its picture.
    """
    height, width = images[0].shape[-2:]
    data = {
        "charts": [f".st-key-{chart.replace('.', '-')}" for chart in charts],
        "strip": address(np.concatenate(images, axis=-2)),
        "count": len(images),
        "aspect": height / width,
    }
    _component(key, data)


__all__ = ["follow"]
