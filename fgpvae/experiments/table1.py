"""Table 1 of the paper: error, complexity and time of every model."""

from typing import Any

import numpy as np

from fgpvae import data, references
from fgpvae.checkpoints import load_model
from fgpvae.evaluation import evaluate
from fgpvae.experiments.common import Experiment, seconds_an_epoch, spread

FIGURES = ("test_mse", "test_mse_sampled", "extrapolation_mse", "one_view_mse")

PUBLISHED = {
    "cvae-published": {"mse": 0.0796, "sd": 0.0023, "seconds_an_epoch": 0.39},
    "gpvae": {"mse": 0.0370, "sd": 0.0012, "seconds_an_epoch": 19.10},
    "paper": {"mse": 0.0284, "sd": 0.0004, "seconds_an_epoch": 1.41, "extrapolation": 0.0316},
}


def table1(experiment: Experiment) -> dict[str, Any]:
    """Mean and standard deviation over seeds of every figure of the benchmark."""
    rows = []
    for preset in experiment.models:
        figures: dict[str, list[float | None]] = {name: [] for name in FIGURES}
        seconds, memory = [], []
        for seed in range(experiment.seeds):
            run = experiment.run(preset, seed)
            experiment.progress(f"evaluating {run.name}")
            model = load_model(run.path / "model.safetensors")
            result = evaluate(model, run.config.data, seed)
            for name in FIGURES:
                figures[name].append(result.get(name))
            seconds.append(seconds_an_epoch(run))
            memory.append(run.metrics()[-1].get("memory_mb"))
        rows.append(
            {
                "preset": preset,
                "model": model.title,
                "epochs": run.config.training.epochs,
                "complexity": model.complexity,
                "parameters": result["parameters"],
                "seconds_an_epoch": spread(seconds),
                "peak_memory_mb": spread(memory),
                "published": PUBLISHED.get(preset),
            }
            | {name: spread(values) for name, values in figures.items()}
        )
    return experiment.provenance("table1") | {"rows": rows, "trivial": trivial()}


def trivial() -> dict[str, float]:
    """What needs no model, on the 270 test images of the factorized split."""
    upright = data.embedded().images
    return references.trivial_predictors(
        upright, np.arange(data.TRAIN_DIGITS), np.arange(data.TEST_DIGITS)
    )
