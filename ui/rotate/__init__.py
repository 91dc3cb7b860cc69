"""The page Rotate: a second model beside the first; morph and swap; a guided visit."""

from ui.rotate import beside, guide
from ui.rotate.morph_swap import morph_swap

__all__ = ["beside", "guide", "morph_swap"]
