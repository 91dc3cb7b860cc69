"""Waiting on the server until the browser has painted what it was sent."""

from ui.components.painted.painted import routes, wait

__all__ = ["routes", "wait"]
