"""Rotated MNIST: digits, rotation, the splits of the benchmark, padded batches, loaders.

One's own objects are in `data.objects`.
"""

from . import objects
from .augment import warp
from .digits import (
    CLASS_COUNTS,
    DIGITS_PER_CLASS,
    TRAIN_DIGITS,
    UNSEEN_PER_CLASS,
    Digits,
    embedded,
    recipe_ids,
    trainable,
    unseen,
)
from .rotation import ANGLES, HELD_OUT, rotate, rotate_fast
from .sources import load_idx, load_openml
from .splits import (
    TEST_DIGITS,
    draw_angles,
    extrapolation,
    factorized,
    interpolation,
    leave_one_out,
    one_view,
    shuffled,
    shuffled_rows,
    split_validation,
    task,
)
from .views import Task, Views

__all__ = [
    "ANGLES",
    "CLASS_COUNTS",
    "DIGITS_PER_CLASS",
    "HELD_OUT",
    "TEST_DIGITS",
    "TRAIN_DIGITS",
    "UNSEEN_PER_CLASS",
    "Digits",
    "Task",
    "Views",
    "draw_angles",
    "embedded",
    "extrapolation",
    "factorized",
    "interpolation",
    "leave_one_out",
    "load_idx",
    "load_openml",
    "objects",
    "one_view",
    "recipe_ids",
    "rotate",
    "rotate_fast",
    "shuffled",
    "shuffled_rows",
    "split_validation",
    "task",
    "trainable",
    "unseen",
    "warp",
]
