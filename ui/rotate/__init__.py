"""The page Rotate: two digits or two models beside each other, and objects of one's own."""

from ui.rotate import beside, object_page
from ui.rotate.morph_swap import morph_swap
from ui.rotate.pair import pair

__all__ = ["beside", "morph_swap", "object_page", "pair"]
