"""A small drawing in SVG."""

from ui.components.sketch.sketch import show

__all__ = ["show"]
