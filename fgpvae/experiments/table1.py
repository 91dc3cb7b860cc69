"""Table 1 of the paper: error, complexity and time of every model, in two blocks.

As published: each model with its own settings. Equal budgets: the same images, epochs and
averaging; rate and schedule chosen in the same way.
"""

from typing import Any

import numpy as np

from fgpvae import data
from fgpvae.evaluation.baselines import trivial_predictors
from fgpvae.evaluation.comparison import TABLE
from fgpvae.evaluation.protocol import evaluate
from fgpvae.experiments.common import (
    MODELS,
    Entry,
    Experiment,
    cpu_seconds,
    seconds_an_epoch,
    spread,
    title,
)
from fgpvae.experiments.extrapolation import errors_by_views
from fgpvae.experiments.rates import choose, rate_changes
from fgpvae.models import Model
from fgpvae.runs import Run

# order of the block as published: the models of all experiments, and the deep SVGP
ORDER = (*MODELS[: MODELS.index("paper")], "deep-svgp", *MODELS[MODELS.index("paper") :])

PUBLISHED = {
    "cvae-published": {"mse": 0.0796, "sd": 0.0023, "seconds_an_epoch": 0.39},
    "gpvae": {"mse": 0.0370, "sd": 0.0012, "seconds_an_epoch": 19.10},
    "paper": {"mse": 0.0284, "sd": 0.0004, "seconds_an_epoch": 1.41, "extrapolation": 0.0316},
}

EPOCHS = 100  # epochs of the equal block
ALONE = "-equal"  # suffix of a model that is requested in the equal block only
CHOICE_SEEDS = (0,)  # seeds of the runs that choose rate and schedule
SAME = (
    "data.split=shuffled",
    "data.validation=0",
    "data.warp=0",
    "training.average=0.995",
    "training.keep=last",
)
BASELINES = (
    "vae",
    "cvae",
    "gpvae",
    "gpvae-amortised",
    "svgpvae",
    "svgpvae-amortised",
    "deep-svgp",
    "paper",
)
EQUAL = (
    *(Entry(name, name) for name in BASELINES),
    Entry("dense", "quick", ("model.network.harmonics=0",)),
    Entry("angle-given", "quick"),
)


def table1(experiment: Experiment) -> dict[str, Any]:
    """Mean and standard deviation over seeds of all scores of the benchmark."""
    asked = experiment.models
    alone = [f"{entry.name}{ALONE}" for entry in EQUAL]
    own = ORDER if asked == MODELS else [name for name in asked if name not in alone]
    rows = []
    for preset in own:
        row = _row(experiment, preset, *experiment.trained(preset))
        rows.append(row | {"published": PUBLISHED.get(preset)})
    equal = [
        _equal_row(experiment, entry)
        for entry, name in zip(EQUAL, alone, strict=True)
        if asked == MODELS or name in asked or (entry.preset in asked and not entry.changes)
    ]
    return experiment.provenance("table1") | {
        "rows": rows,
        "equal": {"epochs": EPOCHS, "rows": equal},
        "trivial": trivial_predictors(
            data.embedded().images, np.arange(data.TRAIN_DIGITS), np.arange(data.TEST_DIGITS)
        ),
    }


def _equal_row(experiment: Experiment, entry: Entry) -> dict[str, Any]:
    """A model with the equal budget, and the rate and schedule that are best on held-out views."""
    same = (*SAME, *entry.changes, f"training.epochs={EPOCHS}")
    tag = f"{entry.name}{ALONE}"
    changes = (*same, f"training.validate_every={EPOCHS}")
    choice = choose(experiment, tag, entry.preset, changes, CHOICE_SEEDS)
    best = (*same, *rate_changes(choice["schedule"], choice["rate"]))
    runs, models = experiment.trained(entry.preset, best, f"-{tag}")
    return _row(experiment, entry.name, runs, models) | {"published": None, "choice": choice}


def _row(experiment: Experiment, name: str, runs: list[Run], models: list[Model]) -> dict[str, Any]:
    results = []
    for run, model in zip(runs, models, strict=True):
        experiment.progress(f"evaluating {run.name}")
        results.append(evaluate(model, run.config.data, run.config.seed))
    return {
        "preset": name,
        "model": title(model),
        "epochs": run.config.training.epochs,
        "complexity": model.complexity,
        "parameters": results[0]["parameters"],
        "seconds_an_epoch": spread([seconds_an_epoch(run) for run in runs]),
        "cpu_seconds": spread([cpu_seconds(run) for run in runs]),
        "peak_memory_mb": spread([run.metrics()[-1].get("memory_mb") for run in runs]),
        "mse_by_views": errors_by_views(models) if model.takes_new_digits else {},
    } | {figure: spread([result[figure] for result in results]) for figure in TABLE}
