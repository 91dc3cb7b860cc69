"""What surrounds every page: frame, notices, query parameters, palette."""

from ui.shell import frame, garbage, notices, numbers, palette, query_params

__all__ = ["frame", "garbage", "notices", "numbers", "palette", "query_params"]
