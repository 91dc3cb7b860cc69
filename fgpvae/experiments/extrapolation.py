"""Digits never trained on, from one to fifteen views."""

from collections.abc import Sequence
from typing import Any

from fgpvae import data
from fgpvae.errors import UserError
from fgpvae.evaluation.protocol import task_mse
from fgpvae.experiments.common import Experiment, spread, title
from fgpvae.models import Model
from fgpvae.training import presets

VIEWS = (1, 2, 4, 8, 11, 15)


def extrapolation(experiment: Experiment) -> dict[str, Any]:
    """MSE of the 40 unseen digits at 157.5 degrees against the number of context views."""
    able = [
        preset
        for preset in experiment.models
        if presets.preset(preset, experiment.changes).kind.takes_new_digits
    ]
    if not able:
        raise UserError("None of these models takes new digits.")
    curves = []
    for preset in able:
        _, models = experiment.trained(preset)
        errors = errors_by_views(models)
        curves.append({"preset": preset, "model": title(models[0]), "mse": errors})
    return experiment.provenance("extrapolation") | {"curves": curves}


def errors_by_views(models: Sequence[Model]) -> dict[str, dict[str, Any]]:
    """MSE at 157.5 degrees, over the seeds of a model, by the number of views given."""
    tasks = {str(views): data.extrapolation(views=views) for views in VIEWS}
    return {n: spread([task_mse(model, task) for model in models]) for n, task in tasks.items()}
