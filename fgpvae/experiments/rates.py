"""Which learning rate and schedule: chosen on views kept back of training digits, never on tests.

One view of each of 90 training digits, none of them a test digit, is not trained on and is found
from the digit's other views. So every model is chosen in the same way, also one that knows no
digits but its own.
"""

from collections.abc import Sequence
from statistics import mean
from typing import Any

from fgpvae.experiments.common import Experiment, spread

CANDIDATES = (("constant", 0.001), ("cosine", 0.003), ("cosine", 0.006))
KEPT_BACK = 90  # digits


def rates(experiment: Experiment) -> dict[str, Any]:
    """The choice for presets as they are, with every seed."""
    rows = []
    for preset in experiment.models:
        seeds = range(experiment.seeds)
        rows.append({"preset": preset} | choose(experiment, preset, preset, (), seeds))
    return experiment.provenance("rates") | {"digits": KEPT_BACK, "rows": rows}


def choose(
    experiment: Experiment, name: str, preset: str, changes: Sequence[str], seeds: Sequence[int]
) -> dict[str, Any]:
    """Every candidate with its errors on the views kept back, and the one with the lowest mean."""
    tried: list[dict[str, Any]] = []
    for schedule, rate in CANDIDATES:
        errors = []
        for seed in seeds:
            settings = [
                *changes,
                f"data.validation={KEPT_BACK}",
                "data.keep_back=views",
                "training.keep=last",
                *rate_changes(schedule, rate),
            ]
            run = experiment.run(preset, seed, settings, tag=f"-{name}-{schedule}-{rate:g}")
            errors.append(run.metrics()[-1]["validation_mse"])
        tried.append({"schedule": schedule, "rate": rate, "validation_mse": spread(errors)})
    best = min(tried, key=lambda each: mean(each["validation_mse"]["values"]))
    return {"tried": tried, "schedule": best["schedule"], "rate": best["rate"]}


def rate_changes(schedule: str, rate: float) -> list[str]:
    return [f"training.schedule={schedule}", f"training.learning_rate={rate:g}"]
