"""All that determines a run, as small dataclasses, and how they become plain values and back."""

import dataclasses
import math
import reprlib
import typing
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeVar

import torch

from fgpvae import models
from fgpvae.data import TRAIN_DIGITS, cubes
from fgpvae.data.digits import check_classes
from fgpvae.data.objects import Track
from fgpvae.errors import UserError
from fgpvae.kernels import ON_A_LINE, TWO_PI
from fgpvae.models import FGPVAEConfig, Model, ModelConfig
from fgpvae.objectives import ObjectiveConfig

MOST_WEIGHTS = 20_000_000  # of encoder and decoder
MOST_IMAGES = 2**14  # in a batch
MOST_NUMBERS = 300_000_000  # of 4 bytes in a step; one with so many took 1.3 GB
OBJECTS = "objects"  # the split of one's own data
CUBES = "cubes"  # the split of the figures of cubes

MOST_COPIES = 12 * 160  # of the training shapes

C = TypeVar("C")


@dataclass(frozen=True)
class DataConfig:
    """Which views a run is trained on.

    >>> from fgpvae import DataConfig
    >>> DataConfig("shuffled", classes=[3, 8]).classes
    (3, 8)
    """

    split: str = "factorized"  # shuffled; continuous: new angles in every batch; objects; cubes
    source: str = "embedded"  # or openml, or a directory of IDX files; where objects came from
    classes: tuple[int, ...] = (3,)
    digits: int = TRAIN_DIGITS  # of each class, in the fixed splits
    views: int = 11  # Q, views of a digit in a batch
    validation: int = 0  # training digits of each class kept back to choose models by
    keep_back: str = "digits"  # what of a validation digit: all of it, or one of its "views"
    warp: float = 0.0  # strength of random smooth deformations, the same for all views of a digit
    track: Track = field(default_factory=Track)  # of the views of one's own objects
    figures: int = 0  # of cubes, beside those of the training shapes

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", check_classes(self.classes))
        if self.split not in ("factorized", "shuffled", "continuous", OBJECTS, CUBES):
            raise UserError(
                f"There is no split '{self.split}'; choose factorized, shuffled, continuous or "
                f"{CUBES}."
            )
        if self.split in (OBJECTS, CUBES) and (self.validation or self.warp):
            raise UserError("Objects are neither kept for validation nor warped: set both 0.")
        if self.split == CUBES and self.views > cubes.ANGLES:
            raise UserError(
                f"A figure is seen from {cubes.ANGLES} sides, so views (Q) must be from 1 to "
                f"{cubes.ANGLES}, not {self.views}."
            )
        if not 0 <= self.figures <= cubes.MOST_FIGURES:
            raise UserError(
                f"figures must be from 0 to {cubes.MOST_FIGURES} more, not {self.figures}."
            )
        if self.split == "continuous" and self.validation:
            raise UserError(
                "The continuous split keeps no digits for validation: set data.validation to 0 "
                "and training.keep to last."
            )
        if not 1 <= self.views <= 512:
            raise UserError(f"views (Q) must be from 1 to 512, not {self.views}.")
        if self.split == "factorized" and self.views > 15:
            raise UserError(
                f"The factorized split has 15 angles to draw views (Q) from, not {self.views}."
            )
        if not 1 <= self.digits <= TRAIN_DIGITS:
            raise UserError(f"digits must be from 1 to {TRAIN_DIGITS}, not {self.digits}.")
        if not 0 <= self.validation <= 90:
            raise UserError(f"validation must be from 0 to 90 digits, not {self.validation}.")
        if self.keep_back not in ("digits", "views"):
            raise UserError(f"keep_back must be digits or views, not '{self.keep_back:.60}'.")
        if not 0 <= self.warp <= 5:
            raise UserError(f"warp must be from 0 to 5, not {self.warp:g}.")


