"""One subject as one model sees it: context views, style names, the strip, the truth, samples."""

__all__ = [
    "cached",
    "captions",
    "context_views",
    "downloads",
    "places",
    "possibilities",
    "redrawn",
    "server_view",
    "stage",
    "strip",
    "style_names",
    "truth",
]
