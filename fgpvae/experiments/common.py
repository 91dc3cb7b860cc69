"""What the experiments share: reusable trained runs, and the provenance of results."""

import os
import platform
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from itertools import pairwise
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import psutil

from fgpvae.errors import require
from fgpvae.models import Model
from fgpvae.runs import Run, open_run
from fgpvae.runs.checkpoints import CONFIG, WEIGHTS, load_model, load_pretrained
from fgpvae.training import presets

# every model of the comparison, in the order of the paper's table
MODELS = ("vae", "cvae-published", "cvae", "gpvae", "gpvae-amortised", "svgpvae", "paper", "quick")
PACKAGES = ("torch", "numpy", "scipy", "scikit-learn")


@dataclass(frozen=True, kw_only=True)
class Experiment:
    seeds: int = 5
    runs: Path = Path("runs/experiments")  # finished runs here are reused
    results: Path = Path("results")
    models: tuple[str, ...] = MODELS
    changes: tuple[str, ...] = ()  # settings of every run, e.g. training.epochs=10; they win
    threads: int = field(default_factory=lambda: max((os.cpu_count() or 2) - 1, 1))
    progress: Callable[[str], None] = lambda what: None

    def __post_init__(self) -> None:
        possible = 1 <= self.seeds <= 100
        require(possible, f"The number of seeds must be from 1 to 100, not {self.seeds}.")

    def run(self, preset: str, seed: int, changes: Sequence[str] = (), tag: str = "") -> Run:
        """The finished run of a preset and seed: existing, resumed or new.

        It is trained in a separate process, so that its peak memory can be measured.
        """
        directory = self.runs / f"{preset}{tag}-{seed}"
        changes = (*changes, *self.changes)
        arguments = ["--preset", preset, "--seed", str(seed), *_options(changes)]
        if (directory / CONFIG).exists():
            run = open_run(directory)
            same = run.config == presets.preset(preset, changes, seed=seed)
            require(same, f"'{run.name}' was trained with other settings; choose another --runs.")
            if run.state == "finished":
                return run
            arguments = ["--resume"]
        self.progress(f"training {directory.name}")
        command = [sys.executable, "-m", "fgpvae", "train", "--json", "--run-dir", str(directory)]
        environment = os.environ | {"OMP_NUM_THREADS": str(self.threads)}
        done = subprocess.run(
            command + arguments, env=environment, capture_output=True, text=True, check=False
        )
        reason = done.stderr.strip()[-300:]
        require(done.returncode == 0, f"Training {directory.name} failed: {reason}")
        return open_run(directory)

    def trained(
        self, preset: str, changes: Sequence[str] = (), tag: str = ""
    ) -> tuple[list[Run], list[Model]]:
        """The finished run of each seed, and their models."""
        runs = [self.run(preset, seed, changes, tag) for seed in range(self.seeds)]
        self.progress(f"evaluating {preset}{tag}")
        return runs, [load_model(run.path / WEIGHTS) for run in runs]

    def variants(
        self, preset: str, variants: Mapping[str, Sequence[str]], shipped: str
    ) -> Iterator[tuple[str, Sequence[Run], Sequence[Model]]]:
        """The runs and models of a preset with the changes of each variant, then a shipped model.

        Only the requested variants, all by default.
        """
        names = tuple(variants) if self.models == MODELS else self.models
        known = ", ".join(variants)
        for name in names:
            what = f"'{name}' is none of the models of this experiment: {known}."
            require(name in variants, what)
        for name in names:
            tag = "" if name == preset else f"-{name}"
            yield name, *self.trained(preset, variants[name], tag)
        self.progress(f"evaluating {shipped}")
        yield shipped, (), (load_pretrained(shipped),)

    def provenance(self, name: str) -> dict[str, Any]:
        """The command, date, machine and versions behind a result."""
        git = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
        try:
            found = subprocess.run(git, capture_output=True, text=True, check=False).stdout
        except OSError:
            found = ""
        command = ["python", "-m", "fgpvae", "experiment", name, "--seeds", str(self.seeds)]
        if self.models != MODELS:
            command += ["--models", ",".join(self.models)]
        return {
            "experiment": name,
            "command": shlex.join(command + _options(self.changes)),
            "seeds": self.seeds,
            "changes": list(self.changes),
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "commit": found.strip() or "-",  # not in a checkout
            "machine": f"{os.cpu_count()} cores, {psutil.virtual_memory().total >> 30} GiB, "
            f"{platform.system()} {platform.machine()}",
            "training_threads": self.threads,
            "versions": {"python": platform.python_version()} | {p: version(p) for p in PACKAGES},
        }


def _options(changes: Sequence[str]) -> list[str]:
    return [word for change in changes for word in ("--set", change)]


def title(model: Model) -> str:
    """The title of a row: the model, and how it differs from the paper's."""
    dense = ["dense networks"] if model.config.network.kind == "dense" else []
    angle = ["encoder given the angle"] if getattr(model.encoder, "takes_angle", False) else []
    return ", ".join([model.title, *dense, *angle])


def spread(values: Sequence[Any]) -> dict[str, Any]:
    """Mean and standard deviation over seeds, and the values; of each figure if these are dicts."""
    if values and isinstance(values[0], Mapping):
        return {name: spread([each[name] for each in values]) for name in values[0]}
    known = [value for value in values if value is not None]
    sd = stdev(known) if len(known) > 1 else None
    return {"mean": mean(known) if known else None, "sd": sd, "values": known}


def seconds_an_epoch(run: Run) -> float:
    """The fastest epoch of the last third, which is the joint phase of a joint GP."""
    seconds = [line["seconds"] for line in run.metrics()]
    last = seconds[-len(seconds) // 3 - 1 :]
    return min((b - a for a, b in pairwise(last)), default=seconds[0])
