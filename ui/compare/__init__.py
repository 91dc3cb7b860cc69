"""The page Compare: the table, the same subjects through every model, and what it costs."""

from ui.compare.curve_cards import digits_by_views, scaling, subjects_by_views
from ui.compare.evaluation import choose
from ui.compare.pictures_card import pictures
from ui.compare.table_cards import one_view, paper_table

__all__ = [
    "choose",
    "digits_by_views",
    "one_view",
    "paper_table",
    "pictures",
    "scaling",
    "subjects_by_views",
]
