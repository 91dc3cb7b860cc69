"""Table 1 of the paper: error, complexity and time of every model, in two blocks.

As published: each model with its own settings. Equal: the same images, epochs and averaging, with
rate and schedule chosen in the same way (`rates`).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fgpvae import data, references
from fgpvae.checkpoints import load_model
from fgpvae.evaluation import evaluate
from fgpvae.experiments.common import (
    MODELS,
    Experiment,
    commit,
    cpu_seconds,
    seconds_an_epoch,
    spread,
    title,
    today,
)
from fgpvae.experiments.rates import choose, rate_changes

FIGURES = ("test_mse", "test_mse_sampled", "extrapolation_mse", "one_view_mse")

PUBLISHED = {
    "cvae-published": {"mse": 0.0796, "sd": 0.0023, "seconds_an_epoch": 0.39},
    "gpvae": {"mse": 0.0370, "sd": 0.0012, "seconds_an_epoch": 19.10},
    "paper": {"mse": 0.0284, "sd": 0.0004, "seconds_an_epoch": 1.41, "extrapolation": 0.0316},
}


@dataclass(frozen=True)
class Entry:
    """A row of the equal block: a preset with changes."""

    name: str
    preset: str
    changes: tuple[str, ...] = ()


EPOCHS = 200
AVERAGE = 0.995
EQUAL = (
    Entry("paper", "paper"),
    Entry("gpvae", "gpvae"),
    Entry("svgpvae", "svgpvae"),
    Entry("dense", "quick", ("model.network.harmonics=0",)),
    Entry("told", "quick"),
    Entry("deep-svgp", "deep-svgp"),
    Entry("cvae", "cvae"),
    Entry("gpvae-amortised", "gpvae-amortised"),
    Entry("svgpvae-amortised", "svgpvae-amortised"),
    Entry("vae", "vae"),
)
SAME = (
    "data.split=shuffled",
    "data.validation=0",
    "data.warp=0",
    f"training.epochs={EPOCHS}",
    f"training.average={AVERAGE}",
    f"training.validate_every={EPOCHS}",
    "training.keep=last",
)
CHOICE_SEEDS, CHOICE_EPOCHS = (0,), 50  # of the runs that rate and schedule are chosen by


def table1(experiment: Experiment) -> dict[str, Any]:
    """Mean and standard deviation over seeds of every figure of the benchmark."""
    kept = kept_rows(experiment) if experiment.reuse else {}
    equal = [_equal_row(experiment, entry) for entry in EQUAL if _asked(experiment, entry)]
    rows = [
        kept.get(preset) or _row(experiment, preset, preset, ()) for preset in experiment.models
    ]
    return experiment.provenance("table1") | {
        "rows": rows,
        "equal": {"epochs": EPOCHS, "choice_epochs": CHOICE_EPOCHS, "rows": equal},
        "trivial": trivial(),
    }


def kept_rows(experiment: Experiment) -> dict[str, dict[str, Any]]:
    """Rows of the block as published that are in the results, with enough seeds, by preset."""
    path = experiment.results / "table1.json"
    if not path.exists():
        return {}
    old = json.loads(path.read_text())
    origin = {"date": old["date"], "commit": old.get("commit", "-"), "cpu_seconds": None}
    return {
        row["preset"]: origin | row
        for row in old["rows"]
        if len(row["test_mse"]["values"]) >= experiment.seeds
    }


def _asked(experiment: Experiment, entry: Entry) -> bool:
    return experiment.models == MODELS or entry.preset in experiment.models


def _equal_row(experiment: Experiment, entry: Entry) -> dict[str, Any]:
    changes = (*SAME, *entry.changes)
    short = (*changes, f"training.epochs={CHOICE_EPOCHS}")
    choice = choose(experiment, f"{entry.name}-equal", entry.preset, short, CHOICE_SEEDS)
    changes = (*changes, *rate_changes(choice["schedule"], choice["rate"]))
    return _row(experiment, entry.name, entry.preset, changes, "-equal") | {"choice": choice}


def _row(
    experiment: Experiment, name: str, preset: str, changes: Sequence[str], tag: str = ""
) -> dict[str, Any]:
    figures: dict[str, list[float | None]] = {figure: [] for figure in FIGURES}
    seconds, processor, memory = [], [], []
    for seed in range(experiment.seeds):
        run = experiment.run(preset, seed, changes, f"-{name}{tag}" if tag else "")
        experiment.progress(f"evaluating {run.name}")
        model = load_model(run.path / "model.safetensors")
        result = evaluate(model, run.config.data, seed)
        for figure in FIGURES:
            figures[figure].append(result.get(figure))
        seconds.append(seconds_an_epoch(run))
        processor.append(cpu_seconds(run))
        memory.append(run.metrics()[-1].get("memory_mb"))
    return {
        "preset": name,
        "model": title(model),
        "epochs": run.config.training.epochs,
        "complexity": model.complexity,
        "parameters": result["parameters"],
        "seconds_an_epoch": spread(seconds),
        "cpu_seconds": spread(processor),
        "peak_memory_mb": spread(memory),
        "published": PUBLISHED.get(preset) if not tag else None,
        "date": today(),
        "commit": commit(),
    } | {figure: spread(values) for figure, values in figures.items()}


def trivial() -> dict[str, float]:
    """What needs no model, on the 270 test images of the factorized split."""
    upright = data.embedded().images
    return references.trivial_predictors(
        upright, np.arange(data.TRAIN_DIGITS), np.arange(data.TEST_DIGITS)
    )
