"""The page Extrapolate: builders of subjects of one's own, one for each collection."""

from ui.extrapolate import cubes, digits, films
from ui.extrapolate.built import PARAMS, Built

BUILDERS = {"digits": digits.build, "cubes": cubes.build, "films": films.build}

__all__ = ["BUILDERS", "PARAMS", "Built"]
