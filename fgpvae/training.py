"""The training loop: a generator of steps that knows nothing of files, screens or models' insides.

Every random number of a step is drawn from (seed, step), never from what came before, so a run that
is interrupted anywhere and resumed ends with exactly the weights of an uninterrupted one.
"""

import copy
import math
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor, nn

from fgpvae import models, noise, objectives
from fgpvae.ahead import Ahead
from fgpvae.data import TRAIN_DIGITS, Digits, Views, rotate_fast, warp
from fgpvae.data.digits import check_classes
from fgpvae.data.objects import Track
from fgpvae.distributed import Workers
from fgpvae.errors import UserError
from fgpvae.kernels import ON_A_LINE, PERIODIC, TWO_PI, Periodic
from fgpvae.models import Model, ModelConfig, Terms
from fgpvae.models.gpvae import MOST_FEATURES, JointGP, features_needed
from fgpvae.networks import Decoder, Encoder, numbers_held
from fgpvae.noise import Part
from fgpvae.objectives import ObjectiveConfig

MOST_WEIGHTS = 20_000_000  # of encoder and decoder
MOST_IMAGES = 2**14  # in a batch
MOST_ACTIVATIONS = 300_000_000  # of a batch in all layers; a step with so many took 1.3 GB
OBJECTS = "objects"  # the split of one's own data


@dataclass(frozen=True)
class DataConfig:
    """Which views a run is trained on."""

    split: str = "factorized"  # or shuffled, or continuous: new angles in every batch; or objects
    source: str = "embedded"  # or openml, or a directory of IDX files; where objects came from
    classes: tuple[int, ...] = (3,)
    digits: int = TRAIN_DIGITS  # of each class, in the fixed splits
    views: int = 11  # Q, views of a digit in a batch
    validation: int = 0  # training digits of each class kept back to choose models by
    warp: float = 0.0  # strength of random smooth deformations, the same for all views of a digit
    track: Track = field(default_factory=Track)  # of the views of one's own objects

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", check_classes(self.classes))
        if self.split not in ("factorized", "shuffled", "continuous", OBJECTS):
            raise UserError(
                f"There is no split '{self.split}'; choose factorized, shuffled or continuous."
            )
        if self.split == OBJECTS and (self.validation or self.warp):
            raise UserError("Own objects are neither kept for validation nor warped: set both 0.")
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
        if not 0 <= self.warp <= 5:
            raise UserError(f"warp must be from 0 to 5, not {self.warp:g}.")


