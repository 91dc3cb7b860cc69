"""The angle of a picture: from one view, from several views, and whether it is a digit at all."""

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
    "class_styles",
    "grid",
    "likeliest",
    "modes",
    "novelty",
    "of_scores",
    "one_view",
    "picture_scores",
    "several_views",
    "upright_prior",
]
