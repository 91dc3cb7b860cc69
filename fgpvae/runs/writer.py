"""Train and keep a run directory up to date, step by step."""

import io
import json
import math
import os
import time
import zipfile
from collections.abc import Generator
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch

from fgpvae import files, runs
from fgpvae.data import Task
from fgpvae.data.objects import Objects
from fgpvae.errors import UserError
from fgpvae.evaluation import protocol
from fgpvae.runs.checkpoints import WEIGHTS, load_objects, load_pretrained, save_config, save_model
from fgpvae.runs.memory import peak_mb
from fgpvae.training.batches import Source, build_source
from fgpvae.training.configs import RunConfig, from_dict
from fgpvae.training.distributed import WorkerLost, Workers
from fgpvae.training.trainer import Step, Trainer

CHECKPOINT_SECONDS = 10.0
FIRST_CHECKPOINT = 1.0  # seconds; the interval then doubles up to CHECKPOINT_SECONDS
HEARTBEAT_SECONDS = 1.0
FIRST_ESTIMATE = 5.0  # seconds before the remaining time is estimated: the first steps are slow
STEADY = 0.1  # change of the remaining time, relative to it, up to which the estimate stays
LARGEST_STATE = 2**30  # bytes
FINDINGS = ("test_mse", "references", "gp_share", "verdict")  # scores of runs on own objects
# a step, and the line of metrics if it ended an epoch
Progress = tuple[Step, dict[str, Any] | None]


def execute(
    directory: Path,
    config: RunConfig | None = None,
    epochs: int | None = None,
    lock: int | None = None,
    workers: Workers | None = None,
    device: torch.device | str = "cpu",
    objects: Objects | None = None,
) -> Generator[Progress, None, None]:
    """Train in this process, keeping the run directory up to date; yields after every step.

    With a config a new run starts, with a copy of its own `objects`; without one, the run in the
    directory is resumed, up to `epochs` in all if given. Closing the generator writes a checkpoint
    first. `lock` is the run's lock if the process that started this one has taken it already. With
    many workers the first one does this, the others `assist`.
    """
    with runs.locked(directory, lock):
        if config is not None:
            runs.create(directory, config, objects)
        run = runs.open_run(directory)
        config = run.config
        if epochs is not None:
            config = replace(config, training=replace(config.training, epochs=epochs))
        if config.training.epochs < run.epoch:
            raise UserError(
                f"'{run.name}' has been trained for {run.epoch:.4g} epochs already and cannot be "
                f"cut to {config.training.epochs}."
            )
        if config == run.config and run.state == runs.FINISHED:
            return
        runs.check_state(directory)
        if lock is None:
            with files.explained(directory / runs.STOP, "removed"):
                (directory / runs.STOP).unlink(missing_ok=True)
        files.remove_unfinished(directory)
        if config != run.config:
            save_config(config, directory)
        status = {"pid": os.getpid(), "epoch": run.epoch, "message": ""}
        yield from Recorder(directory, config, workers or Workers(), device, status).run()


def assist(
    directory: Path, workers: Workers, device: torch.device | str = "cpu"
) -> Generator[Progress, None, None]:
    """Train beside the first worker, from its config and its state, and write nothing."""
    told = workers.tell()
    if not told:
        return
    config = from_dict(RunConfig, json.loads(told))
    trainer = Trainer(config, _source(config, directory)[0], workers, device)
    state = torch.load(io.BytesIO(workers.tell()), map_location="cpu", weights_only=True)
    trainer.load_state(state)
    torch.set_num_threads(state["threads"])
    while trainer.step < trainer.total and not workers.stopping:
        yield trainer.advance(), None


def _source(config: RunConfig, directory: Path) -> tuple[Source, Task | None]:
    """The batches of a run and its validation task; own objects come from its directory."""
    return build_source(config, load_objects(directory) if config.data.own else None)


