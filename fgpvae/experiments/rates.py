"""Choice of learning rate and schedule, on held-out views of training digits, never on test images.

One view of each of 90 training digits, none of them a test digit, is held out and predicted from
the digit's other views. So the choice is the same for every model, also for those that take no new
digits.
"""

import math
from collections.abc import Sequence
from statistics import mean, stdev
from typing import Any

from fgpvae.experiments.common import Experiment, spread

# the lowest first
CANDIDATES = (("constant", 0.001), ("cosine", 0.003), ("cosine", 0.006))
KEPT_BACK = 90  # digits
FAR_BEHIND = 1.03  # maximum ratio to the lowest error; the spread over seeds is half of that


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
    """All candidates with their errors on the held-out views, and the chosen one.

    Candidates that are far behind with the first seed are not trained with the others.
    """
    errors: dict[tuple[str, float], list[float]] = {candidate: [] for candidate in CANDIDATES}
    racing = list(CANDIDATES)
    for seed in seeds:
        for schedule, rate in racing:
            settings = [
                *changes,
                f"data.validation={KEPT_BACK}",
                "data.keep_back=views",
                "training.keep=last",
                *rate_changes(schedule, rate),
            ]
            run = experiment.run(preset, seed, settings, tag=f"-{name}-{schedule}-{rate:g}")
            errors[schedule, rate].append(run.metrics()[-1]["validation_mse"])
        least = min(errors[each][0] for each in racing)
        racing = [each for each in racing if errors[each][0] <= FAR_BEHIND * least]
    chosen = _lowest_within_one_standard_error({each: errors[each] for each in racing})
    tried = [
        {"schedule": schedule, "rate": rate, "validation_mse": spread(found)}
        for (schedule, rate), found in errors.items()
    ]
    return {"tried": tried, "schedule": chosen[0], "rate": chosen[1]}


def _lowest_within_one_standard_error(
    errors: dict[tuple[str, float], list[float]],
) -> tuple[str, float]:
    """The first candidate within one standard error of the best."""
    best = min(errors.values(), key=mean)
    limit = mean(best) + (stdev(best) / math.sqrt(len(best)) if len(best) > 1 else 0.0)
    return next(candidate for candidate, found in errors.items() if mean(found) <= limit)


def rate_changes(schedule: str, rate: float) -> list[str]:
    return [f"training.schedule={schedule}", f"training.learning_rate={rate:g}"]
