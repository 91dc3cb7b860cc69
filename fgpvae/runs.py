"""Run directories: a training run on disk, started here or in a process of its own.

config.json      what is trained
metrics.jsonl    one line an epoch, append only
model.safetensors  the newest weights, ready for inference
state.pt         everything needed to go on
status.json      process, heartbeat, state, progress
"""

import fcntl
import json
import math
import os
import pickle
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import torch

from fgpvae import data, evaluation
from fgpvae.checkpoints import (
    CONFIG,
    WEIGHTS,
    load_config,
    read_json,
    replacing,
    save_config,
    save_model,
    write_json,
)
from fgpvae.errors import UserError
from fgpvae.training import FixedViews, FreshViews, RunConfig, Source, Step, Trainer

METRICS, STATE, STATUS, LOCK = "metrics.jsonl", "state.pt", "status.json", "lock"
CHECKPOINT_SECONDS = 10.0
HEARTBEAT_SECONDS = 1.0


@dataclass(frozen=True)
class Progress:
    """Where a run stands, after each step."""

    step: Step
    total: int  # steps in all
    seconds: float  # spent in steps by this process
    metrics: dict[str, Any] | None  # the line that was written, if an epoch ended


def build_source(config: RunConfig) -> tuple[Source, data.Task | None]:
    """The batches of a run, and the validation task where digits were kept back for one."""
    settings, size = config.data, config.training.batch
    if settings.split == "continuous":
        digits = data.trainable(load_digits(settings.source, settings.classes))
        return FreshViews(digits, size, settings.views, config.seed, settings.warp), None
    if settings.source != "embedded":
        raise UserError("The fixed splits are of the embedded digits; use the continuous split.")
    views, task = evaluation.training_views(settings, config.seed), None
    if settings.validation:
        views, kept = data.split_validation(views, settings.validation)
        task = data.leave_one_out(kept)
    return FixedViews(views, size, config.seed, settings.warp), task


def load_digits(source: str, classes: tuple[int, ...]) -> data.Digits:
    """Upright digits: the embedded ones, MNIST through OpenML, or a directory of IDX files."""
    if source == "embedded":
        return data.embedded(classes)
    digits = data.load_openml() if source == "openml" else data.load_idx(source)
    chosen = [i for i, label in enumerate(digits.labels.tolist()) if label in set(classes)]
    if not chosen:
        raise UserError(f"{source} holds no digit of the classes {list(classes)}.")
    return data.Digits(digits.images[chosen], digits.labels[chosen])


def execute(directory: Path, config: RunConfig, resume: bool = False) -> Iterator[Progress]:
    """Train in this process, keeping the run directory up to date; yields after every step.

    Closing the generator (or an interrupt) writes a checkpoint first.
    """
    directory.mkdir(parents=True, exist_ok=True)
    with _locked(directory):
        if resume:
            config = _resumed_config(directory, config)
        elif (directory / CONFIG).exists():
            raise UserError(
                f"'{directory.name}' already holds a run; resume it or choose another directory."
            )
        save_config(config, directory)
        yield from _Recorder(directory, config).run(resume)


class _Recorder:
    def __init__(self, directory: Path, config: RunConfig) -> None:
        self.directory, self.config = directory, config
        self.status: dict[str, Any] = {
            "pid": os.getpid(),
            "started": psutil.Process().create_time(),
            "state": "running",
            "epochs": config.training.epochs,
            "epoch": 0.0,
            "message": "",
        }
        self.sums: dict[str, float] = {}
        self.spent = 0.0  # seconds in steps since the run began, over all its processes

    def run(self, resume: bool) -> Iterator[Progress]:
        self.report(state="preparing")
        try:
            source, validation = build_source(self.config)
            trainer = Trainer(self.config, source)
            if resume and (self.directory / STATE).exists():
                self.load(trainer)
            yield from self.train(trainer, validation)
        except UserError as error:
            self.report(state="failed", message=str(error))
            raise
        except (GeneratorExit, KeyboardInterrupt):
            self.report(state="stopped")
            raise

    def train(self, trainer: Trainer, validation: data.Task | None) -> Iterator[Progress]:
        began = saved = beat = time.monotonic()
        self.report(state="running", epoch=trainer.step / trainer.source.steps)
        if trainer.step == 0:
            self.checkpoint(trainer)
        try:
            while trainer.step < trainer.total:
                before = time.monotonic()
                step = trainer.advance()
                now = time.monotonic()
                self.spent += now - before
                line = self.account(trainer, step, validation)
                if line or now - beat > HEARTBEAT_SECONDS:
                    self.report(epoch=step.epoch)
                    beat = now
                if now - saved > CHECKPOINT_SECONDS:
                    self.checkpoint(trainer)
                    saved = time.monotonic()
                yield Progress(step, trainer.total, now - began, line)
        except UserError:
            raise  # the weights may be spoilt: the last checkpoint stays
        except BaseException:
            self.checkpoint(trainer)
            raise
        self.checkpoint(trainer)
        self.report(state="finished", epoch=float(self.config.training.epochs))

    def account(
        self, trainer: Trainer, step: Step, validation: data.Task | None
    ) -> dict[str, Any] | None:
        """Add a step to the sums of its epoch; at the end of the epoch write its line."""
        for name in ("loss", "mse", "kl"):
            self.sums[name] = self.sums.get(name, 0.0) + getattr(step, name)
        steps = trainer.source.steps
        if step.step % steps:
            return None
        epoch = step.step // steps
        line: dict[str, Any] = {"epoch": epoch, "step": step.step}
        line |= {name: total / steps for name, total in self.sums.items()}
        line |= {"multiplier": step.multiplier, "seconds": round(self.spent, 3)}
        self.sums = {}
        last = step.step == trainer.total
        if validation and (epoch % self.config.training.validate_every == 0 or last):
            model = trainer.averaged.eval()
            line["validation_mse"] = evaluation.task_mse(model, validation)
        with (self.directory / METRICS).open("a") as file:
            file.write(json.dumps(line) + "\n")
        return line

    def report(self, **changes: Any) -> None:
        self.status |= changes | {"heartbeat": time.time()}
        write_json(self.directory / STATUS, self.status)

    def checkpoint(self, trainer: Trainer) -> None:
        state = trainer.state() | {"sums": self.sums, "spent": self.spent}
        with replacing(self.directory / STATE) as temporary:
            torch.save(state, temporary)
        save_model(trainer.averaged, self.directory / WEIGHTS)

    def load(self, trainer: Trainer) -> None:
        try:
            state = torch.load(self.directory / STATE, weights_only=True)
            trainer.load_state(state)
            self.sums, self.spent = dict(state["sums"]), float(state["spent"])
        except (RuntimeError, ValueError, KeyError, TypeError, EOFError, pickle.UnpicklingError):
            raise UserError(
                f"{STATE} of '{self.directory.name}' is damaged or belongs to another run, so it "
                "cannot be resumed; its weights can still be used."
            ) from None


