"""The page Compare: the table, the same subjects through every model, and what it costs."""

from ui.compare import curve_cards, evaluation, pictures_card, table_cards

__all__ = ["curve_cards", "evaluation", "pictures_card", "table_cards"]
