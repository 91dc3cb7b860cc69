"""Batches of a training run, of stored views or of views rendered for every batch.

Every random number is drawn from (seed, purpose, index), never from what came before.
"""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from fgpvae import data
from fgpvae.data import Digits, Views, films, rotate_fast, warp
from fgpvae.data.collections import COLLECTIONS
from fgpvae.data.cubes import Turntable
from fgpvae.data.objects import Objects
from fgpvae.errors import UserError, require
from fgpvae.gp import randomness
from fgpvae.gp.randomness import Part, PartGenerator
from fgpvae.training.configs import CUBES, FILMS, MNIST, OBJECTS, DataConfig, RunConfig

MOST_SUBJECTS = 2000  # source of collections that have only one
SHAPES = 0.1  # share of films that show a shape instead of a digit


def random_generator(
    seed: int, purpose: int, index: int, part: Part | None = None
) -> PartGenerator:
    """A generator that depends on these three numbers alone, for a part of a batch or all of it."""
    sequence = np.random.SeedSequence([seed, purpose, index])
    generator = PartGenerator()
    generator.manual_seed(int(sequence.generate_state(1, np.uint64)[0]))
    generator.part = part
    return generator


class Source:
    """Batches by number, whole or one worker's part; every epoch has a new order of subjects."""

    make: Callable[[Tensor, torch.Generator], Views]  # views of the subjects in these rows

    def __init__(self, digits: int, size: int, seed: int) -> None:
        self.digits, self.size, self.seed = digits, size, seed
        self.steps = math.ceil(digits / size)  # batches in an epoch

    def rows(self, step: int) -> Tensor:
        """The subjects of a step."""
        epoch, k = divmod(step, self.steps)
        order = torch.randperm(self.digits, generator=random_generator(self.seed, 0, epoch))
        return order[k * self.size : (k + 1) * self.size]

    def batch(self, step: int, part: Part | None = None) -> Views:
        """The views of a step, or of this worker's part of it."""
        rows, generator = self.rows(step), random_generator(self.seed, 1, step, part)
        return self.make(rows if part is None else part.of(rows), generator)

    def everything(self) -> Views:
        """Views of all subjects."""
        return self.make(torch.arange(self.digits), random_generator(self.seed, 1, -1 % 2**32))


class FixedViews(Source):
    """A training set of stored views, unchanged or with a new smooth deformation in every batch."""

    def __init__(self, views: Views, size: int, seed: int, strength: float = 0.0) -> None:
        super().__init__(len(views), size, seed)
        self.views, self.strength = views, strength

    def make(self, rows: Tensor, generator: torch.Generator) -> Views:
        views = self.views[rows]
        return warp(views, self.strength, generator) if self.strength else views

    def everything(self) -> Views:
        return self.views


class FreshViews(Source):
    """Upright digits, turned to new angles all around the circle in every batch."""

    def __init__(
        self, digits: Digits, size: int, views: int, seed: int, strength: float = 0.0
    ) -> None:
        super().__init__(len(digits.labels), size, seed)
        self.images, self.labels = map(torch.as_tensor, (digits.images, digits.labels))
        self.views, self.strength = views, strength

    def make(self, rows: Tensor, generator: torch.Generator) -> Views:
        angles = 2 * math.pi * randomness.uniform((len(rows), self.views), torch.float64, generator)
        images = rotate_fast(self.images[rows].float(), angles)
        views = Views.complete(images, angles, rows, self.labels[rows])
        return warp(views, self.strength, generator) if self.strength else views


class TurnedFigures(Source):
    """Cube figures, from other sides in every batch; the first `often` four times an epoch."""

    def __init__(self, table: Turntable, often: int, size: int, views: int, seed: int) -> None:
        rows = torch.arange(len(table))
        self.entries = torch.cat([rows[:often].repeat(4), rows[often:]])
        super().__init__(len(self.entries), size, seed)
        self.table, self.views = table, views

    def make(self, rows: Tensor, generator: torch.Generator) -> Views:
        return self.table.batch(self.entries[rows], self.views, generator)

    def everything(self) -> Views:
        """Each figure once."""
        generator = random_generator(self.seed, 1, -1 % 2**32)
        return self.table.batch(torch.arange(len(self.table)), self.views, generator)


class FreshFilms(FreshViews):
    """Digits and shapes that move along new paths in every batch, each film with its own times."""

    def make(self, rows: Tensor, generator: torch.Generator) -> Views:
        P = len(rows)
        paths = films.random_paths((P,), generator)
        t = 2 * randomness.uniform((P, self.views), torch.float64, generator) - 1
        shapes = randomness.uniform((P,), generator=generator) < SHAPES
        others = films.random_shapes(P, generator)
        looks = torch.where(shapes[:, None, None], others, self.images[rows].float())
        labels = torch.where(shapes, -1, self.labels[rows])
        return Views.complete(films.draw(looks, paths(t)), t, rows, labels)


def random_context(observed: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """Draw a context: for a share of the digits a random part of the views, from 1 to all."""
    rank, less = _random_order(observed, generator)
    everything = randomness.uniform((len(observed), 1), generator=generator) >= share
    return observed & (everything | (rank <= less))


def random_part(observed: Tensor, generator: torch.Generator) -> Tensor:
    """A random part of the views of each digit, from none to all but one."""
    rank, less = _random_order(observed, generator)
    return observed & (rank < less)


def _random_order(observed: Tensor, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Random ranks of the observed views [P, Q], and a random number below their count [P, 1]."""
    P, Q = observed.shape
    order = randomness.uniform((P, Q), generator=generator).masked_fill(~observed, 2.0)
    count = observed.sum(-1, keepdim=True)
    less = (randomness.uniform((P, 1), generator=generator) * count).long()
    return order.argsort(-1).argsort(-1), less


def build_source(
    config: RunConfig, objects: Objects | None = None
) -> tuple[Source, data.Task | None]:
    """Build the batches of a run, and its validation task if digits were set aside."""
    settings, size = config.data, config.training.batch
    if settings.split == OBJECTS:
        if objects is None:
            raise UserError("A run on own data needs its objects.")
        fits = objects.shape == config.model.network.shape
        require(fits, f"The objects' images need a model.network.shape of {list(objects.shape)}.")
        few = objects.most_views() <= settings.views
        require(few, f"An object has more than the {settings.views} views of data.views.")
        views = data.objects.Own(objects, settings.track, config.seed).train
        return FixedViews(views, size, config.seed), None
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
