"""Dataclasses that determine a run, and their conversion to plain values and back."""

import dataclasses
import reprlib
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import torch

from fgpvae import models
from fgpvae.data import TRAIN_DIGITS, cube_figures, cubes, films
from fgpvae.data.collections import COLLECTIONS
from fgpvae.data.mnist import check_classes
from fgpvae.data.track import Track
from fgpvae.errors import UserError
from fgpvae.gp.kernels import ON_A_LINE, TWO_PI
from fgpvae.models import FGPVAEConfig, Model, ModelConfig
from fgpvae.settings import check, coerce, setting
from fgpvae.training.objectives import ObjectiveConfig

MOST_WEIGHTS = 20_000_000  # weights of encoder and decoder
MOST_IMAGES = 2**14  # images in a batch
MOST_NUMBERS = 300_000_000  # 4-byte numbers in a step; a step with so many took 1.3 GB
OBJECTS = "objects"  # the split of own data
CUBES = "cubes"  # the split of the figures of cubes
FILMS = "films"  # the split of films
DIGITS = {  # the splits of digits and their labels
    "factorized": "the paper's, whole digits",
    "shuffled": "the baselines', single images",
    "continuous": "new angles in every batch",
}
FIXED = "factorized|shuffled"  # splits with validation digits
MNIST = ("embedded", (1, 28, 28))  # the source of a split, and the shape of its images
IMAGES = {
    CUBES: ("drawn", (1, cubes.SIZE, cubes.SIZE)),
    FILMS: ("embedded", (1, films.SIZE, films.SIZE)),
}  # if they differ from the default

LINE = 4.0  # a period of which times from -1 to 1 cover half
MOST_COPIES = 12 * 160  # of the training shapes

C = TypeVar("C")


