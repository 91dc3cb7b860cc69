"""The page Rotate: two digits or two models beside each other, and objects."""

from ui.rotate import ahead, beside, figure_page, object_page
from ui.rotate.morph_swap import morph_swap
from ui.rotate.pair import pair

__all__ = ["ahead", "beside", "figure_page", "morph_swap", "object_page", "pair"]
