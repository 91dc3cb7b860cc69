"""Digits never trained on, from one to fifteen views; and digits drawn from the prior."""

import io
from typing import Any

import torch

from fgpvae import data, files, presets
from fgpvae.errors import UserError
from fgpvae.evaluation import task_mse
from fgpvae.experiments import report
from fgpvae.experiments.common import Experiment, spread
from fgpvae.images import strip
from fgpvae.models import Model

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
    report.prepare(experiment.results)
    tasks = {views: data.extrapolation(views=views) for views in VIEWS}
    curves = []
    for preset in able:
        errors: dict[int, list[float]] = {views: [] for views in VIEWS}
        for seed in range(experiment.seeds):
            model = experiment.model(preset, seed)
            for views, task in tasks.items():
                errors[views].append(task_mse(model, task))
        curves.append(
            {"preset": preset, "model": model.title}
            | {"mse": {str(views): spread(values) for views, values in errors.items()}}
        )
        if "local" in model.blocks:
            picture = io.BytesIO()
            strip(prior_samples(model).numpy()).save(picture, "PNG")
            files.write(experiment.results / f"prior-{preset}.png", picture.getvalue())
    return experiment.provenance("extrapolation") | {"curves": curves}


@torch.no_grad()
def prior_samples(model: Model, count: int = 16, seed: int = 0) -> torch.Tensor:
    """New digits: the style from its prior, the local channels from theirs, all upright."""
    generator = torch.Generator().manual_seed(seed)
    nothing = torch.zeros(count, 1, dtype=torch.bool)
    views = torch.zeros(count, 1, *model.config.network.shape[1:])
    posterior = model.infer(views, torch.zeros(count, 1), nothing)
    z = posterior.sample(torch.zeros(count, 1, dtype=torch.float64), generator)
    return model.decode(z)[:, 0]
