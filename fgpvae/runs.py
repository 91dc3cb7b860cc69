"""Run directories: a training run on disk.

config.json        what is trained
metrics.jsonl      one line an epoch, append only
objects.npz        a copy of one's own objects, where a run is trained on such
model.safetensors  the newest weights, ready for inference
state.pt           everything needed to go on
status.json        state, progress, heartbeat
lock               held by the process that trains, so it is free as soon as that process is gone
stop               asks that process to stop
log.txt            what a background process had to say
"""

import io
import json
import math
import os
import time
import zipfile
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import psutil
import torch

from fgpvae import data, evaluation, files
from fgpvae.batches import FixedViews, FreshViews, Source, TurnedFigures
from fgpvae.checkpoints import (
    CONFIG,
    OBJECTS_FILE,
    WEIGHTS,
    load_config,
    load_objects,
    load_pretrained,
    save_config,
    save_model,
)
from fgpvae.configs import CUBES, OBJECTS, RunConfig, from_dict, to_dict, upgrade_run
from fgpvae.data.objects import Objects
from fgpvae.distributed import WorkerLost, Workers
from fgpvae.errors import UserError
from fgpvae.memory import peak_mb
from fgpvae.training import Step, Trainer

METRICS, STATE, STATUS = "metrics.jsonl", "state.pt", "status.json"
LOCK, STOP, LOG = "lock", "stop", "log.txt"
CHECKPOINT_SECONDS = 10.0
HEARTBEAT_SECONDS = 1.0
LARGEST_STATE = 2**30  # bytes
LARGEST_METRICS = 2**26  # bytes; 100,000 epochs are 20 MB
LINE = ("epoch", "mse", "kl", "multiplier", "seconds")  # numbers that every line of metrics has
LOCK_SECONDS = 2.0  # whoever looks at a run holds its lock for an instant: wait this long for it

QUEUED, PREPARING, RUNNING = "queued", "preparing", "running"
STOPPED, FINISHED, FAILED, INTERRUPTED = "stopped", "finished", "failed", "interrupted"


@dataclass(frozen=True)
class Progress:
    """Where a run stands, after each step."""

    step: Step
    total: int  # steps in all
    seconds: float  # since this process began to train
    metrics: dict[str, Any] | None  # the line that was written, if an epoch ended


def build_source(
    config: RunConfig, directory: Path | None = None
) -> tuple[Source, data.Task | None]:
    """The batches of a run, and the validation task where digits were kept back for one.

    Own objects are those in the run's directory.
    """
    settings, size = config.data, config.training.batch
    if settings.split == OBJECTS:
        if directory is None:
            raise UserError("Own objects are kept with their run: it needs a directory.")
        return _object_source(config, load_objects(directory)), None
    if settings.split == CUBES:
        return figure_source(config), None
    if config.model.network.shape != (1, 28, 28):
        raise UserError("The digits are grey images of 28 x 28 pixels: set network.shape to that.")
    kind = config.kind
    if settings.split == "continuous" and kind.fixed_angles:
        raise UserError(
            f"The {kind.title} needs the same angles of a digit in every epoch: "
            "set data.split to factorized or shuffled."
        )
    if settings.split == "continuous":
        digits = data.trainable(load_digits(settings.source, settings.classes))
        return FreshViews(digits, size, settings.views, config.seed, settings.warp), None
    if settings.source != "embedded":
        raise UserError("The fixed splits are of the embedded digits; use the continuous split.")
    views, task = evaluation.training_views(settings, config.seed), None
    if settings.validation and settings.keep_back == "views":
        views, task = data.keep_views_back(views, settings.validation)
    elif settings.validation:
        if not kind.takes_new_digits:
            raise UserError(
                "This model cannot take new digits: set data.validation to 0, or data.keep_back "
                "to views."
            )
        views, kept = data.split_validation(views, settings.validation)
        task = data.leave_one_out(kept)
    return FixedViews(views, size, config.seed, settings.warp), task


def _object_source(config: RunConfig, objects: Objects) -> FixedViews:
    if objects.shape != config.model.network.shape:
        raise UserError(
            f"The images of these objects have the shape {list(objects.shape)}: set "
            "model.network.shape to that."
        )
    if objects.most_views() > config.data.views:
        raise UserError(f"An object has more than the {config.data.views} views of data.views.")
    views = data.objects.split(objects, config.data.track, config.seed).train
    return FixedViews(views, config.training.batch, config.seed)