@dataclass(frozen=True)
class TrainingConfig:
    """How long and how.

    >>> from fgpvae import TrainingConfig
    >>> TrainingConfig(epochs=0)
    Traceback (most recent call last):
    fgpvae.errors.UserError: epochs must be from 1 to 100000, not 0.
    """

    epochs: int = 100
    batch: int = 20  # digits a step
    learning_rate: float = 1e-3
    schedule: str = "constant"  # or cosine, down to a hundredth
    warmup: int = 0  # steps
    weight_decay: float = 0.0
    clip: float = 0.0  # largest norm of the gradient; 0 is no limit
    average: float = 0.0  # decay of a moving average of the weights; 0 is none
    context_dropout: float = 0.0  # share of digits whose context is a random part of their views
    # the last epochs, at most half of all, in which only the local channels' encoder learns
    recognition: int = 0
    validate_every: int = 10  # epochs
    keep: str = "last"  # which weights: the last, or the best on the validation digits
    precision: str = "float32"  # or bfloat16, of the networks' products; never of the GP
    start: str = ""  # a shipped model or a run whose weights are the first; empty: fresh ones

    def __post_init__(self) -> None:
        if not 1 <= self.epochs <= 100_000:
            raise UserError(f"epochs must be from 1 to 100000, not {self.epochs}.")
        if not 1 <= self.batch <= 4096:
            raise UserError(f"batch must be from 1 to 4096 digits, not {self.batch}.")
        if not 0 < self.learning_rate <= 1:
            raise UserError(
                f"learning_rate must be above 0 and at most 1, not {self.learning_rate}."
            )
        if self.schedule not in ("constant", "cosine"):
            raise UserError(f"There is no schedule '{self.schedule}'; choose constant or cosine.")
        if self.keep not in ("last", "best"):
            raise UserError(f"keep must be last or best, not '{self.keep}'.")
        if self.precision not in ("float32", "bfloat16"):
            raise UserError(f"precision must be float32 or bfloat16, not '{self.precision:.60}'.")
        if self.recognition < 0:
            raise UserError(f"recognition must not be negative, not {self.recognition}.")
        if not 0 <= self.context_dropout <= 1:
            raise UserError("context_dropout must be from 0 to 1.")
        if not 0 <= self.average < 1:
            raise UserError("average must be at least 0 and below 1.")
        if self.weight_decay < 0 or self.clip < 0 or self.warmup < 0 or self.validate_every < 1:
            raise UserError(
                "weight_decay, clip and warmup must not be negative, validate_every at least 1."
            )


