"""The page Extrapolate: a builder for each collection, with which users make subjects."""

from ui.extrapolate import cubes, digits, films
from ui.extrapolate.built import PARAMS, Built

BUILDERS = {"digits": digits.build, "cubes": cubes.build, "films": films.build}

__all__ = ["BUILDERS", "PARAMS", "Built"]