def figure_source(config: RunConfig, most: int | None = None) -> Source:
    """Figures of cubes, or at `most` so many of them."""
    settings, size, pixels = config.data, config.training.batch, config.model.network.shape[1]
    figures, often = data.cubes.training_figures(0 if most else settings.figures, config.seed)
    figures = figures[:most]
    table = data.cubes.turntable(figures, config.seed, pixels)
    source = TurnedFigures(table, often, size, settings.views, config.seed)
    if config.kind.fixed_angles:
        return FixedViews(source.everything(), size, config.seed)
    return source


def keep_objects(directory: Path, objects: Objects) -> None:
    """Copy the objects of a run that is about to begin into its directory."""
    with files.explained(directory, "made"):
        directory.mkdir(parents=True, exist_ok=True)
    with locked(directory):
        _refuse_second(directory)
        files.write(directory / OBJECTS_FILE, data.objects.pack(objects))


def load_digits(source: str, classes: tuple[int, ...]) -> data.Digits:
    """Upright digits: the embedded ones, MNIST through OpenML, or a directory of IDX files."""
    if source == "embedded":
        return data.embedded(classes)
    digits = data.load_openml() if source == "openml" else data.load_idx(source)
    chosen = [i for i, label in enumerate(digits.labels.tolist()) if label in set(classes)]
    if not chosen:
        raise UserError(f"{source} holds no digit of the classes {list(classes)}.")
    return digits[chosen]


def create(directory: Path, config: RunConfig) -> None:
    """Put a run that has not begun on disk, in the queue."""
    with files.explained(directory, "made"):
        directory.mkdir(parents=True, exist_ok=True)
    with locked(directory):
        _create(directory, config)


def _refuse_second(directory: Path) -> None:
    if (directory / CONFIG).exists():
        raise UserError(
            f"'{directory.name}' already holds a run; resume it or choose another name."
        )


def _create(directory: Path, config: RunConfig) -> None:
    _refuse_second(directory)
    files.write_json(directory / STATUS, {"state": QUEUED, "queued": time.time()})
    save_config(config, directory)


def execute(
    directory: Path,
    config: RunConfig | None = None,
    epochs: int | None = None,
    lock: int | None = None,
    workers: Workers | None = None,
    device: torch.device | str = "cpu",
) -> Generator[Progress, None, None]:
    """Train in this process, keeping the run directory up to date; yields after every step.

    With a config a run is begun; without one, that in the directory goes on from where it stands,
    for `epochs` in all if they are given. Closing the generator writes a checkpoint first. `lock`
    is the run's lock if the process that started this one has taken it already. The first of
    many workers does this, the others `assist`.
    """
    with files.explained(directory, "made"):
        directory.mkdir(parents=True, exist_ok=True)
    with locked(directory, lock):
        if config is not None:
            _create(directory, config)
        run = open_run(directory)
        config = run.config
        if epochs is not None:
            config = replace(config, training=replace(config.training, epochs=epochs))
        if config.training.epochs < run.epoch:
            raise UserError(
                f"'{run.name}' has been trained for {run.epoch:.4g} epochs already and cannot be "
                f"cut to {config.training.epochs}."
            )
        if config == run.config and run.state == FINISHED:
            return
        check_state(directory)
        if lock is None:
            with files.explained(directory / STOP, "removed"):
                (directory / STOP).unlink(missing_ok=True)
        files.remove_unfinished(directory)
        if config != run.config:
            save_config(config, directory)
        yield from _Recorder(directory, config, run.epoch, workers or Workers(), device).run()


def check_state(directory: Path) -> None:
    """Refuse to go on with a run that has weights but not all that is needed to go on from them."""
    if (directory / WEIGHTS).exists() and not (directory / STATE).exists():
        raise UserError(
            f"'{directory.name}' cannot be trained further: an archive holds its weights, but not "
            "the state of its training. Start a new run with its settings instead."
        )


def assist(
    directory: Path, workers: Workers, device: torch.device | str = "cpu"
) -> Generator[Progress, None, None]:
    """Train beside the first worker, from its config and its state, and write nothing."""
    told = workers.tell()
    if not told:
        return
    config = from_dict(RunConfig, json.loads(told))
    trainer = Trainer(config, build_source(config, directory)[0], workers, device)
    state = torch.load(io.BytesIO(workers.tell()), map_location="cpu", weights_only=True)
    trainer.load_state(state)
    torch.set_num_threads(state["threads"])
    began = time.monotonic()
    while trainer.step < trainer.total and not workers.stopping:
        step = trainer.advance()
        yield Progress(step, trainer.total, time.monotonic() - began, None)