@dataclass(frozen=True)
class DataConfig:
    """Training data: split, source, classes, numbers of digits and views.

    >>> from fgpvae import DataConfig
    >>> DataConfig("shuffled", classes=[3, 8]).classes
    (3, 8)
    """

    split: str = setting(
        "factorized",
        "Digits of the paper or of its baselines, digits at new angles, cube figures or films.",
        label="Training set",
        choices=DIGITS | {name: each.words.many for name, each in COLLECTIONS.items()},
        open=True,
        needs=f"split={'|'.join([*DIGITS, *COLLECTIONS])}",
    )
    # or a directory of IDX files, or the origin of own objects
    source: str = setting(
        "embedded",
        "The digits of the package, or all of MNIST.",
        choices={"embedded": "digits of the package", "openml": "all of MNIST, from openml.org"},
        open=True,
        needs=f"split=continuous|{FILMS}",
    )
    classes: tuple[int, ...] = setting(
        (3,),
        "Digits to learn; the paper has threes.",
        choices={label: str(label) for label in range(10)},
        needs=f"split={'|'.join(DIGITS)}",
    )
    digits: int = setting(
        TRAIN_DIGITS,
        "Training digits of each class.",
        "P",
        bounds=(1, TRAIN_DIGITS),
        needs=f"split={FIXED}",
    )
    views: int = setting(
        11,
        "Angles of a digit in a batch.",
        "Q",
        bounds=(1, 512),
        needs=f"split=factorized|continuous|{CUBES}|{FILMS}",
    )
    validation: int = setting(
        0,
        "Training digits of each class that are set aside to test on.",
        label="Validation digits",
        bounds=(0, 90),
        needs=f"split={FIXED}",
    )
    keep_back: str = setting(
        "digits",
        "Whole validation digits, or one view of each, to be predicted from the others.",
        label="Set aside",
        choices={"digits": "whole digits", "views": "single views"},
        needs="validation",
    )
    warp: float = setting(
        0.0,
        "Strength of random smooth deformations, the same for all views of a digit.",
        label="Deformation",
        bounds=(0.0, 5.0),
        needs=f"split={'|'.join(DIGITS)}",
    )
    track: Track = field(default_factory=Track)  # track of the views of own objects
    figures: int = setting(
        0,
        "Random figures of cubes beside the copies of the 160 training shapes.",
        label="More figures",
        bounds=(0, cube_figures.MOST_FIGURES),
        needs=f"split={CUBES}",
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", check_classes(self.classes))
        check(self)
        if self.split not in (*DIGITS, *COLLECTIONS, OBJECTS):
            known = f"{', '.join(DIGITS)}, {' or '.join(COLLECTIONS)}"
            raise UserError(f"There is no split '{self.split:.60}'; choose {known}.")
        if self.validation and not self.can_validate:
            raise UserError(
                f"The {self.split} split sets nothing aside: set the validation digits to 0 and "
                "keep the last weights."
            )
        if self.warp and self.split not in DIGITS:
            raise UserError("Only digits are warped: set data.warp to 0.")
        most = {"factorized": 15, CUBES: cubes.ANGLES}.get(self.split, self.views)
        if self.views > most:
            raise UserError(
                f"The {self.split} split has {most} angles to draw views (Q) from, not "
                f"{self.views}."
            )

    @property
    def collection(self) -> str:
        """What is learned: digits, or the name of the split."""
        return "digits" if self.split in DIGITS else self.split

    @property
    def own(self) -> bool:
        """True if a run is trained on a copy of the user's own objects."""
        return self.split == OBJECTS

    @property
    def can_validate(self) -> bool:
        """Whether a part of the training set can be set aside."""
        return self.split in FIXED.split("|")

    @property
    def directory(self) -> str:
        """The directory that digits are read from; empty if they come from elsewhere."""
        drawn = self.split not in (*DIGITS, FILMS)
        elsewhere = drawn or self.source in ("embedded", "openml")
        return "" if elsewhere else self.source

    @property
    def title(self) -> str:
        """The training set in a few words."""
        every, listed = len(self.classes) == 10, ", ".join(map(str, self.classes))
        digits = "all digits" if every else f"digit {listed}"
        if self.split == OBJECTS:
            return f"objects of {self.source[:60]}"
        found = COLLECTIONS.get(self.split)
        return digits if found is None else found.words.many


@dataclass(frozen=True)
class TrainingConfig:
    """Optimisation: epochs, batch, learning rate and schedule, averaging, precision.

    >>> from fgpvae import TrainingConfig
    >>> TrainingConfig(epochs=0)
    Traceback (most recent call last):
    fgpvae.settings.SettingError: epochs must be from 1 to 100000, not 0.
    """

    epochs: int = setting(100, "Passes over the training set.", bounds=(1, 100_000))
    batch: int = setting(20, "Digits in a step, with all their views.", bounds=(1, 4096))
    learning_rate: float = setting(1e-3, "Step size of Adam.", bounds=(1e-8, 1.0))
    schedule: str = setting(
        "constant",
        "Keep the learning rate, or lower it along a cosine to a hundredth.",
        choices={"constant": "constant", "cosine": "cosine"},
    )
    warmup: int = setting(
        0, "Steps over which the learning rate rises.", label="Warm-up", bounds=(0, 1_000_000)
    )
    weight_decay: float = setting(0.0, "Weight decay of AdamW.", bounds=(0.0, 100.0))
    clip: float = setting(0.0, "Largest norm of the gradient; 0: no limit.", bounds=(0.0, 1e12))
    average: float = setting(
        0.0,
        "Decay of the moving average of the weights that is saved; 0: the weights themselves.",
        bounds=(0.0, 0.999999),
    )
    context_dropout: float = setting(
        0.0,
        "Share of digits that are inferred from a random part of their views; teaches the model "
        "to work from few.",
        bounds=(0.0, 1.0),
    )
    # at most half of all epochs
    recognition: int = setting(
        0,
        "Last epochs, in which only the encoder of the local channels learns; 0: none.",
        bounds=(0, 100_000),
        needs="model.mean_function, model.network.harmonics",
    )
    validate_every: int = setting(
        10,
        "Epochs between two tests on the validation digits.",
        bounds=(1, 100_000),
        needs="data.validation",
    )
    keep: str = setting(
        "last",
        "The last weights, or the best on the validation digits.",
        choices={"last": "the last weights", "best": "the best on validation digits"},
        needs="data.validation",
    )
    precision: str = setting(
        "float32",
        "Number format in the networks; bfloat16 only where the hardware multiplies in it.",
        choices={"float32": "float32", "bfloat16": "bfloat16"},
    )
    start: str = ""  # shipped model or run with the initial weights; empty: random ones

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class RunConfig:
    """Everything that determines a run; equal configs give equal weights.

    >>> from fgpvae import RunConfig, TrainingConfig
    >>> RunConfig(seed=5, training=TrainingConfig(epochs=2)).kind.title
    'FGP-VAE'
    """

    preset: str = "custom"
    seed: int = setting(
        0,
        "Start of the random numbers; the same seed gives the same weights.",
        bounds=(0, 2**32 - 1),
    )
    model: ModelConfig = field(default_factory=FGPVAEConfig)
    data: DataConfig = field(default_factory=DataConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        check(self)
        if len(self.preset) > 60:
            raise UserError("The name of a preset has at most 60 letters.")
        if self.training.keep == "best" and not self.data.validation:
            raise UserError(
                "Keeping the best weights needs digits to choose by: set validation digits aside."
            )
        if self.objective.conditional and not self.kind.conditional:
            raise UserError(f"The {self.kind.title} has no conditional bound: switch it off.")
        if self.objective.conditional and self.training.context_dropout:
            raise UserError(
                "The conditional bound draws its own contexts: set context dropout to 0."
            )
        self._check_data()
        images = 15 * self.data.digits * len(self.data.classes)
        if self.data.split == CUBES:
            images = self.data.views * (MOST_COPIES + self.data.figures)
        self.kind.check_run(self.model, images, self.training.context_dropout)
        self._check_memory()

    @property
    def kind(self) -> type[Model]:
        """The class of the model."""
        return models.find(self.model.name)

    def _check_memory(self) -> None:
        weights = network_weights(self.model)
        if weights > MOST_WEIGHTS:
            raise UserError(
                f"Networks of this size have {weights / 1e6:.0f} million weights; "
                f"at most {MOST_WEIGHTS / 1e6:.0f} million are allowed."
            )
        digits, views = self.training.batch, self.data.views
        twice = 1 + self.objective.conditional  # samples and predictions of codes
        if digits * views > MOST_IMAGES:
            raise UserError(
                f"A batch of {digits} digits with {views} views is more than {MOST_IMAGES} images."
            )
        if twice * self.kind.numbers_in_a_step(self.model, digits, views) > MOST_NUMBERS:
            raise UserError(
                f"A batch of {digits * views} images needs more memory with this model than a run "
                "may take; choose fewer digits a batch, fewer views, smaller networks or fewer "
                "channels."
            )

    def _check_data(self) -> None:
        """Raise a UserError if the model cannot be trained on these data."""
        split, (channels, height, width) = self.data.split, self.model.network.shape
        on_a_line, lines = self.model.on_a_line, ", ".join(ON_A_LINE)
        if split == CUBES and (channels != 1 or height != width):
            raise UserError(
                "Figures of cubes are drawn in grey squares: set model.network.shape to "
                f"[1, {cubes.SIZE}, {cubes.SIZE}]."
            )
        if split == FILMS and (channels, height, width) != (1, films.SIZE, films.SIZE):
            raise UserError(
                "Films have grey pictures: set model.network.shape to "
                f"[1, {films.SIZE}, {films.SIZE}]."
            )
        if split == FILMS and self.kind.fixed_angles:
            raise UserError(f"The {self.kind.title} cannot learn films, which are new every time.")
        if split == FILMS and not on_a_line and self.model.period != LINE:
            raise UserError(
                f"Times run from -1 to 1: choose a kernel of {lines}, or set model.period to "
                f"{LINE:g}."
            )
        if split == OBJECTS and not self.kind.takes_objects:
            able = ", ".join(name for name, kind in models.MODELS.items() if kind.takes_objects)
            raise UserError(f"Own objects are learned by {able} alone.")
        if split == OBJECTS and on_a_line == bool(self.data.track.period):
            raise UserError(
                f"Views with a period need the periodic kernel, and views on a line one of {lines}."
            )
        if split == OBJECTS and not on_a_line and self.model.period != TWO_PI:
            raise UserError("The period of own views is data.track.period; leave the model's.")
        if split in (*DIGITS, CUBES) and on_a_line:
            raise UserError("Digits and figures turn on a circle: their kernel is periodic.")


@lru_cache(maxsize=256)
def network_weights(config: ModelConfig) -> int:
    """How many weights an encoder and a decoder of this config have; nothing is allocated."""
    with torch.device("meta"):
        networks = models.find(config.name).networks(config)
    return sum(weight.numel() for network in networks for weight in network.parameters())


def from_dict(kind: type[C], values: Any, where: str = "config") -> C:
    """A config dataclass from plain values; every unknown name or wrong type is an error."""
    if not isinstance(values, Mapping):
        raise UserError(f"{where} must be a table of settings.")
    if kind is ModelConfig:  # the error names the setting
        named = dict(values)
        name = coerce(str, named.pop("name", FGPVAEConfig.name), f"{where}.name")
        own: type[Any] = models.find(name).Config
        return from_dict(own, named, where)
    hints = typing.get_type_hints(kind)
    own_names = {each.name for each in dataclasses.fields(typing.cast(Any, kind)) if each.init}
    unknown = [name for name in values if name not in own_names]
    if unknown:
        raise UserError(f"{where} has no setting {reprlib.repr(unknown[0])}.")
    read = {n: coerce(hints[n], v, f"{where}.{n}", from_dict) for n, v in values.items()}
    return kind(**read)
