"""The training loop: a generator of steps, independent of files, the app and the kind of model.

Every random number of a step is drawn from (seed, step), never from what came before, so a run that
is interrupted anywhere and resumed ends with exactly the weights of an uninterrupted one. The
caller's random state is not changed.
"""

import copy
import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from fgpvae import models
from fgpvae.data import Views
from fgpvae.errors import UserError, require
from fgpvae.gp import randomness
from fgpvae.gp.randomness import Part
from fgpvae.models import Model, Terms
from fgpvae.training import objectives
from fgpvae.training.batches import Source, random_context, random_generator, random_part
from fgpvae.training.configs import RunConfig
from fgpvae.training.distributed import Workers


@dataclass(frozen=True)
class Step:
    """What happened in one step."""

    step: int  # steps done
    epoch: float  # epochs done, fractions included
    loss: float
    mse: float  # mean squared error of this batch's pixels, from sampled codes
    kl: float  # nats a digit
    multiplier: float  # λ


class Trainer:
    """Train a model: its weights, objective, optimiser and step.

    >>> from fgpvae import Trainer, data, presets
    >>> from fgpvae.training.batches import FixedViews
    >>> config = presets.preset("paper", ["training.epochs=1"])
    >>> trainer = Trainer(config, FixedViews(data.factorized()[:40], 20, 0))
    >>> [step.step for step in trainer.steps()]
    [1, 2]
    >>> trainer.result().training
    False
    """

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
        if self.workers.count > 1 and config.kind.joint_batches:
            raise UserError(f"The {config.kind.title} learns from whole batches: use one worker.")
        if self.workers.count > 1 and self.device.type == "mps":
            raise UserError("Many workers cannot share gradients on MPS: use --device cpu.")
        with randomness.torch_seeded(config.seed):  # initial weights use torch's global generator
            self.model: Model = models.build(config.model)
        self.model.prepare(source.everything)
        self.model.place(self.device)
        self.home = self.model.home
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
        self.step, self.total = 0, training.epochs * source.steps
        last = min(training.recognition, training.epochs // 2)
        self.recognition = (training.epochs - last) * source.steps  # where it starts
        able = not training.recognition or self.model.recognising()
        require(able, "This model cannot learn to tell angles: set training.recognition to 0.")

    def steps(self) -> Iterator[Step]:
        """Train from the current step to the end, one step at a time."""
        while self.step < self.total:
            yield self.advance()

    def advance(self) -> Step:
        config, source = self.config.training, self.source
        if self.step % source.steps == 0:
            progress = self.step / self.total
            self.model.start_epoch(lambda: source.everything().to(self.home), progress)
        self.model.train()
        if self.step >= self.recognition:
            return self._recognise()
        terms, _ = self._terms()
        prior = self.model.log_prior()
        if self.workers.rank:
            prior = prior.detach()  # it has one gradient, that of the first worker
        loss = self.objective(terms) - prior / source.digits
        value = float(loss.detach())
        if not math.isfinite(value):
            raise UserError(self._stopped("the loss is not a finite number"))
        self.optimizer.zero_grad()
        if loss.requires_grad:  # it may not on a worker without digits
            loss.backward()
        # the objective sees all digits, so its gradient is complete on every worker
        self.workers.sum_gradients(self.model.parameters())
        if config.clip:
            nn.utils.clip_grad_norm_(self.model.parameters(), config.clip)
        return self._finish(terms, value)

    def _finish(self, terms: Terms, loss: float) -> Step:
        """Update the weights from their gradients."""
        for group in self.optimizer.param_groups:
            group["lr"] = group["factor"] * self.learning_rate()
        self.optimizer.step()
        self.step += 1
        own, averaged = self.model, self.averaged
        if averaged is not own:
            # early weights have a small share
            decay = min(self.config.training.average, self.step / (self.step + 10))
            with torch.no_grad():
                for average, weight in zip(averaged.parameters(), own.parameters(), strict=True):
                    average.lerp_(weight, 1 - decay)
                for kept, buffer in zip(averaged.buffers(), own.buffers(), strict=True):
                    kept.copy_(buffer)
        mse = float(terms.squared_error.detach().sum() / terms.pixels.sum())
        kl = float(terms.kl.detach().mean())
        epoch = self.step / self.source.steps
        return Step(self.step, epoch, loss, mse, kl, self.objective.multiplier())

    def _recognise(self) -> Step:
        """A step of the recognition phase: train the encoder of the local channels alone."""
        with torch.no_grad():
            terms, views = self._terms()
        self.optimizer.zero_grad()
        part, learned, loss = self._part(), self.model.recognising(), 0.0
        if views is not None:
            samples = random_generator(self.config.seed, 5, self.step, part)
            with self._precision():
                each = self.model.recognition(views.to(self.home), samples)  # [P]
            own = each.sum() / part.total
            own.backward(inputs=learned)
            loss = float(own.detach())
        self.workers.sum_gradients(learned)
        return self._finish(terms, loss)

    def _terms(self) -> tuple[Terms, Views | None]:
        """The terms of the whole batch, computed from this worker's part of it, and that part."""
        part, nothing = self._part(), torch.zeros(0, device=self.home)
        own, views = Terms(nothing, nothing.long(), nothing), None
        try:
            if len(part):
                own, views = self._own_terms(part)
        except UserError as error:
            # the others learn of it by numbers that are not finite, and stop as well
            nan = torch.full((len(part),), math.nan)
            self.workers.gather(Terms(nan, nan, nan), part)
            raise UserError(self._stopped(str(error).rstrip("."))) from None
        return self.workers.gather(own, part), views

    def _own_terms(self, part: Part) -> tuple[Terms, Views]:
        share, home = self.config.training.context_dropout, self.home
        seed, step = self.config.seed, self.step
        views = self.source.batch(step, part)
        seeded: AbstractContextManager[None] = nullcontext()
        if self.config.model.network.dropout:  # which draws from torch's global generator
            own = random_generator(seed, 4, step).initial_seed()
            seeded = randomness.torch_seeded(own, self.device)
        with self._precision(), seeded:
            context, generator = None, random_generator(seed, 3, step, part)
            samples = random_generator(seed, 2, step, part)
            if self.config.objective.conditional:
                given = random_part(views.observed, generator).to(home)
                return self.model.conditional_terms(views.to(home), given, samples), views
            if share:
                context = random_context(views.observed, share, generator).to(home)
            return self.model.terms(views.to(home), context, samples), views

    def _part(self) -> Part:
        """This worker's digits of the batch."""
        size, k = self.config.training.batch, self.step % self.source.steps
        return self.workers.part(min(size, self.source.digits - k * size))

    def _precision(self) -> AbstractContextManager[object]:
        """Multiply float32 matrices in bfloat16; the GP's float64 is not affected."""
        kind = self.device.type
        there = kind != "cpu" or "AVX512" in torch.backends.cpu.get_cpu_capability()  # or emulated
        if self.config.training.precision == "bfloat16" and there:
            return torch.autocast(kind, torch.bfloat16)
        return nullcontext()

    def learning_rate(self) -> float:
        config = self.config.training
        rate = config.learning_rate * min(1.0, (self.step + 1) / (config.warmup + 1))
        if config.schedule == "cosine":
            recognising = self.step >= self.recognition
            first = self.recognition if recognising else 0
            last = self.total if recognising else self.recognition
            share = (self.step - first) / (last - first)
            rate *= 0.01 + 0.99 * 0.5 * (1 + math.cos(math.pi * share))
        return rate

    def result(self) -> Model:
        """The trained model: averaged weights, and the stored training views if it needs them."""
        model = self.averaged
        if self.device.type != "cpu":
            model = copy.deepcopy(model).cpu()
        model.condition(self.source.everything)
        return model.eval()

    def _stopped(self, cause: str) -> str:
        return (
            f"Training stopped at step {self.step}: {cause}; the last good checkpoint is kept. "
            "A lower learning rate may help."
        )

    def start_from(self, model: Model) -> None:
        """Start with the weights of a model with the same settings; a residual block may be new."""
        config = self.config.model
        without = replace(config, network=replace(config.network, residual=0))
        start = self.config.training.start
        same = model.config in (config, without)
        require(same, f"Training cannot start from '{start}': it is a model with other settings.")
        for own in (self.model, self.averaged):
            own.load_state_dict(own.state_dict() | model.state_dict())

    def state(self) -> dict[str, Any]:
        """Everything needed to resume."""
        return {
            "step": self.step,
            "model": self.model.state_dict(),
            "averaged": self.averaged.state_dict() if self.config.training.average else {},
            "objective": self.objective.state_dict(),
            "optimizer": self.optimizer.state_dict(),
        }

    def load_state(self, state: dict[str, Any]) -> None:
        """Resume from a state; settings come from the config, never from the state."""
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
        self.step = int(state["step"])
        if not 0 <= self.step <= self.total:
            raise ValueError("a step that this run does not have")

    def check_finite(self) -> None:
        """Raise an error for weights that are not finite; the loss may have been finite."""
        if not all(bool(weight.isfinite().all()) for weight in self.model.parameters()):
            raise UserError(self._stopped("a weight is not a finite number"))
