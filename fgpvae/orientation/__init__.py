"""Infer the angle of pictures, from one view or several, and whether a picture is a digit."""

from fgpvae.orientation.one_view import (
    GRID,
    Mode,
    belief,
    grid,
    likeliest,
    modes,
    of_scores,
    upright_prior,
)

__all__ = [
    "GRID",
    "Mode",
    "belief",
    "grid",
    "likeliest",
    "modes",
    "of_scores",
    "upright_prior",
]