@dataclass
class Recorder:
    """Keeps a run directory up to date while its model is trained."""

    directory: Path
    config: RunConfig
    workers: Workers
    device: torch.device | str
    status: dict[str, Any]
    sums: dict[str, float] = field(default_factory=dict)  # over the steps of an epoch
    best: float = math.inf  # validation error of the saved weights
    spent: float = 0.0  # seconds in training steps, over all processes of the run
    cpu: float = 0.0  # processor seconds of the same steps

    def run(self) -> Generator[Progress, None, None]:
        self.report(state=runs.PREPARING)
        try:
            source, validation = _source(self.config, self.directory)
            self.workers.tell(json.dumps(asdict(self.config)).encode())
            trainer = Trainer(self.config, source, self.workers, self.device)
            if (self.directory / runs.STATE).exists():
                self.load(trainer)
            else:
                if self.config.training.start:
                    trainer.start_from(load_pretrained(self.config.training.start))
                self.checkpoint(trainer)
            if self.workers.count > 1:
                self.workers.tell(self.state(trainer))
            yield from self.train(trainer, validation)
        except Exception as error:
            state = runs.INTERRUPTED if isinstance(error, WorkerLost) else runs.FAILED
            message = f"Training stopped: {type(error).__name__}, {error}"
            message = str(error) if isinstance(error, UserError) else message
            with suppress(UserError):  # a full disk has been reported already
                self.report(state=state, message=message, seconds_left=None)
            raise

    def train(self, trainer: Trainer, validation: Task | None) -> Generator[Progress, None, None]:
        began = saved = beat = time.monotonic()
        first, end = trainer.step, math.inf
        self.report(state=runs.RUNNING, epoch=trainer.step / trainer.source.steps)
        while trainer.step < trainer.total and not self.workers.stopping:
            before, worked = time.monotonic(), time.process_time()
            step = trainer.advance()
            now = time.monotonic()
            self.spent += now - before
            self.cpu += time.process_time() - worked
            line = self.account(trainer, step, validation)
            if now - beat > HEARTBEAT_SECONDS:
                left = (now - began) / (step.step - first) * (trainer.total - step.step)
                if abs(now + left - end) > STEADY * left:
                    end = now + left
                seconds_left = round(end - now, 1) if now - began > FIRST_ESTIMATE else None
                self.report(epoch=step.epoch, seconds_left=seconds_left)
                beat = now
                self.workers.leaving |= (self.directory / runs.STOP).exists()
            # often at first, so that pictures of trained weights appear soon
            if now - saved > min(FIRST_CHECKPOINT + saved - began, CHECKPOINT_SECONDS):
                self.checkpoint(trainer)
                saved = time.monotonic()
            try:
                yield step, line
            except GeneratorExit:
                self.finish(trainer)
                raise
        self.finish(trainer)

    def finish(self, trainer: Trainer) -> None:
        """Write the last checkpoint, and the scores on the held-out part of own objects."""
        self.checkpoint(trainer)
        done, config, findings = trainer.step == trainer.total, self.config, None
        if done and config.data.own:
            objects = load_objects(self.directory)
            scores = protocol.evaluate_objects(trainer.result(), objects, config.data, config.seed)
            findings = {name: scores[name] for name in FINDINGS}
        state, epoch = runs.FINISHED if done else runs.STOPPED, trainer.step / trainer.source.steps
        self.report(state=state, epoch=epoch, seconds_left=None, findings=findings)

    def account(
        self, trainer: Trainer, step: Step, validation: Task | None
    ) -> dict[str, Any] | None:
        """Add a step to the sums of its epoch; at the end of the epoch write its line."""
        for name in ("loss", "mse", "kl"):
            self.sums[name] = self.sums.get(name, 0.0) + getattr(step, name)
        steps = trainer.source.steps
        if step.step % steps:
            return None
        epoch = step.step // steps
        line: dict[str, Any] = {
            "epoch": epoch,
            "step": step.step,
            **{name: total / steps for name, total in self.sums.items()},
            "multiplier": step.multiplier,
            "seconds": round(self.spent, 3),
            "cpu_seconds": round(self.cpu, 3),
            "memory_mb": round(peak_mb()),
        }
        self.sums = {}
        last = step.step == trainer.total
        if validation and (epoch % self.config.training.validate_every == 0 or last):
            error = line["validation_mse"] = protocol.task_mse(trainer.result(), validation)
            if self.config.training.keep == "best" and error < self.best:
                self.best = error
                save_model(trainer.result(), self.directory / WEIGHTS)
        files.append(self.directory / runs.METRICS, json.dumps(line))
        return line

    def report(self, **changes: Any) -> None:
        """Rewrite the status, every second and so without waiting for the disk."""
        self.status |= changes | {"heartbeat": time.time()}
        files.write_json(self.directory / runs.STATUS, self.status, durable=False)

    def checkpoint(self, trainer: Trainer) -> None:
        trainer.check_finite()
        files.write(self.directory / runs.STATE, self.state(trainer))
        if self.config.training.keep == "last" or math.isinf(self.best):
            save_model(trainer.result(), self.directory / WEIGHTS)

    def state(self, trainer: Trainer) -> bytes:
        """Everything needed to resume."""
        state = trainer.state() | {
            "run": json.dumps(asdict(self.config)),
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

    def load(self, trainer: Trainer) -> None:
        content = files.read(self.directory / runs.STATE, LARGEST_STATE)
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as archive:
                packed = any(entry.compress_size < entry.file_size for entry in archive.filelist)
                if packed or archive.testzip():
                    raise ValueError("compressed, or a checksum is wrong")
            state = torch.load(io.BytesIO(content), map_location="cpu", weights_only=True)
            written = from_dict(RunConfig, json.loads(state["run"]))
            training = replace(written.training, epochs=self.config.training.epochs)
            if replace(written, training=training) != self.config:  # only epochs may differ
                raise ValueError("of another run")
            trainer.load_state(state)
            self.sums = {str(name): float(total) for name, total in state["sums"].items()}
            self.best, self.spent, self.cpu = (float(state[n]) for n in ("best", "spent", "cpu"))
            # sums of floats depend on the number of workers
            if state["workers"] == self.workers.count:
                torch.set_num_threads(min(max(int(state["threads"]), 1), 256))
        except Exception:  # damage has many forms, all with the same message
            raise UserError(
                f"{runs.STATE} of '{self.directory.name}' is damaged or belongs to another run, so "
                "it cannot be resumed; its weights can still be used."
            ) from None
