"""Which models, subjects and results there are; cached loaders."""

from ui.catalog import models, results, subjects
from ui.catalog.models import Choice

__all__ = ["Choice", "models", "results", "subjects"]
