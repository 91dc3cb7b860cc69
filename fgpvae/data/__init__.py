"""Rotated MNIST: digits, rotation, the splits of the benchmark, padded batches, loaders.

>>> from fgpvae import data
>>> threes = data.embedded((3,))  # the benchmark's digits, upright
>>> threes.images.shape
(400, 28, 28)
>>> data.rotate(threes.images[:2], data.ANGLES).shape  # radians, counter-clockwise
(2, 16, 28, 28)

A task is a context of views, and the views to predict from it:

>>> task = data.extrapolation()  # digits never trained on, at an angle never trained on
>>> task.context.images.shape, task.at.shape, task.targets.shape
(torch.Size([40, 11, 28, 28]), torch.Size([40, 1]), torch.Size([40, 1, 28, 28]))

`data.objects` and `data.object_files` are for your own objects, `data.cubes` for cube figures.
"""

from . import collections, cubes, films, object_files, objects
from .mnist import DIGITS_PER_CLASS, TRAIN_DIGITS, Digits, embedded, load_idx, trainable, unseen
from .rotation import ANGLES, HELD_OUT_INDEX, circular_error, rotate, rotate_fast, warp
from .splits import extrapolation, factorized, interpolation, one_view, shuffled, task
from .views import Task, Views

__all__ = [
    "ANGLES",
    "DIGITS_PER_CLASS",
    "HELD_OUT_INDEX",
    "TRAIN_DIGITS",
    "Digits",
    "Task",
    "Views",
    "circular_error",
    "collections",
    "cubes",
    "embedded",
    "extrapolation",
    "factorized",
    "films",
    "interpolation",
    "load_idx",
    "object_files",
    "objects",
    "one_view",
    "rotate",
    "rotate_fast",
    "shuffled",
    "task",
    "trainable",
    "unseen",
    "warp",
]
