"""Cube figures never trained on, from one to eight views, by all models that take new figures."""

from pathlib import Path
from typing import Any

from fgpvae import evaluation
from fgpvae.experiments.common import Experiment, seconds_an_epoch, spread, spreads
from fgpvae.runs import checkpoints
from fgpvae.training.configs import RunConfig
from fgpvae.training.presets import PRESETS

PRESET = "cubes-quick"
SHIPPED = "cubes"
# the same networks, figures and steps for all; a GP-VAE with a free vector for each training figure
# cannot be asked for others
VARIANTS: dict[str, tuple[str, ...]] = {
    PRESET: (),
    "cvae": ("model.name=cvae", "training.context_dropout=0"),
    "gpvae-amortised": ("model.name=gpvae-amortised", "training.context_dropout=0"),
}


def objects(experiment: Experiment) -> dict[str, Any]:
    """MSE at all other angles against the number of views, and without a model."""
    curves = []
    for name, runs, models in experiment.variants(PRESET, VARIANTS, SHIPPED):
        found = [evaluation.evaluate_cubes(model) for model in models]
        config = runs[0].config if runs else checkpoints.shipped_config(SHIPPED)
        curve = {
            "preset": name,
            "model": models[0].title,
            "epochs": _epochs(config),
            "parameters": found[0]["parameters"],
            "mse": spreads([each["mse_by_views"] for each in found]),
            "oblique_view_mse": spread([each["oblique_view_mse"] for each in found]),
        }
        if runs:
            curve["seconds_an_epoch"] = spread([seconds_an_epoch(run) for run in runs])
        curves.append(curve)
    return experiment.provenance("objects") | {
        "curves": curves,
        "references": evaluation.cube_references(),
        "figures": len(evaluation.unseen_figures()),
    }


def _epochs(config: RunConfig) -> int:
    """The epochs of a run and of the runs that it continued."""
    start = config.training.start
    before = _epochs(PRESETS[Path(start).name]) if start else 0
    return before + config.training.epochs