@dataclass(frozen=True)
class RunConfig:
    """All that determines a run; the same config gives the same weights.

    >>> from fgpvae import RunConfig, TrainingConfig
    >>> RunConfig(seed=5, training=TrainingConfig(epochs=2)).kind.title
    'FGP-VAE'
    """

    preset: str = "custom"
    seed: int = 0
    model: ModelConfig = field(default_factory=FGPVAEConfig)
    data: DataConfig = field(default_factory=DataConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed must be from 0 to {2**32 - 1}, not {self.seed}.")
        if len(self.preset) > 60:
            raise UserError("The name of a preset has at most 60 letters.")
        if self.training.keep == "best" and not self.data.validation:
            raise UserError(
                "Keeping the best weights needs digits to choose by: set data.validation."
            )
        if self.objective.conditional and not self.kind.conditional:
            raise UserError(
                f"The {self.kind.title} has no conditional bound: set objective.conditional to "
                "false."
            )
        if self.objective.conditional and self.training.context_dropout:
            raise UserError(
                "The conditional bound draws its own contexts: set training.context_dropout to 0."
            )
        if self.data.split == CUBES:
            self._check_cubes()
        elif self.data.split == OBJECTS:
            self._check_objects()
        elif self.model.on_a_line:
            raise UserError("Digits turn on a circle: their kernel is periodic.")
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
        twice = 1 + self.objective.conditional  # codes are drawn and foreseen
        if digits * views > MOST_IMAGES:
            raise UserError(
                f"A batch of {digits} digits with {views} views is more than {MOST_IMAGES} images."
            )
        if twice * _numbers_in_a_step(self.model, digits, views) > MOST_NUMBERS:
            raise UserError(
                f"A batch of {digits * views} images needs more memory with this model than a run "
                "may take; choose fewer digits a batch, fewer views, smaller networks or fewer "
                "channels."
            )

    def _check_cubes(self) -> None:
        channels, height, width = self.model.network.shape
        if channels != 1 or height != width:
            raise UserError(
                "Figures of cubes are drawn in grey squares: set model.network.shape to "
                f"[1, {cubes.SIZE}, {cubes.SIZE}]."
            )
        if self.model.on_a_line:
            raise UserError("Figures of cubes turn on a circle: their kernel is periodic.")

    def _check_objects(self) -> None:
        if not self.kind.takes_objects:
            able = ", ".join(name for name, kind in models.MODELS.items() if kind.takes_objects)
            raise UserError(f"Own objects are learned by {able} alone.")
        if self.model.on_a_line == bool(self.data.track.period):
            raise UserError(
                "Views with a period need the periodic kernel, and views on a line one of "
                f"{', '.join(ON_A_LINE)}."
            )
        if not self.model.on_a_line and self.model.period != TWO_PI:
            raise UserError("The period of own views is data.track.period; leave the model's.")


@lru_cache(maxsize=256)
def network_weights(config: ModelConfig) -> int:
    """How many weights an encoder and a decoder of this config have; nothing is allocated."""
    with torch.device("meta"):
        networks = models.find(config.name).networks(config)
    return sum(weight.numel() for network in networks for weight in network.parameters())


@lru_cache(maxsize=256)  # a form makes a config of what it holds whenever its page runs
def _numbers_in_a_step(config: ModelConfig, digits: int, views: int) -> int:
    return models.find(config.name).numbers_in_a_step(config, digits, views)


def to_dict(config: Any) -> dict[str, Any]:
    return dataclasses.asdict(config)


def from_dict(kind: type[C], values: Any, where: str = "config") -> C:
    """A config dataclass from plain values; every unknown name or wrong type is an error."""
    if not isinstance(values, Mapping):
        raise UserError(f"{where} must be a table of settings.")
    if kind is ModelConfig:  # which one, it says itself
        named = dict(values)
        name = _coerce(str, named.pop("name", FGPVAEConfig.name), f"{where}.name")
        own: type[Any] = models.find(name).Config
        return from_dict(own, named, where)
    hints = typing.get_type_hints(kind)
    own_names = {each.name for each in dataclasses.fields(typing.cast(Any, kind)) if each.init}
    unknown = [name for name in values if name not in own_names]
    if unknown:
        raise UserError(f"{where} has no setting {reprlib.repr(unknown[0])}.")
    return kind(**{n: _coerce(hints[n], v, f"{where}.{n}") for n, v in values.items()})


def _coerce(hint: Any, value: Any, where: str) -> Any:
    """The value as the type that a config field declares, or a clear error."""
    if dataclasses.is_dataclass(hint):
        return from_dict(typing.cast(type, hint), value, where)
    if typing.get_origin(hint) is tuple:
        inner = typing.get_args(hint)
        if not isinstance(value, list | tuple):
            raise UserError(f"{where} must be a list, not {reprlib.repr(value)}.")
        if Ellipsis in inner:
            inner = (inner[0],) * len(value)
        if len(inner) != len(value):
            raise UserError(f"{where} must have {len(inner)} entries, not {len(value)}.")
        return tuple(_coerce(h, v, where) for h, v in zip(inner, value, strict=True))
    if hint is float and type(value) is int and abs(value) < 2**53:
        value = float(value)
    if type(value) is not hint or (hint is float and not math.isfinite(value)):
        raise UserError(f"{where} must be {_SAY[hint]}, not {reprlib.repr(value)}.")
    return value


_SAY = {int: "a whole number", float: "a number", str: "a text", bool: "true or false"}


# settings that every model had in one table, in files of format 1
_SHARED = (
    "local",
    "kernel",
    "amplitude",
    "length_scale",
    "learn_kernel",
    "mean_function",
    "digit_rank",
    "phases",
    "training_set",
)
_RENAMED = {"noise": "pixel_variance", "learn_noise": "learn_pixel_variance"}


def upgrade_model(values: Any) -> Any:
    """The settings of a model from a file of format 1, without those that it had no use for."""
    if not isinstance(values, Mapping) or not isinstance(values.get("name"), str):
        return values
    own = {each.name for each in dataclasses.fields(models.find(values["name"]).Config)}
    kept = {name: value for name, value in values.items() if name in own or name not in _SHARED}
    network = kept.get("network")
    if isinstance(network, Mapping) and network.get("kind") == "wide":
        kept["network"] = {**network, "kind": "convolutional"}
    return kept


def upgrade_run(values: Any) -> Any:
    """The settings of a run from a file of format 1."""
    if not isinstance(values, Mapping):
        return values
    upgraded = dict(values)
    if "model" in values:
        upgraded["model"] = upgrade_model(values["model"])
    if isinstance(values.get("objective"), Mapping):
        objective = values["objective"].items()
        upgraded["objective"] = {_RENAMED.get(name, name): value for name, value in objective}
    return upgraded