@dataclass(frozen=True)
class TrainingConfig:
    """How long and how."""

    epochs: int = 100
    batch: int = 20  # digits a step
    learning_rate: float = 1e-3
    schedule: str = "constant"  # or cosine, down to a hundredth
    warmup: int = 0  # steps
    weight_decay: float = 0.0
    clip: float = 0.0  # largest norm of the gradient; 0 is no limit
    average: float = 0.0  # decay of a moving average of the weights; 0 is none
    context_dropout: float = 0.0  # share of digits whose context is a random part of their views
    validate_every: int = 10  # epochs
    keep: str = "last"  # which weights: the last, or the best on the validation digits
    precision: str = "float32"  # or bfloat16, of the networks' products; never of the GP

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
    """All that determines a run; the same config gives the same weights."""

    preset: str = "custom"
    seed: int = 0
    model: ModelConfig = field(default_factory=ModelConfig)
    data: DataConfig = field(default_factory=DataConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    training: TrainingConfig = field(default_factory=TrainingConfig)

    def __post_init__(self) -> None:
        if not 0 <= self.seed < 2**32:
            raise UserError(f"seed must be from 0 to {2**32 - 1}, not {self.seed}.")
        if len(self.preset) > 60:
            raise UserError("The name of a preset has at most 60 letters.")
        if self.model.name not in models.MODELS:
            known = ", ".join(models.MODELS)
            raise UserError(f"There is no model '{self.model.name:.60}'; choose one of {known}.")
        if self.model.training_set != (0, 0):
            raise UserError("training_set is found by the model itself; leave it at 0, 0.")
        if self.training.keep == "best" and not self.data.validation:
            raise UserError(
                "Keeping the best weights needs digits to choose by: set data.validation."
            )
        if self.data.split == OBJECTS:
            self._check_objects()
        elif self.model.kernel != PERIODIC:
            raise UserError("Digits turn on a circle: their kernel is periodic.")
        if issubclass(models.MODELS[self.model.name], JointGP):
            self._check_joint()
        weights = network_weights(self.model)
        if weights > MOST_WEIGHTS:
            raise UserError(
                f"Networks of this size have {weights / 1e6:.0f} million weights; "
                f"at most {MOST_WEIGHTS / 1e6:.0f} million are allowed."
            )
        if self.training.batch * self.data.views > MOST_IMAGES:
            raise UserError(
                f"A batch of {self.training.batch} digits with {self.data.views} views is more "
                f"than {MOST_IMAGES} images."
            )
        images = self.training.batch * self.data.views
        if images * network_activations(self.model) > MOST_ACTIVATIONS:
            raise UserError(
                f"A batch of {images} images through networks of this size needs more memory than "
                "a run may take; choose fewer digits a batch, fewer views or smaller networks."
            )

    def _check_joint(self) -> None:
        if self.training.context_dropout:
            raise UserError(
                "A joint GP learns a digit from all of its views: set training.context_dropout to "
                "0."
            )
        images = 15 * self.data.digits * len(self.data.classes)
        kernel = Periodic(1.0, self.model.length_scale)
        if features_needed(images, self.model.digit_rank, kernel) > MOST_FEATURES:
            raise UserError(
                f"A joint GP over {images} images with digit_rank {self.model.digit_rank} and "
                f"length_scale {self.model.length_scale:g} needs more memory than a run may take; "
                "choose fewer digits, a smaller digit_rank or a longer length_scale."
            )

    def _check_objects(self) -> None:
        if self.model.name != "fgpvae":
            raise UserError("Own objects are learned by the factorized GP-VAE (fgpvae) alone.")
        if (self.model.kernel == PERIODIC) != bool(self.data.track.period):
            raise UserError(
                "Views with a period need the periodic kernel, and views on a line one of "
                f"{', '.join(ON_A_LINE)}."
            )
        if self.model.kernel == PERIODIC and self.model.period != TWO_PI:
            raise UserError("The period of own views is data.track.period; leave the model's.")


@lru_cache(maxsize=256)
def network_weights(config: ModelConfig) -> int:
    """How many weights an encoder and a decoder of this config have; nothing is allocated."""
    return sum(weight.numel() for network in _networks(config) for weight in network.parameters())


@lru_cache(maxsize=256)
def network_activations(config: ModelConfig) -> int:
    """How many numbers all layers hold for one image; nothing is allocated."""
    encoder, decoder = _networks(config)
    return numbers_held(encoder, config.network.shape) + numbers_held(decoder, (config.latents,))


def _networks(config: ModelConfig) -> tuple[Encoder, Decoder]:
    with torch.device("meta"):
        encoder = Encoder(config.network, config.latents, local=config.local)
        return encoder, Decoder(config.network, config.latents, config.local)


@dataclass(frozen=True)
class Step:
    """What happened in one step."""

    step: int  # steps done
    epoch: float  # epochs done, fractions included
    loss: float
    mse: float  # of the pixels of this batch, from sampled codes
    kl: float  # nats a digit
    multiplier: float  # λ


def random_generator(seed: int, purpose: int, index: int) -> torch.Generator:
    """A generator that depends on these three numbers and nothing else."""
    state = np.random.SeedSequence([seed, purpose, index]).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0]))


