"""The page Compare: the table, the same digits through every model, and what it costs."""

from ui.compare import evaluation, picture_matrix
from ui.compare.digits_card import pictures
from ui.compare.objects_card import objects
from ui.compare.one_view_card import one_view
from ui.compare.picker import choose
from ui.compare.scaling_cards import context, scaling
from ui.compare.table_card import table as table_card

STYLE = picture_matrix.STYLE

__all__ = [
    "STYLE",
    "choose",
    "context",
    "evaluation",
    "objects",
    "one_view",
    "pictures",
    "scaling",
    "table_card",
]
