"""Estimate how long a run will take."""

import math

from fgpvae.data.collections import COLLECTIONS
from fgpvae.data.mnist import CLASS_COUNTS, DIGITS_PER_CLASS, TRAIN_DIGITS
from fgpvae.data.objects import UNSEEN
from fgpvae.training.batches import MOST_SUBJECTS
from fgpvae.training.configs import CUBES, FILMS, MOST_COPIES, RunConfig, network_weights

# fitted to the seconds of a step of every preset on one core; within a factor of two elsewhere
STEP = 0.026
WEIGHT = 7.8e-11  # seconds per weight and image
NUMBER = 1e-9  # seconds per number that a step holds
JOINT = 1.5  # factor for a Gaussian process over all images


def epoch_seconds(config: RunConfig, subjects: int | None = None) -> float:
    """Estimate the seconds of an epoch from sizes; `subjects` is the number of own objects."""
    batch, views = config.training.batch, config.data.views
    numbers = config.kind.numbers_in_a_step(config.model, batch, views)
    step = STEP + WEIGHT * network_weights(config.model) * batch * views + NUMBER * numbers
    steps = math.ceil(training_subjects(config, subjects) / batch)
    return steps * step * (JOINT if config.kind.fixed_angles else 1.0)


def training_subjects(config: RunConfig, subjects: int | None = None) -> int:
    """Number of training digits, figures, or of `subjects` own objects of a run."""
    data = config.data
    if subjects is not None:
        return subjects - max(1, round(UNSEEN * subjects))
    if data.split == CUBES:
        return 4 * MOST_COPIES + data.figures
    if data.split in COLLECTIONS and data.split != FILMS:
        return min(len(COLLECTIONS[data.split]().subjects(False)), MOST_SUBJECTS)
    if data.split not in ("continuous", FILMS):
        return len(data.classes) * (data.digits - data.validation * (data.keep_back == "digits"))
    if data.source == "embedded":
        return len(data.classes) * TRAIN_DIGITS
    return sum(CLASS_COUNTS[label] - DIGITS_PER_CLASS + TRAIN_DIGITS for label in data.classes)