class Source(Protocol):
    """Batches by number, whole or a worker's part of one."""

    digits: int
    steps: int  # batches in an epoch
    slow: bool  # is it worth while to make a batch before it is needed?

    def batch(self, step: int, part: Part | None = None) -> Views: ...
    def everything(self) -> Views: ...


class Shuffle:
    """Which digits a step takes: each epoch a new order of all of them."""

    def __init__(self, digits: int, size: int, seed: int) -> None:
        self.digits, self.size, self.seed = digits, size, seed
        self.steps = math.ceil(digits / size)
        self._epoch, self._order = -1, torch.empty(0, dtype=torch.int64)

    def rows(self, step: int) -> Tensor:
        epoch, k = divmod(step, self.steps)
        if epoch != self._epoch:
            generator = random_generator(self.seed, 0, epoch)
            self._epoch, self._order = epoch, torch.randperm(self.digits, generator=generator)
        return self._order[k * self.size : (k + 1) * self.size]


class FixedViews:
    """A training set of given views, as they are or smoothly deformed anew each time."""

    def __init__(self, views: Views, size: int, seed: int, strength: float = 0.0) -> None:
        self.views, self.seed, self.strength = views, seed, strength
        self.shuffle = Shuffle(len(views), size, seed)
        self.digits, self.steps = len(views), self.shuffle.steps
        self.slow = strength > 0

    def batch(self, step: int, part: Part | None = None) -> Views:
        rows = self.shuffle.rows(step)
        views = self.views[rows if part is None else part.of(rows)]
        if not self.strength:
            return views
        with noise.drawn_for(part):
            return warp(views, self.strength, random_generator(self.seed, 1, step))

    def everything(self) -> Views:
        return self.views


class FreshViews:
    """Upright digits, turned to new angles all around the circle in every batch."""

    def __init__(
        self, digits: Digits, size: int, views: int, seed: int, strength: float = 0.0
    ) -> None:
        self.images = torch.as_tensor(digits.images)
        self.labels = torch.as_tensor(digits.labels)
        self.views, self.seed, self.strength = views, seed, strength
        self.shuffle = Shuffle(len(self.labels), size, seed)
        self.digits, self.steps = len(self.labels), self.shuffle.steps
        self.slow = True

    def batch(self, step: int, part: Part | None = None) -> Views:
        rows, generator = self.shuffle.rows(step), random_generator(self.seed, 1, step)
        with noise.drawn_for(part):
            return self.turned(rows if part is None else part.of(rows), generator)

    def turned(self, rows: Tensor, generator: torch.Generator) -> Views:
        angles = 2 * math.pi * noise.uniform((len(rows), self.views), torch.float64, generator)
        observed = torch.ones(angles.shape, dtype=torch.bool)
        images = rotate_fast(self.images[rows].float(), angles)
        views = Views(images, angles, observed, rows, self.labels[rows])
        return warp(views, self.strength, generator) if self.strength else views

    def everything(self) -> Views:
        return self.turned(torch.arange(self.digits), random_generator(self.seed, 1, -1 % 2**32))


