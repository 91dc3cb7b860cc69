"""Pictures from all round that turn together with the dial."""

from ui.components.turntable.turntable import turntable

__all__ = ["turntable"]
