"""Films of digits never trained on, from one to eight frames, by each model that can be asked."""

from typing import Any

from fgpvae.evaluation.film_scores import film_scores
from fgpvae.experiments.common import Experiment, cpu_seconds, spread
from fgpvae.runs import checkpoints
from fgpvae.training.presets import PRESETS

SHIPPED, QUICK = "films", "films-quick"
LATENTS = PRESETS[QUICK].model.latents
_PLAIN = ("model.period=4", "training.context_dropout=0")
# the same films, steps and sizes of networks for all. The CVAE's channels are a look and the time:
# none is left to say where the thing is, so its networks are dense ones without the shift
VARIANTS: dict[str, tuple[str, tuple[str, ...]]] = {
    QUICK: ("FGP-VAE", ()),
    "all-local": ("all channels GP (Pearce)", (f"model.local={LATENTS}",)),
    "none-local": ("all channels global", ("model.local=0",)),
    "vae": ("VAE", ("model.name=vae", *_PLAIN)),
    "cvae": (
        "CVAE given the time",
        ("model.name=cvae", "model.network.moving=false", *_PLAIN),
    ),
}
FIGURES = ("path_error", "spread", "coverage")


def films(experiment: Experiment) -> dict[str, Any]:
    """Errors at the frames not given; beside them what learns nothing, and the shipped model."""
    rows = []
    for name in experiment.choose(VARIANTS):
        title, changes = VARIANTS[name]
        found, seconds = [], []
        for seed in range(experiment.seeds):
            tag = "" if name == QUICK else f"-{name}"
            run = experiment.run(QUICK, seed, changes, tag)
            experiment.progress(f"evaluating {run.name}")
            found.append(film_scores(checkpoints.load_model(run.path / checkpoints.WEIGHTS)))
            seconds.append(cpu_seconds(run))
        rows.append(_row(name, title, found) | {"cpu_seconds": spread(seconds)})
    if SHIPPED in checkpoints.pretrained_names():
        experiment.progress(f"evaluating {SHIPPED}")
        found = [film_scores(checkpoints.load_pretrained(SHIPPED))]
        rows.append(_row(SHIPPED, "FGP-VAE, shipped", found))
    return experiment.provenance("films") | {
        "rows": rows,
        "references": found[0]["references"],
        "films": found[0]["films"],
    }


def _row(name: str, title: str, found: list[dict[str, Any]]) -> dict[str, Any]:
    row: dict[str, Any] = {
        "preset": name,
        "model": title,
        "seeds": len(found),
        "parameters": found[0]["parameters"],
        "mse": {
            given: {kind: spread([each["mse"][given][kind] for each in found]) for kind in kinds}
            for given, kinds in found[0]["mse"].items()
        },
    }
    for figure in FIGURES:
        if figure in found[0]:
            row[figure] = {
                given: spread([each[figure][given] for each in found]) for given in found[0][figure]
            }
    if "swap" in found[0]:
        row["swap"] = {
            given: spread([each["swap"][given]["ratio"] for each in found])
            for given in found[0]["swap"]
        }
    if "length_scale" in found[0]:
        row["length_scale"] = spread([each["length_scale"] for each in found])
    return row
