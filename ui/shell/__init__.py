"""What surrounds every page: frame, notices, query parameters, palette; the server's process."""

__all__ = [
    "about",
    "cache",
    "frame",
    "index",
    "notices",
    "numbers",
    "palette",
    "public",
    "query_params",
    "server",
    "widget_keys",
]
