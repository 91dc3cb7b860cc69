"""Rotated MNIST: digits, rotation, the splits of the benchmark, padded batches, loaders.

>>> from fgpvae import data
>>> threes = data.embedded((3,))  # the benchmark's digits, upright
>>> threes.images.shape
(400, 28, 28)
>>> data.rotate(threes.images[:2], data.ANGLES).shape  # radians, counter-clockwise
(2, 16, 28, 28)

A task is a context of views and what is to be imagined from it:

>>> task = data.extrapolation()  # digits never trained on, at an angle never trained on
>>> task.context.images.shape, task.at.shape, task.targets.shape
(torch.Size([40, 11, 28, 28]), torch.Size([40, 1]), torch.Size([40, 1, 28, 28]))

One's own objects are in `data.objects` and read by `data.object_files`; figures of cubes are in
`data.cubes`.
"""

from . import cubes, object_files, objects
from .augment import warp
from .digits import (
    CLASS_COUNTS,
    DIGITS_PER_CLASS,
    TRAIN_DIGITS,
    UNSEEN_PER_CLASS,
    Digits,
    embedded,
    other_than_unseen,
    recipe_ids,
    trainable,
    unseen,
)
from .rotation import ANGLES, HELD_OUT_INDEX, rotate, rotate_fast
from .sources import load_idx, load_openml
from .splits import (
    TEST_DIGITS,
    draw_angles,
    extrapolation,
    factorized,
    interpolation,
    keep_views_back,
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
    "HELD_OUT_INDEX",
    "TEST_DIGITS",
    "TRAIN_DIGITS",
    "UNSEEN_PER_CLASS",
    "Digits",
    "Task",
    "Views",
    "cubes",
    "draw_angles",
    "embedded",
    "extrapolation",
    "factorized",
    "interpolation",
    "keep_views_back",
    "leave_one_out",
    "load_idx",
    "load_openml",
    "object_files",
    "objects",
    "one_view",
    "other_than_unseen",
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
