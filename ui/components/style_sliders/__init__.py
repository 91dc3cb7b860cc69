"""Sliders for the style of a digit."""

from ui.components.style_sliders.style_sliders import Morph, style_sliders

__all__ = ["Morph", "style_sliders"]
