"""What surrounds every page: frame, notices, query parameters, palette; what all sessions share."""

from ui.shell import (
    about,
    frame,
    garbage,
    kept,
    notices,
    numbers,
    page_imports,
    palette,
    query_params,
    script_threads,
    warm_up,
    widget_keys,
)

__all__ = [
    "about",
    "frame",
    "garbage",
    "kept",
    "notices",
    "numbers",
    "page_imports",
    "palette",
    "query_params",
    "script_threads",
    "warm_up",
    "widget_keys",
]
