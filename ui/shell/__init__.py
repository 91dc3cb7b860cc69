"""What surrounds every page: frame, notices, query parameters, palette."""

from ui.shell import about, frame, garbage, notices, numbers, palette, query_params

__all__ = ["about", "frame", "garbage", "notices", "numbers", "palette", "query_params"]
