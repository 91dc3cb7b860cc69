"""Model cards: what a model does well and badly, measured on digits it never saw where it can."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fgpvae import data, evaluation, metrics
from fgpvae.configs import RunConfig
from fgpvae.data import ANGLES, Digits, Task
from fgpvae.evaluation import one_view_task, score, views_task
from fgpvae.models import Model
from fgpvae.references import mean_image

CONTEXTS = (1, 2, 4, 8, 11, 15)
BANDS = (1, 4, 11)  # numbers of views for which the bands are checked
SAMPLES = 64
GRID = 720  # angles at which an orientation is scored
STEEP = 1e-3  # a pixel of a band that has next to no width is background, and no test of it


def measure(model: Model, config: RunConfig) -> dict[str, Any]:
    """Every figure that the model can be asked for.

    At the benchmark's held-out angle where there is one; on `data.unseen()` errors by class and by
    number of views; orientation and calibration of a factorized model.
    """
    measured: dict[str, Any] = {}
    if config.data.split != "continuous":
        tasks = evaluation.protocol(config.data, config.seed, new_digits=False)
        measured["test_mse"] = score(model, tasks)["test_mse"].mse
    if not model.takes_new_digits:
        return measured
    digits = data.unseen(config.data.classes)
    one = score(model, {1: one_view_task(digits)})[1]
    by_views = score(model, {views: views_task(digits, views) for views in CONTEXTS})
    measured |= {
        "digits": len(digits),
        "one_view_mse": {"all": one.mse} | one.by_class,
        "eleven_views_mse": {"all": by_views[11].mse} | by_views[11].by_class,
        "mse_by_views": {views: each.mse for views, each in by_views.items()},
        "mean_image_mse": _mean_image_mse(digits),
    }
    if model.tells_angle:
        measured["orientation"] = orientation(model, digits)
    if model.tells_certainty:
        # GECO aims at an error and knows no variance of a pixel
        variance = config.objective.pixel_variance if config.objective.name == "elbo" else None
        measured["coverage"] = {
            views: calibration(model, digits, views, variance) for views in BANDS
        }
    return measured


def about(model: Model, config: RunConfig) -> dict[str, str]:
    """What the model is and how it was trained."""
    data_, training = config.data, config.training
    source = "the MNIST training file" if data_.source != "embedded" else "the embedded digits"
    angles = (
        "angles drawn anew all around the circle"
        if data_.split == "continuous"
        else (f"the *{data_.split}* split of the benchmark, without 157.5°")
    )
    extra = ""
    if data_.source == "openml":
        extra = " --set data.source=openml"
    elif data_.source != "embedded":  # a directory, wherever the reader keeps it
        extra = f" --data DIR --set data.views={data_.views}"
    weights = sum(p.numel() for p in model.parameters())
    channels = f"L = {model.config.latents}"
    if "local" in model.blocks:
        channels += f", J = {model.config.local}"
    return {
        "model": f"{model.title}, {channels}, {model.config.network.kind} networks, "
        f"{weights:,} parameters",
        "data": f"{source}, classes {', '.join(map(str, data_.classes))}, {angles}",
        "training": f"{training.epochs} epochs, seed {config.seed}: `python -m fgpvae train "
        f"--preset {config.preset} --seed {config.seed}{extra} --run-dir runs/{config.preset}`",
    }


def orientation(model: Model, digits: Digits, seed: int = 0) -> dict[str, dict[str, float]]:
    """Error of the inferred angle of unseen digits, each turned by an angle of its own."""
    generator = torch.Generator().manual_seed(seed)
    true = 2 * math.pi * torch.rand(len(digits), 1, dtype=torch.float64, generator=generator)
    images = torch.from_numpy(data.rotate(digits.images, true.numpy()))[:, 0]
    grid = torch.arange(GRID, dtype=torch.float64) * (2 * math.pi / GRID)
    estimated = grid[model.orientation(images, grid).argmax(-1)].numpy()
    angles, labels = true[:, 0].numpy(), np.asarray(digits.labels)
    scores = {"all": metrics.orientation_scores(estimated, angles)}
    for label in sorted(set(labels.tolist())):
        mine = labels == label
        scores[str(label)] = metrics.orientation_scores(estimated[mine], angles[mine])
    return scores


@torch.no_grad()
def predictive_samples(model: Model, task: Task, count: int, seed: int = 0) -> Tensor:
    """Joint posterior samples of the images of a task: [count, P, S, H, W]."""
    generator = torch.Generator().manual_seed(seed)
    context = task.context
    posterior = model.infer(context.images, context.angles, context.observed)
    return torch.stack([model.decode(posterior.sample(task.at, generator)) for _ in range(count)])


def calibration(
    model: Model, digits: Digits, views: int, variance: float | None, count: int = SAMPLES
) -> dict[str, float]:
    """Share of true pixels inside the central 50 % and 90 % bands, at 157.5 degrees.

    `latent` bands come from posterior samples alone; `predictive` ones add the variance of a pixel
    that the model was trained with, if it was. Only pixels where digits have ink are counted: where
    the sampled images do not vary there is nothing to be right or wrong about.
    """
    task = views_task(digits, views)
    drawn = predictive_samples(model, task, count)
    mean, each_sd = drawn.mean(0), drawn.std(0)
    inked = (task.targets.abs() > 0.05) | (each_sd > 0.02)
    truth, centre, sd = (x[inked].numpy() for x in (task.targets, mean, each_sd))
    latent = metrics.coverage(truth, centre, np.maximum(sd, STEEP))
    shares = {f"latent_{k}": v for k, v in latent.items()}
    if variance is not None:
        predictive = metrics.coverage(truth, centre, np.sqrt(sd**2 + variance))
        shares |= {f"predictive_{k}": v for k, v in predictive.items()}
    return shares


def _mean_image_mse(digits: Digits) -> float:
    """The mean image of the right class and angle, over these very digits: it cheats."""
    turned, labels = data.rotate(digits.images, ANGLES[1:]), np.asarray(digits.labels)
    guess = np.empty_like(turned)
    for label in np.unique(labels):
        guess[labels == label] = mean_image(digits.images[labels == label], ANGLES[1:])
    return metrics.mse(guess, turned)


def weaknesses(measured: dict[str, Any]) -> list[str]:
    """What the figures say the model does worst."""
    if "one_view_mse" not in measured:
        return ["any digit that it was not trained on, which it cannot take"]
    lacks = []
    classes = _classes(measured)
    if len(classes) > 1:
        worst = sorted(classes, key=lambda c: -measured["one_view_mse"][c])[:3]
        lacks.append(f"one view of a {', '.join(worst)} (largest error)")
    else:
        lacks.append(f"every digit but a {classes[0]}, the only one that it has ever seen")
    if measured["one_view_mse"]["all"] > measured["mean_image_mse"]:
        lacks.append("one view, from which it is worse than the mean image")
    if measured["eleven_views_mse"]["all"] > measured["mean_image_mse"]:
        lacks.append("a new angle even with eleven views, where the mean image is better")
    if "orientation" not in measured:
        lacks.append("the angle of a picture, which has to be given")
    elif len(classes) > 1:
        turns = measured["orientation"]
        lost = sorted(classes, key=lambda c: turns[c]["within_15_degrees"])[:3]
        lacks.append(
            f"the angle of a {', '.join(lost)} (symmetric, or like another digit upside down)"
        )
    if "coverage" in measured:
        band = measured["coverage"][1]["latent_coverage_90"]
        lacks.append(
            "judging itself: its 90 % band from one view, without pixel noise, holds "
            f"{100 * band:.0f} % of the truth"
        )
    return [
        *lacks,
        "thin strokes, which it blurs",
        "anything that is not a digit, which it turns into one",
    ]


def markdown(name: str, about: dict[str, Any], measured: dict[str, Any]) -> str:
    """The card as a page of documentation."""
    lines = [f"# Model card: {name}", ""]
    lines += [f"- **{key}**: {value}" for key, value in about.items()]
    lines += ["", f"All figures: `python -m fgpvae card {name}`."]
    if "test_mse" in measured:
        figure = f"MSE {measured['test_mse']:.4f}"
        lines += ["", f"Training digits at 157.5°, an angle never trained on: {figure}."]
    if "one_view_mse" in measured:
        lines += ["", *_unseen(measured)]
    lines += ["", "Bad at: " + "; ".join(weaknesses(measured)) + "."]
    if "coverage" in measured:
        lines += ["", *_bands(measured["coverage"])]
    return "\n".join(lines) + "\n"


def _classes(measured: dict[str, Any]) -> list[str]:
    return [c for c in measured["one_view_mse"] if c != "all"]


def _unseen(measured: dict[str, Any]) -> list[str]:
    """Errors, and errors of the angle, on digits that were never trained on."""
    classes, turns = _classes(measured), measured.get("orientation")
    heads = ["class", "one view, other 15 angles", "eleven views, 157.5°"]
    heads += ["orientation: median error", "within 15°"] if turns else []
    lines = [
        f"On {measured['digits']} digits of the MNIST test file, none of them ever trained on:",
        "",
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
    ]
    for c in ["all", *classes] if len(classes) > 1 else classes:
        cells = [c, f"{measured['one_view_mse'][c]:.4f}", f"{measured['eleven_views_mse'][c]:.4f}"]
        if turns:
            turn = turns[c]
            cells.append(f"{turn['median_error_degrees']:.1f}°")
            cells.append(f"{100 * turn['within_15_degrees']:.0f} %")
        lines.append(f"| {' | '.join(cells)} |")
    lines += [
        "",
        f"The mean image of the right class and angle, which cheats, scores "
        f"{measured['mean_image_mse']:.4f} over the other 15 angles.",
        "",
        "| context views | MSE at 157.5° |",
        "|---|---|",
    ]
    return lines + [f"| {n} | {value:.4f} |" for n, value in measured["mse_by_views"].items()]


def _bands(coverage: dict[int, dict[str, float]]) -> list[str]:
    kinds = {"latent": ""}
    origin = "posterior samples alone"
    if "predictive_coverage_50" in coverage[BANDS[0]]:
        kinds["predictive"] = " with noise"
        origin += "; with the pixel noise it was trained with"
    columns = [(kind, b) for kind in kinds for b in (50, 90)]
    heads = ["context views"]
    heads += [f"{b} %{kinds[kind] or ' band'}" for kind, b in columns]
    lines = [
        f"Share of true pixels with ink inside the model's bands ({origin}):",
        "",
        f"| {' | '.join(heads)} |",
        "|" + "---|" * len(heads),
    ]
    for n, share in coverage.items():
        cells = [f"{100 * share[f'{kind}_coverage_{b}']:.0f} %" for kind, b in columns]
        lines.append(f"| {n} | {' | '.join(cells)} |")
    return lines
