"""Which models, digits, objects and results there are; cached loaders."""

from ui.catalog import digits, models, objects, results
from ui.catalog.digits import Digit
from ui.catalog.models import Choice
from ui.catalog.objects import ObjectSet

__all__ = ["Choice", "Digit", "ObjectSet", "digits", "models", "objects", "results"]
