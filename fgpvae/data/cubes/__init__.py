"""Shepard and Metzler's figures of cubes: 3-D objects, whose far side one view hides."""

from .drawing import ELEVATION, SIZE, draw, fits
from .figures import MOST_CUBES, Figure, from_cubes, parse
from .sets import (
    MOST_FIGURES,
    Splits,
    all_copies,
    chains,
    grown,
    random_chain,
    splits,
    training_figures,
    turned_copies,
)
from .turntable import ANGLES, GIVEN, Turntable, grid, references, task, turntable, views_of

__all__ = [
    "ANGLES",
    "ELEVATION",
    "GIVEN",
    "MOST_CUBES",
    "MOST_FIGURES",
    "SIZE",
    "Figure",
    "Splits",
    "Turntable",
    "all_copies",
    "chains",
    "draw",
    "fits",
    "from_cubes",
    "grid",
    "grown",
    "parse",
    "random_chain",
    "references",
    "splits",
    "task",
    "training_figures",
    "turned_copies",
    "turntable",
    "views_of",
]
