"""One digit as one model sees it: context views, style names, the strip of angles, the truth."""

from ui.inference import (
    angle_strip,
    captions,
    context_views,
    downloads,
    figure,
    server_view,
    style_names,
    truth,
)

__all__ = [
    "angle_strip",
    "captions",
    "context_views",
    "downloads",
    "figure",
    "server_view",
    "style_names",
    "truth",
]
