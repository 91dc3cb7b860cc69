"""The training data of a run: the source of its batches and the validation task."""

import numpy as np

from fgpvae import data
from fgpvae.data.collections import COLLECTIONS
from fgpvae.data.objects import Objects
from fgpvae.errors import UserError, require
from fgpvae.training.batches import FixedViews, FreshFilms, FreshViews, Source, TurnedFigures
from fgpvae.training.configs import CUBES, FILMS, MNIST, OBJECTS, DataConfig, RunConfig

MOST_SUBJECTS = 2000  # source of collections that have only one


def build_source(
    config: RunConfig, objects: Objects | None = None
) -> tuple[Source, data.Task | None]:
    """Build the batches of a run, and its validation task if digits were set aside."""
    settings, size = config.data, config.training.batch
    if settings.split == OBJECTS:
        if objects is None:
            raise UserError("A run on own data needs its objects.")
        return object_source(config, objects), None
    if settings.split == CUBES:
        figures, often = data.cube_figures.training_figures(settings.figures, config.seed)
        table = data.cubes.Turntable(figures, config.seed, config.model.network.shape[1])
        turned = TurnedFigures(table, often, size, settings.views, config.seed)
        fixed = config.kind.fixed_angles
        return FixedViews(turned.everything(), size, config.seed) if fixed else turned, None
    if settings.split == FILMS:
        return FreshFilms(training_digits(settings), size, settings.views, config.seed), None
    if settings.split in COLLECTIONS:
        views = COLLECTIONS[settings.split]().training_views(count=MOST_SUBJECTS)
        return FixedViews(views, size, config.seed), None
    kind, grey = config.kind, config.model.network.shape == MNIST[1]
    require(grey, "The digits are grey images of 28 x 28 pixels: set network.shape to that.")
    if settings.split == "continuous":
        same = f"The {kind.title} needs the same angles in every epoch: choose another data.split."
        require(not kind.fixed_angles, same)
        digits = training_digits(settings)
        return FreshViews(digits, size, settings.views, config.seed, settings.warp), None
    own = settings.source == "embedded"
    require(own, "The fixed splits are of the embedded digits; use the continuous split.")
    views, task = training_views(settings, config.seed), None
    if settings.validation and settings.keep_back == "views":
        views, task = data.splits.keep_views_back(views, settings.validation)
    elif settings.validation:
        new = f"The {kind.title} cannot take new digits: set data.keep_back to views."
        require(kind.takes_new_digits, new)
        views, kept = data.splits.split_validation(views, settings.validation)
        task = data.splits.leave_one_out(kept)
    return FixedViews(views, size, config.seed, settings.warp), task


def collection_of(
    config: DataConfig, objects: Objects | None = None, seed: int = 0
) -> data.collections.Collection:
    """The collection that a model with this config was trained on; own data require the objects."""
    if config.split == OBJECTS:
        if objects is None:
            raise UserError("The objects of this run are gone.")
        return data.collections.Own(objects, config.track, seed)
    if config.split in COLLECTIONS:
        return COLLECTIONS[config.split]()
    fresh = config.split == "continuous"
    unsure = bool(config.validation) or config.source not in ("embedded", "openml")
    trained = data.TRAIN_DIGITS if fresh else config.digits
    return data.collections.Digits(config.classes, trained, unsure)


def object_source(config: RunConfig, objects: Objects) -> FixedViews:
    fits = objects.shape == config.model.network.shape
    require(fits, f"The objects' images need a model.network.shape of {list(objects.shape)}.")
    few = objects.most_views() <= config.data.views
    require(few, f"An object has more than the {config.data.views} views of data.views.")
    views = data.objects.Own(objects, config.data.track, config.seed).train
    return FixedViews(views, config.training.batch, config.seed)


def training_views(config: DataConfig, seed: int) -> data.Views:
    """The benchmark's training set for a config (fixed splits only)."""
    if config.split == "shuffled":
        views = data.shuffled(config.classes, seed)
    else:
        views = data.factorized(config.classes, seed, config.views)
    return views[views.ids % data.DIGITS_PER_CLASS < config.digits]


def training_digits(config: DataConfig) -> data.Digits:
    """Upright digits of the package, of MNIST through OpenML, or of a directory of IDX files."""
    if config.source == "embedded":
        return data.trainable(data.embedded(config.classes))
    digits = data.mnist.load_openml() if config.source == "openml" else data.load_idx(config.source)
    chosen = digits[np.isin(digits.labels, config.classes)]
    require(len(chosen), f"{config.source} has no digit of the classes {list(config.classes)}.")
    return data.trainable(chosen)
