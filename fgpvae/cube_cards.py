"""The card of a model of figures of cubes, measured on shapes that no model was trained on."""

import math
from typing import Any

from fgpvae import calibration, evaluation
from fgpvae.cards import bands, coverage
from fgpvae.data import cubes
from fgpvae.models import Model

MODEST = 0.7  # samples that differ by less than this share of the error hide a doubt

REFERENCES = {
    "mean_image": "the mean image of the angle",
    "same_view": "the one view itself, not turned",
    "nearest_figure": "the training figure most like it from there",
    "neighbouring_view": "the true view 15° before",
}


def measure(model: Model) -> dict[str, Any]:
    """Errors by number of views, references, and whether the bands hold."""
    measured = evaluation.evaluate_cubes(model)
    if model.tells_certainty:
        images = evaluation.unseen_figures(model.config.network.shape[1])
        images = images[:: calibration.FIGURES_EACH]
        measured["coverage"] = {
            n: coverage(model, calibration.cube_residuals(model, images, n), n) for n in cubes.GIVEN
        }
    return measured


def markdown(name: str, about: dict[str, str], measured: dict[str, Any]) -> str:
    """The card as a page of documentation."""
    by_views, sampled = measured["mse_by_views"], measured["mse_by_views_sampled"]
    spread = measured["spread_by_views"]
    known = measured["references"]
    lines = [
        f"# Model card: {name}",
        "",
        *(f"- **{key}**: {value}" for key, value in about.items()),
        "",
        f"All figures: `python -m fgpvae card {name}`.",
        "",
        f"On {measured['figures']} figures, all copies of 36 shapes of which none was trained on, "
        "turned or in a mirror. Mean squared error of a pixel at all other angles of 24, from "
        "views at equal distances, the first at 0°; and the standard deviation of a pixel over "
        "samples:",
        "",
        "| context views | posterior mean | posterior samples | samples differ by |",
        "|---|---|---|---|",
        *(f"| {n} | {by_views[n]:.4f} | {sampled[n]:.4f} | {spread[n]:.3f} |" for n in by_views),
        "",
        f"One view at 30°, from where more is seen: {measured['oblique_view_mse']:.4f}.",
        "",
        "| without a model, from the view at 0° | |",
        "|---|---|",
        *(f"| {said} | {known[name]:.4f} |" for name, said in REFERENCES.items()),
    ]
    if "coverage" in measured:
        on = " on figures of the 20 validation shapes"
        lines += ["", *bands(measured["coverage"], "of a figure", on)]
    lines += ["", "Bad at: " + "; ".join(weaknesses(measured)) + "."]
    return "\n".join(lines) + "\n"


def weaknesses(measured: dict[str, Any]) -> list[str]:
    """What the figures say, and what follows from what it was shown."""
    lacks = []
    if measured["one_view_mse"] > measured["references"]["nearest_figure"]:
        lacks.append("one view, from which the most similar training figure is nearer to the truth")
    for given, error in measured["mse_by_views"].items():
        if error > measured["references"]["neighbouring_view"]:
            views = "one view" if given == "1" else f"{given} views"
            lacks.append(f"{views}, from which it is worse than the true view 15° before")
    spread, error = measured["spread_by_views"]["1"], math.sqrt(measured["one_view_mse"])
    if spread < MODEST * error:
        lacks.append(
            f"doubt: from one view its samples differ by {spread:.2f} a pixel, where it errs by "
            f"{error:.2f}"
        )
    return [
        *lacks,
        "what no view shows, which it blurs",
        "more than ten cubes, other elevations and other light, which it has never seen",
        "the angle of a view, which has to be given",
    ]
