"""Infer the angle of pictures, from one view or several, and whether a picture is a digit."""

from fgpvae.orientation.one_view import GRID, belief, grid, modes, of_scores, upright_prior

__all__ = ["GRID", "belief", "grid", "modes", "of_scores", "upright_prior"]
