"""Table 1 of the paper: error, complexity and time of every model, in two blocks.

As published: each model with its own settings. Equal budgets: the same images, epochs and
averaging; learning rate and schedule chosen in the same way, on held-out views of training digits,
never on test images. One view of each of 90 training digits, none of them a test digit, is held out
and predicted from the digit's other views. So the choice is the same for every model, also for
those that take no new digits.
"""

import math
from collections.abc import Sequence
from statistics import mean, stdev
from typing import Any

import numpy as np

from fgpvae import data
from fgpvae.evaluation.baselines import trivial_predictors
from fgpvae.evaluation.comparison import TABLE
from fgpvae.evaluation.protocol import evaluate
from fgpvae.experiments.common import MODELS, Experiment, seconds_an_epoch, spread, title
from fgpvae.experiments.digits import errors_by_views
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
SAME = "data.split=shuffled data.validation=0 data.warp=0 training.average=0.995 training.keep=last"
# the models of the equal block as they are; then others, by name with preset and changes
PLAIN = "vae cvae gpvae gpvae-amortised svgpvae svgpvae-amortised deep-svgp paper"
EQUAL: dict[str, tuple[str, tuple[str, ...]]] = {
    **{name: (name, ()) for name in PLAIN.split()},
    "dense": ("quick", ("model.network.harmonics=0",)),
    "angle-given": ("quick", ()),
}
# schedules and rates to choose from, the lowest first
CANDIDATES = (("constant", 0.001), ("cosine", 0.003), ("cosine", 0.006))
KEPT_BACK = 90  # digits
FAR_BEHIND = 1.03  # maximum ratio to the lowest error; the spread over seeds is half of that


def table1(experiment: Experiment) -> dict[str, Any]:
    """Mean and standard deviation over seeds of all scores of the benchmark."""
    asked, rows, equal = experiment.models, [], []
    alone = {name + ALONE for name in EQUAL}
    for preset in ORDER if asked == MODELS else asked:
        if preset not in alone:
            row = _row(experiment, preset, *experiment.trained(preset))
            rows.append(row | {"published": PUBLISHED.get(preset)})
    for name, (preset, changes) in EQUAL.items():
        tag = f"{name}{ALONE}"
        if asked == MODELS or tag in asked or (preset in asked and not changes):
            same = (*SAME.split(), *changes, f"training.epochs={EPOCHS}")
            last = f"training.validate_every={EPOCHS}"
            choice = choose(experiment, tag, preset, (*same, last), 1)
            best = (*same, *_rate_changes(choice["schedule"], choice["rate"]))
            row = _row(experiment, name, *experiment.trained(preset, best, f"-{tag}"))
            equal.append(row | {"published": None, "choice": choice})
    return experiment.provenance("table1") | {
        "rows": rows,
        "equal": {"epochs": EPOCHS, "rows": equal},
        "trivial": trivial_predictors(
            data.embedded().images, np.arange(data.TRAIN_DIGITS), np.arange(data.splits.TEST_DIGITS)
        ),
    }


def _row(experiment: Experiment, name: str, runs: list[Run], models: list[Model]) -> dict[str, Any]:
    results = []
    for run, model in zip(runs, models, strict=True):
        experiment.progress(f"evaluating {run.name}")
        results.append(evaluate(model, run.config.data, run.config.seed))
    last = [run.metrics()[-1] for run in runs]
    return {
        "preset": name,
        "model": title(model),
        "epochs": run.config.training.epochs,
        "complexity": model.complexity,
        "parameters": results[0]["parameters"],
        "seconds_an_epoch": spread([seconds_an_epoch(run) for run in runs]),
        "cpu_seconds": spread([line.get("cpu_seconds") for line in last]),
        "peak_memory_mb": spread([line.get("memory_mb") for line in last]),
        "mse_by_views": errors_by_views(models) if model.takes_new_digits else {},
    } | {figure: spread([result[figure] for result in results]) for figure in TABLE}


def rates(experiment: Experiment) -> dict[str, Any]:
    """The choice for presets as they are, with every seed."""
    rows = [
        {"preset": preset} | choose(experiment, preset, preset, (), experiment.seeds)
        for preset in experiment.models
    ]
    return experiment.provenance("rates") | {"digits": KEPT_BACK, "rows": rows}


def choose(
    experiment: Experiment, name: str, preset: str, changes: Sequence[str], seeds: int
) -> dict[str, Any]:
    """All candidates with their errors on the held-out views, and the chosen one.

    Candidates that are far behind with the first seed are not trained with the others. The choice
    is the first one within one standard error of the best.
    """
    errors: dict[tuple[str, float], list[float]] = {candidate: [] for candidate in CANDIDATES}
    held_out = (f"data.validation={KEPT_BACK}", "data.keep_back=views", "training.keep=last")
    racing = list(CANDIDATES)
    for seed in range(seeds):
        for schedule, rate in racing:
            settings = (*changes, *held_out, *_rate_changes(schedule, rate))
            run = experiment.run(preset, seed, settings, tag=f"-{name}-{schedule}-{rate:g}")
            errors[schedule, rate].append(run.metrics()[-1]["validation_mse"])
        least = min(errors[each][0] for each in racing)
        racing = [each for each in racing if errors[each][0] <= FAR_BEHIND * least]
    best = min((errors[each] for each in racing), key=mean)
    limit = mean(best) + (stdev(best) / math.sqrt(len(best)) if len(best) > 1 else 0.0)
    schedule, rate = next(each for each in racing if mean(errors[each]) <= limit)
    tried = [
        {"schedule": schedule, "rate": rate, "validation_mse": spread(found)}
        for (schedule, rate), found in errors.items()
    ]
    return {"tried": tried, "schedule": schedule, "rate": rate}


def _rate_changes(schedule: str, rate: float) -> tuple[str, ...]:
    return f"training.schedule={schedule}", f"training.learning_rate={rate:g}"
