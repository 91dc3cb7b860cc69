"""Model cards: what a factorized model does well and badly, measured on digits it never saw."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fgpvae import data, metrics
from fgpvae.data import ANGLES, HELD_OUT, Digits, Task
from fgpvae.evaluation import predictions
from fgpvae.models import FGPVAE
from fgpvae.training import RunConfig

CONTEXTS = (1, 2, 4, 8, 11, 15)
BANDS = (1, 4, 11)  # numbers of views for which the bands are checked
SAMPLES = 64
GRID = 720  # angles at which an orientation is scored
STEEP = 1e-3  # a pixel of a band that has next to no width is background, and no test of it


def measure(model: FGPVAE, classes: tuple[int, ...], noise: float) -> dict[str, Any]:
    """Figures by class and by number of views, orientation and calibration, on `data.unseen()`."""
    digits = data.unseen(classes)
    one = data.task(digits, ANGLES[:1], ANGLES[1:])
    eleven = data.task(digits, data.draw_angles(len(digits)), ANGLES[[HELD_OUT]])
    return {
        "digits": len(digits),
        "one_view_mse": _by_class(model, one),
        "eleven_views_mse": _by_class(model, eleven),
        "mse_by_views": {
            views: float(_errors(model, _views_task(digits, views)).mean()) for views in CONTEXTS
        },
        "orientation": orientation(model, digits),
        "coverage": {views: calibration(model, digits, views, noise) for views in BANDS},
        "mean_image_mse": _mean_image_mse(digits),
    }


def about(model: FGPVAE, config: RunConfig) -> dict[str, str]:
    """What the model is and how it was trained."""
    data_, training = config.data, config.training
    source = "the MNIST training file" if data_.source != "embedded" else "the embedded digits"
    angles = (
        "angles drawn anew all around the circle"
        if data_.split == "continuous"
        else (f"the *{data_.split}* split of the benchmark, without 157.5°")
    )
    extra = f" --set data.source={data_.source}" if data_.source != "embedded" else ""
    weights = sum(p.numel() for p in model.parameters())
    return {
        "model": f"{model.title}, L = {model.config.latents}, J = {model.config.local}, "
        f"{model.config.network.kind} networks, {weights:,} parameters",
        "data": f"{source}, classes {', '.join(map(str, data_.classes))}, {angles}",
        "training": f"{training.epochs} epochs, seed {config.seed}: `python -m fgpvae train "
        f"--preset {config.preset} --seed {config.seed}{extra} --run-dir runs/{config.preset}`",
    }


def orientation(model: FGPVAE, digits: Digits, seed: int = 0) -> dict[str, dict[str, float]]:
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
def predictive_samples(model: FGPVAE, task: Task, count: int, seed: int = 0) -> Tensor:
    """Joint posterior samples of the images of a task: [count, P, S, H, W]."""
    generator = torch.Generator().manual_seed(seed)
    context = task.context
    posterior = model.infer(context.images, context.angles, context.observed)
    return torch.stack([model.decode(posterior.sample(task.at, generator)) for _ in range(count)])


def calibration(
    model: FGPVAE, digits: Digits, views: int, noise: float, count: int = SAMPLES
) -> dict[str, float]:
    """Share of true pixels inside the central 50 % and 90 % bands, at 157.5 degrees.

    `latent` bands come from posterior samples alone; `predictive` ones add the pixel noise that the
    model was trained with. Only pixels where digits have ink are counted: where the sampled images
    do not vary there is nothing to be right or wrong about.
    """
    task = _views_task(digits, views)
    drawn = predictive_samples(model, task, count)
    mean, sd = drawn.mean(0), drawn.std(0)
    inked = (task.targets.abs() > 0.05) | (sd > 0.02)
    truth, centre, spread = (x[inked].numpy() for x in (task.targets, mean, sd))
    latent = metrics.coverage(truth, centre, np.maximum(spread, STEEP))
    predictive = metrics.coverage(truth, centre, np.sqrt(spread**2 + noise))
    return {f"latent_{k}": v for k, v in latent.items()} | {
        f"predictive_{k}": v for k, v in predictive.items()
    }


def _views_task(digits: Digits, views: int) -> Task:
    """157.5 degrees from some of the other fifteen angles; a single view is the upright one."""
    angles = ANGLES[:1] if views == 1 else data.draw_angles(len(digits), views)
    return data.task(digits, angles, ANGLES[[HELD_OUT]])


def _errors(model: FGPVAE, task: Task) -> np.ndarray:
    """MSE of each digit [P]."""
    images, truth = zip(*predictions(model, task), strict=True)
    each = metrics.mse_per_image(torch.cat(images).numpy(), torch.cat(truth).numpy())
    return each.mean(-1)


def _by_class(model: FGPVAE, task: Task) -> dict[str, float]:
    errors, labels = _errors(model, task), task.context.labels.numpy()
    by_class = {str(label): float(errors[labels == label].mean()) for label in np.unique(labels)}
    return {"all": float(errors.mean())} | by_class


def _mean_image_mse(digits: Digits) -> float:
    """The mean image of the right class and angle, over these very digits: it cheats."""
    turned = data.rotate(digits.images, ANGLES[1:])
    labels = np.asarray(digits.labels)
    guess = np.empty_like(turned)
    for label in np.unique(labels):
        guess[labels == label] = turned[labels == label].mean(0)
    return metrics.mse(guess, turned)


def weaknesses(measured: dict[str, Any]) -> str:
    """What the figures say the model does worst."""
    classes = [c for c in measured["one_view_mse"] if c != "all"]
    worst = sorted(classes, key=lambda c: -measured["one_view_mse"][c])[:3]
    lost = sorted(classes, key=lambda c: measured["orientation"][c]["within_15_degrees"])[:3]
    band = measured["coverage"][1]["latent_coverage_90"]
    return (
        f"one view of a {', '.join(worst)} (largest error); the angle of a {', '.join(lost)} "
        "(symmetric, or like another digit upside down); judging itself: its 90 % band from one "
        f"view, without pixel noise, holds {100 * band:.0f} % of the truth; thin strokes, which it "
        "blurs; anything that is not a digit, which it turns into one."
    )


def markdown(name: str, about: dict[str, Any], measured: dict[str, Any]) -> str:
    """The card as a page of documentation."""
    classes = [c for c in measured["one_view_mse"] if c != "all"]
    lines = [f"# Model card: {name}", ""]
    lines += [f"- **{key}**: {value}" for key, value in about.items()]
    lines += [
        "",
        f"All figures: `python -m fgpvae card {name}`, on {measured['digits']} digits of the MNIST "
        "test file, none of them ever trained on.",
        "",
        "| class | one view, other 15 angles | eleven views, 157.5° | "
        "orientation: median error | within 15° |",
        "|---|---|---|---|---|",
    ]
    for c in ["all", *classes]:
        turn = measured["orientation"][c]
        lines.append(
            f"| {c} | {measured['one_view_mse'][c]:.4f} | {measured['eleven_views_mse'][c]:.4f} | "
            f"{turn['median_error_degrees']:.1f}° | {100 * turn['within_15_degrees']:.0f} % |"
        )
    lines += [
        "",
        f"The mean image of the right class and angle, which cheats, scores "
        f"{measured['mean_image_mse']:.4f} over the other 15 angles.",
        "",
        "| context views | MSE at 157.5° |",
        "|---|---|",
    ]
    lines += [f"| {n} | {value:.4f} |" for n, value in measured["mse_by_views"].items()]
    lines += ["", "Bad at: " + weaknesses(measured)]
    lines += [
        "",
        "Share of true pixels with ink inside the model's bands (posterior samples alone; with the "
        "pixel noise it was trained with):",
        "",
        "| context views | 50 % band | 90 % band | 50 % with noise | 90 % with noise |",
        "|---|---|---|---|---|",
    ]
    for n, share in measured["coverage"].items():
        cells = [
            share[f"{kind}_coverage_{b}"] for kind in ("latent", "predictive") for b in (50, 90)
        ]
        lines.append(f"| {n} | " + " | ".join(f"{100 * c:.0f} %" for c in cells) + " |")
    return "\n".join(lines) + "\n"
