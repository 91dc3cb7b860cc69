"""Films of digits never trained on, from one to eight frames, by all models of films."""

from collections.abc import Mapping
from typing import Any

from fgpvae.evaluation.film_scores import film_scores
from fgpvae.experiments.common import Experiment, cpu_seconds, spread, spreads
from fgpvae.training.presets import PRESETS

SHIPPED, QUICK = "films", "films-quick"
LATENTS = PRESETS[QUICK].model.latents
_PLAIN = ("model.period=4", "training.context_dropout=0")
# The same films, steps and sizes of networks for all. The CVAE has a look and the time, but no
# channel for the place, so its networks are dense ones without the shift
VARIANTS = {
    QUICK: (),
    "all-local": (f"model.local={LATENTS}",),
    "none-local": ("model.local=0",),
    "vae": ("model.name=vae", *_PLAIN),
    "cvae": ("model.name=cvae", "model.network.moving=false", *_PLAIN),
}
TITLES = {
    QUICK: "FGP-VAE",
    "all-local": "all channels GP (Pearce)",
    "none-local": "all channels global",
    "vae": "VAE",
    "cvae": "CVAE given the time",
    SHIPPED: "FGP-VAE, shipped",
}
FIGURES = ("mse", "path_error", "spread", "coverage", "swap", "length_scale")


def films(experiment: Experiment) -> dict[str, Any]:
    """Errors at the frames not given, of trained models, the shipped one, and without a model."""
    rows = []
    for name, runs, models in experiment.variants(QUICK, VARIANTS, SHIPPED):
        found = [film_scores(model) for model in models]
        row = {"preset": name, "model": TITLES[name], "seeds": len(found)}
        row |= {"parameters": found[0]["parameters"]} | spreads([_figures(each) for each in found])
        if runs:
            row["cpu_seconds"] = spread([cpu_seconds(run) for run in runs])
        rows.append(row)
    return experiment.provenance("films") | {
        "rows": rows,
        "references": found[0]["references"],
        "films": found[0]["films"],
    }


def _figures(scores: Mapping[str, Any]) -> dict[str, Any]:
    """The scores in a row; for swaps the ratio of errors."""
    figures = {name: scores[name] for name in FIGURES if name in scores}
    if "swap" in figures:
        figures["swap"] = {given: each["ratio"] for given, each in figures["swap"].items()}
    return figures
