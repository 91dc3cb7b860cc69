"""A picture with the boxes of its digits, and a frame to cut out one."""

from ui.components.crop.crop import Box, crop

__all__ = ["Box", "crop"]
