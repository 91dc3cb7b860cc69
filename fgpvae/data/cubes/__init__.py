"""Things that no rotation of a picture can turn: Shepard and Metzler's figures of cubes."""

from .drawing import ELEVATION, GREY, SIZE, Face, check_fits, draw, faces, project
from .figures import MOST_CUBES, Figure, from_cubes, parse
from .references import references
from .sets import (
    MOST_FIGURES,
    Splits,
    all_copies,
    chains,
    grown,
    more_figures,
    random_chain,
    splits,
    training_figures,
    turned_copies,
)
from .turntable import ANGLES, GIVEN, Turntable, grid, task, turntable, views_of

__all__ = [
    "ANGLES",
    "ELEVATION",
    "GIVEN",
    "GREY",
    "MOST_CUBES",
    "MOST_FIGURES",
    "SIZE",
    "Face",
    "Figure",
    "Splits",
    "Turntable",
    "all_copies",
    "chains",
    "check_fits",
    "draw",
    "faces",
    "from_cubes",
    "grid",
    "grown",
    "more_figures",
    "parse",
    "project",
    "random_chain",
    "references",
    "splits",
    "task",
    "training_figures",
    "turned_copies",
    "turntable",
    "views_of",
]
