"""A picture to be turned upright by hand."""

from ui.components.upright.upright import upright

__all__ = ["upright"]
