"""Digits never trained on, from one to fifteen views; and digits drawn from the prior."""

import io
from collections.abc import Sequence
from typing import Any

import torch

from fgpvae import data, files, presets
from fgpvae.errors import UserError
from fgpvae.evaluation import task_mse
from fgpvae.experiments import report
from fgpvae.experiments.common import MODELS, Experiment, by_preset, gather, spread, title
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
    kept = by_preset(experiment.earlier("extrapolation"), "curves")

    def curve(preset: str) -> dict[str, Any]:
        trained = [experiment.model(preset, seed) for seed in range(experiment.seeds)]
        last = trained[-1]
        if "local" in last.blocks:
            picture = io.BytesIO()
            strip(prior_samples(last).numpy()).save(picture, "PNG")
            files.write(experiment.results / f"prior-{preset}.png", picture.getvalue())
        return {
            "preset": preset,
            "model": title(last),
            "mse": errors_by_views(trained),
            **experiment.origin(),
        }

    curves = gather(MODELS, able, kept, experiment.seeds, curve)
    return experiment.provenance("extrapolation") | {"curves": curves}


def errors_by_views(models: Sequence[Model]) -> dict[str, dict[str, Any]]:
    """MSE at 157.5 degrees, over the seeds of a model, by the number of views given."""
    errors = {}
    for views in VIEWS:
        task = data.extrapolation(views=views)
        errors[str(views)] = spread([task_mse(model, task) for model in models])
    return errors


@torch.no_grad()
def prior_samples(model: Model, count: int = 16, seed: int = 0) -> torch.Tensor:
    """New digits: the style from its prior, the local channels from theirs, all upright."""
    generator = torch.Generator().manual_seed(seed)
    nothing = torch.zeros(count, 1, dtype=torch.bool)
    views = torch.zeros(count, 1, *model.config.network.shape[1:])
    posterior = model.infer(views, torch.zeros(count, 1), nothing)
    z = posterior.sample(torch.zeros(count, 1, dtype=torch.float64), generator)
    return model.decode(z)[:, 0]
