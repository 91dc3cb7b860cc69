"""Figures of cubes never trained on, from one to eight views, by each model that can be asked."""

from pathlib import Path
from typing import Any

from fgpvae import evaluation
from fgpvae.experiments.common import Experiment, seconds_an_epoch, spread
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
    """MSE at all other angles against the number of views; what needs no model beside it."""
    curves = []
    for name in experiment.choose(VARIANTS):
        found, seconds = [], []
        for seed in range(experiment.seeds):
            tag = "" if name == PRESET else f"-{name}"
            run = experiment.run(PRESET, seed, VARIANTS[name], tag)
            experiment.progress(f"evaluating {run.name}")
            model = checkpoints.load_model(run.path / checkpoints.WEIGHTS)
            found.append(evaluation.evaluate_cubes(model))
            seconds.append(seconds_an_epoch(run))
        epochs = run.config.training.epochs
        curves.append(
            _curve(name, model.title, epochs, found) | {"seconds_an_epoch": spread(seconds)}
        )
    if SHIPPED in checkpoints.pretrained_names():
        model, config = checkpoints.load_pretrained(SHIPPED), checkpoints.shipped_config(SHIPPED)
        experiment.progress(f"evaluating {SHIPPED}")
        found = [evaluation.evaluate_cubes(model)]
        curves.append(_curve(SHIPPED, model.title, _epochs(config), found))
    return experiment.provenance("objects") | {
        "curves": curves,
        "references": evaluation.cube_references(),
        "figures": len(evaluation.unseen_figures()),
    }


def _epochs(config: RunConfig) -> int:
    """The epochs of a run and of the runs that it went on from."""
    start = config.training.start
    before = _epochs(PRESETS[Path(start).name]) if start else 0
    return before + config.training.epochs


def _curve(name: str, title: str, epochs: int, found: list[dict[str, Any]]) -> dict[str, Any]:
    views = found[0]["mse_by_views"]
    return {
        "preset": name,
        "model": title,
        "epochs": epochs,
        "parameters": found[0]["parameters"],
        "mse": {n: spread([each["mse_by_views"][n] for each in found]) for n in views},
        "oblique_view_mse": spread([each["oblique_view_mse"] for each in found]),
    }
