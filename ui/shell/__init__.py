"""Shared by all pages: frame, notices, query parameters, palette, and set-up of the server."""

__all__ = ["about", "cache", "frame", "index", "notices", "palette", "public", "query_params"]
__all__ += ["server", "widget_keys"]
