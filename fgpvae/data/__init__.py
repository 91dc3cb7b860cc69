"""Rotated MNIST: digits, rotation, the splits of the benchmark, padded batches, loaders."""

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
    one_view,
    shuffled,
    shuffled_rows,
    split_validation,
    task,
)
from .views import Task, Views, batches, stream

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
    "batches",
    "draw_angles",
    "embedded",
    "extrapolation",
    "factorized",
    "interpolation",
    "load_idx",
    "load_openml",
    "one_view",
    "recipe_ids",
    "rotate",
    "rotate_fast",
    "shuffled",
    "shuffled_rows",
    "split_validation",
    "stream",
    "task",
    "trainable",
    "unseen",
]
