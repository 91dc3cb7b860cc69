"""Which models, digits, objects and results there are; cached loaders."""

from ui.catalog import digits, figures, models, objects, results, things
from ui.catalog.digits import Digit
from ui.catalog.models import Choice
from ui.catalog.objects import ObjectSet

__all__ = [
    "Choice",
    "Digit",
    "ObjectSet",
    "digits",
    "figures",
    "models",
    "objects",
    "results",
    "things",
]