class _Recorder:
    """Keeps a run directory up to date while its model is trained."""

    def __init__(
        self,
        directory: Path,
        config: RunConfig,
        epoch: float,
        workers: Workers,
        device: torch.device | str,
    ) -> None:
        self.directory, self.config = directory, config
        self.workers, self.device = workers, device
        self.status: dict[str, Any] = {
            "pid": os.getpid(),
            "started": psutil.Process().create_time(),
            "epochs": config.training.epochs,
            "epoch": epoch,
            "seconds_left": None,
            "message": "",
        }
        self.sums: dict[str, float] = {}
        self.best = math.inf  # validation error of the weights that are kept
        self.spent = 0.0  # seconds in steps since the run began, over all its processes
        self.cpu = 0.0  # processor seconds of the same
        self.seen = (0.0, 0.0)  # seconds spent, and waited for batches, when the epoch began

    def run(self) -> Generator[Progress, None, None]:
        self.report(state=PREPARING)
        try:
            source, validation = build_source(self.config, self.directory)
            self.workers.tell(json.dumps(to_dict(self.config)).encode())
            trainer = Trainer(self.config, source, self.workers, self.device)
            if (self.directory / STATE).exists():
                self.load(trainer)
            else:
                if self.config.training.start:
                    trainer.start_from(load_pretrained(self.config.training.start))
                self.checkpoint(trainer)
            if self.workers.count > 1:
                self.workers.tell(self.state(trainer))
            yield from self.train(trainer, validation)
        except WorkerLost as error:
            self.fail(str(error), INTERRUPTED)
            raise
        except UserError as error:
            self.fail(str(error))
            raise
        except Exception as error:
            self.fail(f"Training stopped: {type(error).__name__}, {error}")
            raise

    def train(
        self, trainer: Trainer, validation: data.Task | None
    ) -> Generator[Progress, None, None]:
        began = saved = beat = time.monotonic()
        first = trainer.step
        self.seen = (self.spent, trainer.waited)
        self.report(state=RUNNING, epoch=first / trainer.source.steps)
        while trainer.step < trainer.total and not self.workers.stopping:
            before, worked = time.monotonic(), time.process_time()
            step = trainer.advance()
            now = time.monotonic()
            self.spent += now - before
            self.cpu += time.process_time() - worked
            line = self.account(trainer, step, validation)
            if now - beat > HEARTBEAT_SECONDS:
                left = (now - began) / (step.step - first) * (trainer.total - step.step)
                self.report(epoch=step.epoch, seconds_left=round(left, 1))
                beat = now
                self.workers.leaving |= (self.directory / STOP).exists()
            if now - saved > CHECKPOINT_SECONDS:
                self.checkpoint(trainer)
                saved = time.monotonic()
            try:
                yield Progress(step, trainer.total, now - began, line)
            except GeneratorExit:
                self.finish(trainer)
                raise
        self.finish(trainer)

    def finish(self, trainer: Trainer) -> None:
        self.checkpoint(trainer)
        state = FINISHED if trainer.step == trainer.total else STOPPED
        self.report(state=state, epoch=trainer.step / trainer.source.steps, seconds_left=None)

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
        line["cpu_seconds"] = round(self.cpu, 3)
        spent, waited = self.spent - self.seen[0], trainer.waited - self.seen[1]
        line["waiting"] = round(waited / spent, 4)  # share of the time without a batch to work on
        self.seen = (self.spent, trainer.waited)
        line["memory_mb"] = round(peak_mb())
        self.sums = {}
        last = step.step == trainer.total
        if validation and (epoch % self.config.training.validate_every == 0 or last):
            error = line["validation_mse"] = evaluation.task_mse(trainer.result(), validation)
            if self.config.training.keep == "best" and error < self.best:
                self.best = error
                save_model(trainer.result(), self.directory / WEIGHTS)
        files.append(self.directory / METRICS, json.dumps(line))
        return line

    def report(self, **changes: Any) -> None:
        """Rewrite the status: every second, so without waiting for the disk."""
        self.status |= changes | {"heartbeat": time.time()}
        files.write_json(self.directory / STATUS, self.status, durable=False)

    def fail(self, message: str, state: str = FAILED) -> None:
        with suppress(UserError):  # a full disk has been reported already
            self.report(state=state, message=message, seconds_left=None)

    def checkpoint(self, trainer: Trainer) -> None:
        trainer.check_finite()
        files.write(self.directory / STATE, self.state(trainer))
        if self.config.training.keep == "last" or math.isinf(self.best):
            save_model(trainer.result(), self.directory / WEIGHTS)

    def state(self, trainer: Trainer) -> bytes:
        """All that is needed to go on."""
        state = trainer.state() | {
            "run": json.dumps(to_dict(self.config)),
            "sums": self.sums,
            "best": self.best,
            "spent": self.spent,
            "cpu": self.cpu,
            "threads": torch.get_num_threads(),
            "workers": self.workers.count,
        }
        buffer = io.BytesIO()
        torch.save(state, buffer)
        return buffer.getvalue()

    def belongs(self, run: str) -> bool:
        """Was a state written by this run? Only the number of epochs may have changed."""
        written = from_dict(RunConfig, upgrade_run(json.loads(run)))
        training = replace(written.training, epochs=self.config.training.epochs)
        return replace(written, training=training) == self.config

    def load(self, trainer: Trainer) -> None:
        content = files.read(self.directory / STATE, LARGEST_STATE)
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                packed = any(entry.compress_size < entry.file_size for entry in archive.filelist)
                if packed or archive.testzip():
                    raise ValueError("compressed, or a checksum is wrong")
            state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
            if "run" in state and not self.belongs(state["run"]):
                raise ValueError("of another run")
            trainer.load_state(state)
            self.sums = {str(name): float(total) for name, total in state["sums"].items()}
            self.best = float(state.get("best", math.inf))
            self.spent = float(state["spent"])
            self.cpu = float(state.get("cpu", 0.0))
            # sums of floats depend on how they are shared out
            if state.get("workers", 1) == self.workers.count:
                threads = int(state.get("threads", torch.get_num_threads()))
                torch.set_num_threads(min(max(threads, 1), 256))
        except Exception:  # damage has many forms; none of them is worth a different sentence
            raise UserError(
                f"{STATE} of '{self.directory.name}' is damaged or belongs to another run, so it "
                "cannot be resumed; its weights can still be used."
            ) from None


