"""A picture of the thing whose point of a chart is under the pointer."""

from ui.components.hover_picture.hover_picture import Thumbnails, follow

__all__ = ["Thumbnails", "follow"]
