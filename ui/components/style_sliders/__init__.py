"""Sliders for the style of a digit."""

from ui.components.style_sliders.style_sliders import Morph, slider_data, style_sliders

__all__ = ["Morph", "slider_data", "style_sliders"]
