"""A button that copies the address of the page."""

from ui.components.copy_link.copy_link import copy_link

__all__ = ["copy_link"]
