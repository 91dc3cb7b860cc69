"""Cube figures and films never trained on, from one to eight views, by models of each kind."""

from pathlib import Path
from typing import Any

from fgpvae.evaluation import protocol
from fgpvae.evaluation.film_scores import film_scores
from fgpvae.experiments.common import Experiment, seconds_an_epoch, spread
from fgpvae.runs import checkpoints
from fgpvae.training.configs import RunConfig
from fgpvae.training.presets import PRESETS

# The same networks, figures and steps for all; a GP-VAE with a free vector for each training figure
# cannot be asked for others
CUBES: dict[str, tuple[str, ...]] = {
    "cubes-quick": (),
    "cvae": ("model.name=cvae", "training.context_dropout=0"),
    "gpvae-amortised": ("model.name=gpvae-amortised", "training.context_dropout=0"),
}
# The same films, steps and sizes of networks for all. The CVAE has a look and the time, but no
# channel for the place, so its networks are dense ones without the shift
_PLAIN = ("model.period=4", "training.context_dropout=0")
_ALL = f"model.local={PRESETS['films-quick'].model.latents}"
FILMS: dict[str, tuple[str, tuple[str, ...]]] = {  # title and changes
    "films-quick": ("FGP-VAE", ()),
    "all-local": ("all channels GP (Pearce)", (_ALL,)),
    "none-local": ("all channels global", ("model.local=0",)),
    "vae": ("VAE", ("model.name=vae", *_PLAIN)),
    "cvae": ("CVAE given the time", ("model.name=cvae", "model.network.moving=false", *_PLAIN)),
}
SCORES = ("mse", "path_error", "spread", "coverage", "swap", "length_scale")


def objects(experiment: Experiment) -> dict[str, Any]:
    """MSE of cube figures at all other angles against the number of views, and without a model."""
    curves = []
    for name, runs, models in experiment.variants("cubes-quick", CUBES, "cubes"):
        found = [protocol.evaluate_cubes(model) for model in models]
        config = runs[0].config if runs else checkpoints.shipped_config(name)
        curve = {"preset": name, "model": models[0].title, "epochs": _epochs(config)}
        curve["parameters"] = found[0]["parameters"]
        curve["mse"] = spread([each["mse_by_views"] for each in found])
        curve["oblique_view_mse"] = spread([each["oblique_view_mse"] for each in found])
        if runs:
            curve["seconds_an_epoch"] = spread([seconds_an_epoch(run) for run in runs])
        curves.append(curve)
    return experiment.provenance("objects") | {
        "curves": curves,
        "references": protocol.cube_references(),
        "figures": len(protocol.unseen_figures()),
    }


def _epochs(config: RunConfig) -> int:
    """The epochs of a run and of the runs that it continued."""
    start = config.training.start
    return config.training.epochs + (_epochs(PRESETS[Path(start).name]) if start else 0)


def films(experiment: Experiment) -> dict[str, Any]:
    """Errors at the frames not given, of trained models, the shipped one, and without a model."""
    rows, variants = [], {name: changes for name, (_, changes) in FILMS.items()}
    for name, runs, models in experiment.variants("films-quick", variants, "films"):
        found = [film_scores(model) for model in models]
        figures = [{key: each[key] for key in SCORES if key in each} for each in found]
        for each in figures:
            if "swap" in each:  # the ratio of errors
                each["swap"] = {given: errors["ratio"] for given, errors in each["swap"].items()}
        title = FILMS[name][0] if runs else "FGP-VAE, shipped"
        row = {"preset": name, "model": title, "seeds": len(found)}
        row |= {"parameters": found[0]["parameters"]} | spread(figures)
        if runs:
            row["cpu_seconds"] = spread([run.metrics()[-1].get("cpu_seconds") for run in runs])
        rows.append(row)
    return experiment.provenance("films") | {
        "rows": rows,
        "references": found[0]["references"],
        "films": found[0]["films"],
    }
