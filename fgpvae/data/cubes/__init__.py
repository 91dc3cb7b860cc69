"""Shepard and Metzler's figures of cubes: 3-D objects, whose far side one view hides."""

from .drawing import SIZE, draw
from .figures import (
    ELEVATION,
    MOST_CUBES,
    MOST_FIGURES,
    all_copies,
    from_cubes,
    parse,
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
    "Turntable",
    "all_copies",
    "draw",
    "from_cubes",
    "grid",
    "parse",
    "references",
    "splits",
    "task",
    "training_figures",
    "turned_copies",
    "turntable",
    "views_of",
]
