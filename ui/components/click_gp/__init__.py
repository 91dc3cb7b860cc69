"""A Gaussian process that one can click points into."""

from ui.components.click_gp.click_gp import State, click_gp

__all__ = ["State", "click_gp"]