@contextmanager
def locked(directory: Path, handle: int | None = None) -> Iterator[int]:
    """Only one process at a time changes a run; the lock goes with it, however it ends."""
    if handle is None:
        handle = files.try_lock(directory / LOCK, LOCK_SECONDS)
    if handle is None:
        raise UserError(f"'{directory.name}' is being trained by another process.")
    try:
        yield handle
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Run:
    """A run directory as it is now."""

    path: Path
    config: RunConfig
    state: str  # queued, preparing, running, stopped, finished, failed, interrupted
    active: bool  # a process is at work on it
    epoch: float
    seconds_left: float | None
    message: str
    queued: float  # when it was put in the queue

    @property
    def name(self) -> str:
        return self.path.name

    def metrics(self) -> list[dict[str, Any]]:
        """One line an epoch; an epoch that was trained again after a crash counts once.

        A line that lacks one of the numbers LINE is left out.
        """
        try:
            text = files.read(self.path / METRICS, LARGEST_METRICS)
        except UserError:
            if (self.path / METRICS).exists():
                raise
            return []  # none yet, or the run was just deleted
        lines: dict[int, dict[str, Any]] = {}
        for row in text.splitlines():
            try:
                line = json.loads(row)
            except (ValueError, RecursionError):
                continue  # a line that was being written when the process died
            if isinstance(line, dict) and all(_number(line, name) is not None for name in LINE):
                lines[int(line["epoch"])] = line
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
            "seconds_left": self.seconds_left,
            "message": self.message,
            "last": metrics[-1] if metrics else None,
        }


def open_run(path: Path) -> Run:
    config = load_config(path)
    try:
        status = files.read_json(path / STATUS)
    except UserError:
        status = {}  # lost in a power cut; the run itself is not
    status = status if isinstance(status, dict) else {}
    state, active = str(status.get("state")), files.is_locked(path / LOCK)
    if state not in (QUEUED, STOPPED, FINISHED, FAILED) and not active:
        state = INTERRUPTED
    return Run(
        path,
        config,
        state,
        active,
        _number(status, "epoch") or 0.0,
        _number(status, "seconds_left"),
        str(status.get("message", ""))[:1000],
        _number(status, "queued") or 0.0,
    )


def _number(status: dict[str, Any], name: str) -> float | None:
    value = status.get(name)
    if isinstance(value, int | float) and abs(value) < 1e15:  # neither infinite nor NaN
        return float(value)
    return None


def list_runs(root: Path) -> tuple[list[Run], dict[str, str]]:
    """The runs below a directory, newest first, and a sentence for each that cannot be read."""
    runs, broken = [], {}
    if not root.is_dir():
        return [], {}
    for path in root.iterdir():
        hidden = path.name.startswith(".")
        if hidden or path.is_symlink() or not (path / CONFIG).exists():
            continue
        try:
            runs.append(((path / CONFIG).stat().st_mtime, open_run(path)))
        except UserError as error:
            if (path / CONFIG).exists():  # or it was just deleted
                broken[path.name] = str(error)
        except OSError:
            continue  # just deleted
    runs.sort(key=lambda pair: (-pair[0], pair[1].name))
    return [run for _, run in runs], broken
