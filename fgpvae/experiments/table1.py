"""Table 1 of the paper: error, complexity and time of every model, in two blocks.

As published: each model with its own settings. Equal: all on the terms of `equal`.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fgpvae import data, references
from fgpvae.checkpoints import load_model
from fgpvae.evaluation import evaluate
from fgpvae.experiments import equal
from fgpvae.experiments.common import (
    MODELS,
    Experiment,
    by_preset,
    cpu_seconds,
    gather,
    seconds_an_epoch,
    spread,
    title,
)
from fgpvae.experiments.extrapolation import errors_by_views
from fgpvae.runs import Run

# as published, in this order: the models of every experiment, and a strong one without an encoder
ORDER = (*MODELS[: MODELS.index("paper")], "deep-svgp", *MODELS[MODELS.index("paper") :])
FIGURES = ("test_mse", "test_mse_sampled", "extrapolation_mse", "one_view_mse")

PUBLISHED = {
    "cvae-published": {"mse": 0.0796, "sd": 0.0023, "seconds_an_epoch": 0.39},
    "gpvae": {"mse": 0.0370, "sd": 0.0012, "seconds_an_epoch": 19.10},
    "paper": {"mse": 0.0284, "sd": 0.0004, "seconds_an_epoch": 1.41, "extrapolation": 0.0316},
}


def table1(experiment: Experiment) -> dict[str, Any]:
    """Mean and standard deviation over seeds of every figure of the benchmark."""
    old = experiment.earlier("table1")
    fitting = old if old.get("equal", {}).get("epochs") == equal.EPOCHS else {}

    def equal_row(name: str) -> dict[str, Any]:
        entry = equal.ENTRIES[name]
        choice = equal.choice(experiment, entry)
        runs = [equal.run(experiment, entry, choice, seed) for seed in range(experiment.seeds)]
        return _row(experiment, name, runs) | {"published": None, "choice": choice}

    def row(preset: str) -> dict[str, Any]:
        runs = [experiment.run(preset, seed) for seed in range(experiment.seeds)]
        return _row(experiment, preset, runs) | {"published": PUBLISHED.get(preset)}

    equal_rows = gather(
        list(equal.ENTRIES),
        equal.asked(experiment),
        by_preset(fitting, "equal", "rows"),
        experiment.seeds,
        equal_row,
    )
    own = ORDER if experiment.models == MODELS else equal.asked_as_published(experiment)
    rows = gather(ORDER, own, by_preset(old, "rows"), experiment.seeds, row)
    return experiment.provenance("table1") | {
        "rows": rows,
        "equal": {"epochs": equal.EPOCHS, "rows": equal_rows},
        "trivial": trivial(),
    }


def _row(experiment: Experiment, name: str, runs: Sequence[Run]) -> dict[str, Any]:
    figures: dict[str, list[float | None]] = {figure: [] for figure in FIGURES}
    models = [load_model(run.path / "model.safetensors") for run in runs]
    seconds, processor, memory = [], [], []
    for run, model in zip(runs, models, strict=True):
        experiment.progress(f"evaluating {run.name}")
        result = evaluate(model, run.config.data, run.config.seed)
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
        "mse_by_views": errors_by_views(models) if model.takes_new_digits else {},
        **experiment.origin(),
    } | {figure: spread(values) for figure, values in figures.items()}


def trivial() -> dict[str, float]:
    """What needs no model, on the 270 test images of the factorized split."""
    upright = data.embedded().images
    return references.trivial_predictors(
        upright, np.arange(data.TRAIN_DIGITS), np.arange(data.TEST_DIGITS)
    )
