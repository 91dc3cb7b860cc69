"""Disentanglement: angle and digit, predicted from local and from global channels."""

from typing import Any

import torch

from fgpvae import data
from fgpvae.data import ANGLES, Views
from fgpvae.evaluation import latents, metrics
from fgpvae.evaluation.disentanglement import disentanglement_scores
from fgpvae.experiments.common import Experiment, spreads, title
from fgpvae.models import Model


def disentanglement(experiment: Experiment) -> dict[str, Any]:
    """Measure disentanglement and the swap error on the 40 unseen digits."""
    digits, rows = data.embedded()[data.TRAIN_DIGITS :], []  # those never trained on
    views = data.task(digits, ANGLES, ANGLES[:1]).context
    for preset in experiment.models:
        _, models = experiment.trained(preset)
        experiment.progress(f"looking into {preset}")
        figures = spreads([model_scores(each, views, seed) for seed, each in enumerate(models)])
        rows.append({"preset": preset, "model": title(models[-1])} | figures)
    return experiment.provenance("disentanglement") | {"digits": len(views), "rows": rows}


def model_scores(model: Model, views: Views, seed: int = 0) -> dict[str, float | None]:
    """All scores of one model on some views."""
    z = latents.encodings(model, views)[0]  # [P, Q, L] of single views
    j = model.blocks.get("local", slice(0, 0)).stop  # without local channels all are global
    scores = disentanglement_scores(z[..., :j], z[..., j:], views.angles.numpy(), seed=seed)
    swap = swap_error(model, views) if "local" in model.blocks else None
    return scores | {"swap_error": swap}


@torch.no_grad()
def swap_error(model: Model, views: Views) -> float:
    """MSE of the style of one digit at the angles of another, against the truth.

    The local channels are digit B's, the global ones digit A's; the truth is A at those angles.
    With perfect disentanglement it is the error of plain reconstruction.
    """
    z = model.infer(views.images, views.angles, views.observed, views.ids).mean(views.angles)
    styles = list(model.styles)
    z[..., styles] = z[..., styles].roll(1, 0)
    images = model.decode(z)
    return metrics.mse(images.numpy(), views.images.roll(1, 0).numpy())
