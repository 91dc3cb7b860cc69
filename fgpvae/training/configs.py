"""Dataclasses that determine a run, and their conversion to plain values and back."""

import dataclasses
import reprlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar, cast, get_type_hints

import torch

from fgpvae import models
from fgpvae.data import TRAIN_DIGITS, cube_figures, cubes, films
from fgpvae.data.collections import COLLECTIONS
from fgpvae.data.mnist import check_classes
from fgpvae.data.track import Track
from fgpvae.errors import require
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
FIXED = "split=factorized|shuffled"  # which have validation digits
DRAWN = f"split=factorized|continuous|{CUBES}|{FILMS}"  # whose views are drawn at random
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
        TRAIN_DIGITS, "Training digits of each class.", "P", bounds=(1, TRAIN_DIGITS), needs=FIXED
    )
    views: int = setting(11, "Angles of a digit in a batch.", "Q", bounds=(1, 512), needs=DRAWN)
    validation: int = setting(
        0,
        "Training digits of each class that are set aside to test on.",
        label="Validation digits",
        bounds=(0, 90),
        needs=FIXED,
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
        split, known = self.split, f"{', '.join(DIGITS)}, {' or '.join(COLLECTIONS)}"
        there = split in (*DIGITS, *COLLECTIONS, OBJECTS)
        require(there, f"There is no split '{split:.60}'; choose {known}.")
        fits = self.can_validate or not self.validation
        require(fits, f"The {split} split sets nothing aside: set the validation digits to 0.")
        require(split in DIGITS or not self.warp, "Only digits are warped: set data.warp to 0.")
        most = {"factorized": 15, CUBES: cubes.ANGLES}.get(split, self.views)
        draw = f"The {split} split has {most} angles to draw views (Q) from, not {self.views}."
        require(self.views <= most, draw)

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
        return self.split in ("factorized", "shuffled")

    @property
    def directory(self) -> str:
        """The directory that digits are read from; empty if they come from elsewhere."""
        drawn = self.split not in (*DIGITS, FILMS)
        return "" if drawn or self.source in ("embedded", "openml") else self.source

    @property
    def title(self) -> str:
        """The training set in a few words."""
        if self.split == OBJECTS:
            return f"objects of {self.source[:60]}"
        if self.split in COLLECTIONS:
            return COLLECTIONS[self.split].words.many
        every = len(self.classes) == 10
        return "all digits" if every else f"digit {', '.join(map(str, self.classes))}"


@dataclass(frozen=True)
class TrainingConfig:
    """Optimisation: epochs, batch, learning rate and schedule, averaging, precision.

    >>> from fgpvae import TrainingConfig
    >>> TrainingConfig(epochs=5).schedule
    'constant'
    """

    epochs: int = setting(100, "Passes over the training set.", bounds=(1, 100_000))
    batch: int = setting(20, "Subjects in a step, with all their views.", bounds=(1, 4096))
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
        0.0, "Decay of the average of weights that is saved; 0: the last.", bounds=(0.0, 0.999999)
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
        10, "Epochs between two validations.", bounds=(1, 100_000), needs="data.validation"
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
    seed: int = setting(0, "The same seed gives the same weights.", bounds=(0, 2**32 - 1))
    model: ModelConfig = field(default_factory=FGPVAEConfig)
    data: DataConfig = field(default_factory=DataConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        check(self)
        kind, training, conditional = self.kind, self.training, self.objective.conditional
        require(len(self.preset) <= 60, "The name of a preset has at most 60 letters.")
        chosen = training.keep != "best" or self.data.validation
        require(chosen, "Keeping the best weights needs validation digits: set some aside.")
        bounded = kind.conditional or not conditional
        require(bounded, f"The {kind.title} has no conditional bound: switch it off.")
        both = training.context_dropout and (conditional or kind.fixed_angles)
        own = "The conditional bound" if conditional else "A joint GP"
        require(not both, f"{own} chooses the views it learns from: set context dropout to 0.")
        self._check_data()
        digits, views = training.batch, self.data.views
        images = 15 * self.data.digits * len(self.data.classes)
        if self.data.split == CUBES:
            images = views * (MOST_COPIES + self.data.figures)
        kind.check_run(self.model, images)
        weights = network_weights(self.model)
        require(
            weights <= MOST_WEIGHTS,
            f"Networks of this size have {weights / 1e6:.0f} million weights; "
            f"at most {MOST_WEIGHTS / 1e6:.0f} million are allowed.",
        )
        few = digits * views <= MOST_IMAGES
        require(few, f"{digits} digits with {views} views are more than {MOST_IMAGES} images.")
        numbers = kind.numbers_in_a_step(self.model, digits, views)
        require(
            numbers * (1 + conditional) <= MOST_NUMBERS,  # samples and predictions of codes
            f"A batch of {digits * views} images needs more memory with this model than a run may "
            "take; choose a smaller batch, fewer views, smaller networks or fewer channels.",
        )

    @property
    def kind(self) -> type[Model]:
        """The class of the model."""
        return models.find(self.model.name)

    def _check_data(self) -> None:
        """Raise a UserError if the model cannot be trained on these data."""
        split, shape, kind = self.data.split, self.model.network.shape, self.kind
        on_a_line, lines = self.model.on_a_line, ", ".join(ON_A_LINE)
        wanted = f"set model.network.shape to {list(IMAGES.get(split, MNIST)[1])}."
        if split == CUBES:
            square = shape[0] == 1 and shape[1] == shape[2]
            require(square, f"Figures of cubes are drawn in grey squares: {wanted}")
        if split == FILMS:
            require(shape == IMAGES[FILMS][1], f"Films have grey pictures: {wanted}")
            new = f"The {kind.title} cannot learn films, which are new every time."
            require(not kind.fixed_angles, new)
            require(
                on_a_line or self.model.period == LINE,
                f"Times run from -1 to 1: choose a kernel of {lines}, or the period {LINE:g}.",
            )
        if split == OBJECTS:
            able = ", ".join(name for name, each in models.MODELS.items() if each.takes_objects)
            require(kind.takes_objects, f"Own objects are learned by {able} alone.")
            suits = on_a_line != bool(self.data.track.period)
            require(suits, f"Views with a period need the periodic kernel, others one of {lines}.")
            own = on_a_line or self.model.period == TWO_PI
            require(own, "The period of own views is data.track.period; leave the model's.")
        if split in (*DIGITS, CUBES):
            require(not on_a_line, "Digits and figures turn on a circle: their kernel is periodic.")


@lru_cache(maxsize=256)
def network_weights(config: ModelConfig) -> int:
    """How many weights an encoder and a decoder of this config have; nothing is allocated."""
    with torch.device("meta"):
        networks = models.find(config.name).networks(config)
    return sum(weight.numel() for network in networks for weight in network.parameters())


def from_dict(kind: type[C], values: Any, where: str = "config") -> C:
    """A config dataclass from plain values; every unknown name or wrong type is an error."""
    require(isinstance(values, Mapping), f"{where} must be a table of settings.")
    if kind is ModelConfig:  # the name tells which
        name = coerce(str, values.get("name", FGPVAEConfig.name), f"{where}.name")
        kind, values = cast(Any, models.find(name).Config), {**values, "name": name}
    hints = get_type_hints(kind)
    own_names = {each.name for each in dataclasses.fields(cast(Any, kind)) if each.init}
    for name in values:
        require(name in own_names, f"{where} has no setting {reprlib.repr(name)}.")
    return kind(**{n: coerce(hints[n], v, f"{where}.{n}", from_dict) for n, v in values.items()})
