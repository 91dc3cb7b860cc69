"""The digit on the dial beside the true one, while it turns."""

from ui.components.truth.truth import truth

__all__ = ["truth"]