def random_context(observed: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """For a share of the digits only a random part of the views, from 1 to all, is context."""
    P, Q = observed.shape
    order = noise.uniform((P, Q), generator=generator).masked_fill(~observed, 2.0)
    rank = order.argsort(-1).argsort(-1)
    count = observed.sum(-1, keepdim=True)
    kept = 1 + (noise.uniform((P, 1), generator=generator) * count).long()
    everything = noise.uniform((P, 1), generator=generator) >= share
    return observed & (everything | (rank < kept))


class Trainer:
    """Model, objective and optimiser of a run, and how far it has come."""

    def __init__(
        self,
        config: RunConfig,
        source: Source,
        workers: Workers | None = None,
        device: torch.device | str = "cpu",
    ) -> None:
        self.device = torch.device(device)
        self.config, self.source, self.workers = config, source, workers or Workers()
        if self.workers.count > 1 and config.model.network.dropout:
            raise UserError("Many workers cannot share dropout: set model.network.dropout to 0.")
        torch.manual_seed(config.seed)
        self.model: Model = models.build(config.model)
        self.model.prepare(source.everything)
        self.home = self.model.place(self.device)
        self.objective = objectives.build(config.objective).to(self.home)
        training = config.training
        self.averaged = copy.deepcopy(self.model) if training.average else self.model
        groups = [*self.model.parameter_groups(), (list(self.objective.parameters()), 1.0)]
        self.optimizer = torch.optim.AdamW(
            [
                {"params": learned, "factor": factor}
                for parameters, factor in groups
                if (learned := [p for p in parameters if p.requires_grad])
            ],
            lr=training.learning_rate,
            weight_decay=training.weight_decay,
            fused=True,
        )
        self.step = 0
        self.total = training.epochs * source.steps
        self.waited = 0.0  # seconds in which there was no batch to work on
        self._ahead = Ahead(self._made, self.total) if source.slow else None

    def steps(self) -> Iterator[Step]:
        """Train from where this stands to the end, one step at a time."""
        while self.step < self.total:
            yield self.advance()

    def advance(self) -> Step:
        config, source = self.config.training, self.source
        if self.step % source.steps == 0:
            with self._at_home():
                everything = lambda: source.everything().to(self.home)  # noqa: E731
                self.model.start_epoch(everything, self.step / self.total)
        self.model.train()
        terms = self._terms()
        prior = self.model.log_prior()
        if self.workers.rank:
            prior = prior.detach()  # it has one gradient, that of the first worker
        loss = self.objective(terms) - prior / source.digits
        value = float(loss.detach())
        if not math.isfinite(value):
            raise UserError(self._what_is_not_finite(terms))
        self.optimizer.zero_grad()
        if loss.requires_grad:  # not for a worker without digits
            loss.backward()
        if self.workers.count > 1:
            self._add_gradients()
        if config.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), config.clip)
        for group in self.optimizer.param_groups:
            group["lr"] = group["factor"] * self.learning_rate()
        self.optimizer.step()
        self.step += 1
        self._average()
        mse = float(terms.squared_error.detach().sum() / terms.pixels.sum())
        kl = float(terms.kl.detach().mean())
        epoch = self.step / source.steps
        return Step(self.step, epoch, value, mse, kl, self.objective.multiplier())

    def _terms(self) -> Terms:
        """The terms of the whole batch, computed from this worker's part of it."""
        part = self._part(self.step)
        if part is None:
            return self._own_terms(None)
        if len(part):
            try:
                own = self._own_terms(part)
            except UserError:
                # the others learn of it by numbers that are not finite, and stop as well
                nan = torch.full((len(part),), math.nan)
                self.workers.gather(Terms(nan, nan, nan), part)
                raise
        else:
            with self._at_home():
                own = Terms(torch.zeros(0), torch.zeros(0, dtype=torch.int64), torch.zeros(0))
        return self.workers.gather(own, part)

    def _own_terms(self, part: Part | None) -> Terms:
        config = self.config.training
        views = self._batch()
        with noise.drawn_for(part):
            context = None
            if config.context_dropout:
                generator = random_generator(self.config.seed, 3, self.step)
                context = random_context(views.observed, config.context_dropout, generator)
            # the samples that the model draws come from torch's own generator
            torch.manual_seed(random_generator(self.config.seed, 2, self.step).initial_seed())
            try:
                with self._at_home(), self._precision():
                    context = None if context is None else context.to(self.home)
                    return self.model.terms(views.to(self.home), context)
            except UserError as error:
                raise UserError(self._stopped(str(error).rstrip("."))) from None

    def _part(self, step: int) -> Part | None:
        """This worker's digits of a batch."""
        size, k = self.config.training.batch, step % self.source.steps
        return self.workers.part(min(size, self.source.digits - k * size))

    def _made(self, step: int) -> Views:
        return self.source.batch(step, self._part(step))

    def _batch(self) -> Views:
        began = time.perf_counter()
        views = self._ahead.get(self.step) if self._ahead else self._made(self.step)
        self.waited += time.perf_counter() - began
        return views

    @contextmanager
    def _at_home(self) -> Iterator[None]:
        """Tensors that are made on the way are made where the model is."""
        with ExitStack() as stack:
            if self.home.type != "cpu":
                stack.enter_context(self.home)
            yield

    @contextmanager
    def _precision(self) -> Iterator[None]:
        """Products of float32 matrices in bfloat16; float64, which is the GP, stays as it is."""
        with ExitStack() as stack:
            if self.config.training.precision == "bfloat16":
                stack.enter_context(torch.autocast(self.device.type, torch.bfloat16))
            yield

    def _add_gradients(self) -> None:
        if self.workers.rank:
            # the objective has seen all digits: its gradient is whole already, on every worker
            self.objective.zero_grad()
        self.workers.add_gradients([*self.model.parameters(), *self.objective.parameters()])

    def learning_rate(self) -> float:
        config = self.config.training
        rate = config.learning_rate * min(1.0, (self.step + 1) / (config.warmup + 1))
        if config.schedule == "cosine":
            rate *= 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * self.step / self.total))
        return rate

    def result(self) -> Model:
        """The model to use: averaged weights, and what it remembers of the training views."""
        model = self.averaged
        if self.device.type != "cpu":
            model = copy.deepcopy(model).cpu()
        model.condition(self.source.everything)
        return model.eval()

    @torch.no_grad()
    def _average(self) -> None:
        decay = self.config.training.average
        if not decay:
            return
        decay = min(decay, self.step / (self.step + 10))  # early weights are soon forgotten
        new: list[Tensor] = list(self.model.parameters())
        old: list[Tensor] = list(self.averaged.parameters())
        torch._foreach_lerp_(old, new, 1 - decay)
        for kept, buffer in zip(self.averaged.buffers(), self.model.buffers(), strict=True):
            kept.copy_(buffer)

    def _what_is_not_finite(self, terms: models.Terms) -> str:
        parts = {
            "the reconstruction": terms.squared_error,
            "the KL term": terms.kl,
            "the multiplier λ": torch.tensor(self.objective.multiplier()),
        }
        bad = [name for name, part in parts.items() if not bool(part.isfinite().all())]
        return self._stopped(f"{' and '.join(bad) or 'the loss'} is not a finite number")

    def _stopped(self, cause: str) -> str:
        return (
            f"Training stopped at step {self.step}: {cause}; the last good checkpoint is kept. "
            "A lower learning rate may help."
        )

    def state(self) -> dict[str, Any]:
        """Everything needed to go on from here."""
        return {
            "step": self.step,
            "model": self.model.state_dict(),
            "averaged": self.averaged.state_dict() if self.config.training.average else {},
            "objective": self.objective.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Go on from there; settings come from the config, never from the state."""
        self.model.load_state_dict(state["model"])
        if self.config.training.average:
            self.averaged.load_state_dict(state["averaged"])
        self.objective.load_state_dict(state["objective"])
        settings = self.optimizer.state_dict()["param_groups"]
        moments = state["optimizer"]["state"]
        self.optimizer.load_state_dict({"state": moments, "param_groups": settings})
        for parameter, kept in self.optimizer.state.items():
            if any(value.shape not in ((), parameter.shape) for value in kept.values()):
                raise ValueError("the optimiser's state does not fit")
        step = int(state["step"])
        if not 0 <= step <= self.total:
            raise ValueError("a step that this run does not have")
        self.step = step

    def check_finite(self) -> None:
        """A loss can be finite while its gradient was not."""
        if not all(bool(weight.isfinite().all()) for weight in self.model.parameters()):
            raise UserError(self._stopped("a weight is not a finite number"))
