"""Which models and subjects there are; cached loaders."""

from ui.catalog import models, subjects
from ui.catalog.models import Choice

__all__ = ["Choice", "models", "subjects"]