@contextmanager
def _locked(directory: Path) -> Iterator[None]:
    """Only one process trains a run; the lock goes with the process, however it ends."""
    with (directory / LOCK).open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(f"'{directory.name}' is being trained by another process.") from None
        yield


def _resumed_config(directory: Path, config: RunConfig) -> RunConfig:
    """The config on disk; only the number of epochs may be changed when resuming."""
    kept = load_config(directory)
    epochs = config.training.epochs
    return replace(kept, training=replace(kept.training, epochs=epochs))


@dataclass(frozen=True)
class Run:
    """A run directory as it is now."""

    path: Path
    config: RunConfig
    state: str  # preparing, running, stopped, finished, failed, interrupted
    epoch: float
    message: str
    pid: int | None

    @property
    def name(self) -> str:
        return self.path.name

    def metrics(self) -> list[dict[str, Any]]:
        """One line an epoch; an epoch that was trained again after a crash counts once."""
        try:
            text = (self.path / METRICS).read_text()
        except FileNotFoundError:
            return []
        lines: dict[int, dict[str, Any]] = {}
        for row in text.splitlines():
            try:
                line = json.loads(row)
                lines[int(line["epoch"])] = line
            except (ValueError, KeyError, TypeError):
                continue  # a line that was being written when the process died
        return [lines[epoch] for epoch in sorted(lines)]

    def summary(self) -> dict[str, Any]:
        metrics = self.metrics()
        return {
            "name": self.name,
            "model": self.config.model.name,
            "preset": self.config.preset,
            "state": self.state,
            "epoch": round(self.epoch, 2),
            "epochs": self.config.training.epochs,
            "message": self.message,
            "last": metrics[-1] if metrics else None,
        }


def open_run(path: Path) -> Run:
    config = load_config(path)
    status = read_json(path / STATUS)
    if not isinstance(status, dict):
        raise UserError(f"{STATUS} of '{path.name}' is damaged.")
    state, pid = str(status.get("state")), status.get("pid")
    alive = isinstance(pid, int) and _alive(pid, status.get("started"))
    if state in ("preparing", "running") and not alive:
        state = "interrupted"
    epoch = status.get("epoch")
    known = isinstance(epoch, int | float) and math.isfinite(epoch)
    return Run(
        path,
        config,
        state,
        float(epoch) if known else 0.0,
        str(status.get("message", "")),
        pid if alive else None,
    )


def list_runs(root: Path) -> tuple[list[Run], dict[str, str]]:
    """The runs below a directory, newest first, and a sentence for each that cannot be read."""
    runs, broken = [], {}
    if not root.is_dir():
        return [], {}
    for path in root.iterdir():
        if not path.is_dir() or path.is_symlink() or not (path / CONFIG).exists():
            continue
        try:
            runs.append(open_run(path))
        except UserError as error:
            broken[path.name] = str(error)
    runs.sort(key=lambda run: (run.path / CONFIG).stat().st_mtime, reverse=True)
    return runs, broken


def stop(run: Run) -> None:
    """Ask a running process to write a checkpoint and end."""
    if run.pid is not None:
        os.kill(run.pid, signal.SIGTERM)


def _alive(pid: int, started: Any) -> bool:
    try:
        process = psutil.Process(pid)
        same = isinstance(started, int | float) and abs(process.create_time() - started) < 1.0
        return same and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
