"""Run directories: a training run on disk.

config.json        the config
metrics.jsonl      one line an epoch, append only
objects.npz        a copy of own objects, if the run is trained on them
model.safetensors  the newest weights, ready for inference
state.pt           everything needed to resume
status.json        state, progress, heartbeat
lock               held by the process that trains, so it is free as soon as that process is gone
stop               asks that process to stop
log.txt            output of a background process
"""

import json
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fgpvae import files
from fgpvae.data import object_files
from fgpvae.data.objects import Objects
from fgpvae.errors import UserError
from fgpvae.runs.checkpoints import CONFIG, OBJECTS_FILE, WEIGHTS, load_config, save_config
from fgpvae.training.configs import RunConfig

METRICS, STATE, STATUS = "metrics.jsonl", "state.pt", "status.json"
LOCK, STOP, LOG = "lock", "stop", "log.txt"
LARGEST_METRICS = 2**26  # bytes; 100,000 epochs are 20 MB
LINE = ("epoch", "mse", "kl", "multiplier", "seconds")  # numbers in every line of metrics
LOCK_SECONDS = 2.0  # seconds to wait for a lock, which readers hold for an instant

QUEUED, PREPARING, RUNNING = "queued", "preparing", "running"
STOPPED, FINISHED, FAILED, INTERRUPTED = "stopped", "finished", "failed", "interrupted"


def create(directory: Path, config: RunConfig, objects: Objects | None = None) -> None:
    """Write a new run to disk, queued, with a copy of its own objects; the caller has locked it."""
    if (directory / CONFIG).exists():
        raise UserError(f"'{directory}' already holds a run; resume it or choose another name.")
    if objects is not None:
        files.write(directory / OBJECTS_FILE, object_files.pack(objects))
    write_status(directory, QUEUED, queued=time.time())
    save_config(config, directory)


def write_status(directory: Path, state: str, **rest: Any) -> None:
    files.write_json(directory / STATUS, {"state": state, **rest})


def check_state(directory: Path) -> None:
    """Refuse to resume a run that has weights but no training state."""
    if (directory / WEIGHTS).exists() and not (directory / STATE).exists():
        raise UserError(
            f"'{directory.name}' cannot be trained further: an archive holds its weights, but not "
            "the state of its training. Start a new run with its settings instead."
        )


@contextmanager
def locked(directory: Path, handle: int | None = None) -> Iterator[int]:
    """Hold the lock of a run, which only one process can have; it ends with the process."""
    with files.explained(directory, "made"):
        directory.mkdir(parents=True, exist_ok=True)
    if handle is None:
        handle = files.try_lock(directory / LOCK, LOCK_SECONDS)
    if handle is None:
        raise UserError(f"'{directory.name}' is being trained; stop it first.")
    try:
        yield handle
    finally:
        os.close(handle)


@dataclass(frozen=True)
class Run:
    """State of a run directory."""

    path: Path
    config: RunConfig
    state: str  # queued, preparing, running, stopped, finished, failed, interrupted
    active: bool  # whether a process trains it
    epoch: float
    seconds_left: float | None
    message: str
    queued: float  # time at which it was queued
    findings: dict[str, Any] | None = field(default=None, compare=False)  # see writer.FINDINGS

    @property
    def name(self) -> str:
        return self.path.name

    def metrics(self) -> list[dict[str, Any]]:
        """One line per epoch; an epoch repeated after a crash counts once."""
        path = self.path / METRICS
        return parse_metrics(files.read(path, LARGEST_METRICS)) if path.exists() else []

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
            "findings": self.findings,
        }


def parse_metrics(content: bytes) -> list[dict[str, Any]]:
    """The lines of a file of metrics, one per epoch, without incomplete ones."""
    lines: dict[int, dict[str, Any]] = {}
    for row in content.splitlines():
        try:
            line = json.loads(row)
        except (ValueError, RecursionError):
            continue  # a line that was being written when the process died
        if isinstance(line, dict) and all(_number(line, name) is not None for name in LINE):
            lines[int(line["epoch"])] = line
    return [lines[epoch] for epoch in sorted(lines)]


def open_run(path: Path) -> Run:
    config = load_config(path)
    status: dict[str, Any] = {}
    with suppress(UserError):  # lost in a power cut; the run itself remains
        found = files.read_json(path / STATUS)
        status = found if isinstance(found, dict) else {}
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
        findings if isinstance(findings := status.get("findings"), dict) else None,
    )


def _number(status: dict[str, Any], name: str) -> float | None:
    value = status.get(name)
    # neither infinite nor NaN
    return float(value) if isinstance(value, int | float) and abs(value) < 1e15 else None


def list_runs(root: Path) -> tuple[list[Run], dict[str, str]]:
    """The runs in a directory, newest first, and an error message for each unreadable one."""
    runs, broken = [], {}
    for path in root.iterdir() if root.is_dir() else ():
        if path.name.startswith(".") or path.is_symlink():
            continue
        try:
            runs.append(((path / CONFIG).stat().st_mtime, open_run(path)))
        except UserError as error:
            if (path / CONFIG).exists():  # or it was just deleted
                broken[path.name] = str(error)
        except OSError:
            continue  # not a run, or just deleted
    runs.sort(key=lambda pair: (-pair[0], pair[1].name))
    return [run for _, run in runs], broken
