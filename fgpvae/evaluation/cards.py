"""Measure a model for its card, on new digits if it takes them."""

import math
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fgpvae import data, evaluation
from fgpvae.data import ANGLES, Digits, Task, cubes
from fgpvae.data.objects import EXTRAPOLATION, ONE_VIEW, TEST
from fgpvae.evaluation import calibration, metrics
from fgpvae.evaluation.baselines import class_means
from fgpvae.evaluation.disentanglement import disentanglement_scores
from fgpvae.evaluation.protocol import digit_references, one_view_task, task_mse, views_task
from fgpvae.models import Model
from fgpvae.orientation import one_view
from fgpvae.training.configs import CUBES, FILMS, DataConfig, RunConfig

CONTEXTS = (1, 2, 4, 8, 11, 15)
DISENTANGLED = 100  # digits on which disentanglement is measured
BANDS = (1, 4, 11)  # numbers of views for which the bands are checked
GRID = 720  # angles at which the orientation is scored
PICTURES = 125  # digits that are read as uploaded pictures, which is slow


def measure(model: Model, config: RunConfig, others: Digits | None = None) -> dict[str, Any]:
    """All scores that the model supports.

    `others` are further digits of the MNIST test file, which are used nowhere else.
    """
    measured: dict[str, Any] = {}
    tasks: dict[str, Task] = {}
    if config.data.split != "continuous":
        tasks = evaluation.benchmark_tasks(config.data, config.seed, new_digits=False)
        measured[TEST] = task_mse(model, tasks[TEST])
    compared = dict(measured)
    if model.takes_new_digits:
        digits = data.unseen(config.data.classes)
        measured |= _measure_unseen(model, digits, others)
        tasks |= {EXTRAPOLATION: views_task(digits), ONE_VIEW: one_view_task(digits)}
        compared[EXTRAPOLATION] = measured["eleven_views_mse"]["all"]
        compared |= {ONE_VIEW: measured["one_view_mse"]["all"], "gp_share": measured["gp_share"]}
    compared["references"] = digit_references(tasks, config.data.classes)
    return measured | {"verdict": evaluation.verdict(compared)}


def _measure_unseen(model: Model, digits: Digits, others: Digits | None) -> dict[str, Any]:
    task = one_view_task(digits)
    # the mean image of the right class and angle, from the test digits themselves
    mean = class_means(digits, task.context.labels, task.at)
    by_views = {views: views_task(digits, views) for views in CONTEXTS}
    measured: dict[str, Any] = {
        "digits": len(digits),
        "one_view_mse": _by_class(model, task),
        "eleven_views_mse": _by_class(model, by_views[11]),
        "mse_by_views": {views: task_mse(model, each) for views, each in by_views.items()},
        "mean_image_mse": metrics.mse(mean.numpy(), task.targets.numpy()),
        "gp_share": evaluation.gp_share(model, by_views[11].context),
    }
    if others is not None:
        measured["others"] = {
            "digits": len(others),
            "one": task_mse(model, one_view_task(others)),
            "eleven": task_mse(model, views_task(others)),
        }
    if model.tells_angle:
        measured["orientation"] = orientation(model, digits)
        some = calibration.some(digits, PICTURES)
        measured["orientation_pictures"] = picture_orientation(model, some)
    if model.divides_channels:
        measured["disentanglement"] = disentanglement(model, digits)
    if model.tells_certainty:
        measured["coverage"] = {
            n: calibration.coverage(model, calibration.residuals(model, views_task(digits, n)), n)
            for n in BANDS
        }
        measured["doubt"] = calibration.doubt(model, calibration.doubted(digits), BANDS)
    return measured


def _by_class(model: Model, task: Task) -> dict[str, float]:
    """The error on all digits, and on those of each class."""
    labels = task.context.labels
    classes = labels.unique().tolist()
    of_class = {str(each): task_mse(model, task[labels == each]) for each in classes}
    return {"all": task_mse(model, task)} | of_class


def measure_cubes(model: Model) -> dict[str, Any]:
    """Errors by number of views, references, and whether the bands hold."""
    measured = evaluation.evaluate_cubes(model)
    if model.tells_certainty:
        images = evaluation.unseen_figures(model.config.network.shape[1])
        images = images[:: calibration.FIGURES_EACH]
        measured["coverage"] = {
            n: calibration.coverage(model, calibration.cube_residuals(model, images, n), n)
            for n in cubes.GIVEN
        }
        views = cubes.task(images, cubes.ANGLES).context
        measured["doubt"] = calibration.doubt(model, views, cubes.GIVEN)
    return measured


def about(model: Model, config: RunConfig) -> dict[str, str]:
    """Describe the model and its training."""
    training, weights = config.training, sum(p.numel() for p in model.parameters())
    channels = f"L = {model.config.latents}"
    if "local" in model.blocks:
        channels += f", J = {model.config.local}"
    first = f" from the weights of `{training.start}`" if training.start else ""
    return {
        "model": f"{model.title}, {channels}, {model.config.network.kind} networks, "
        f"{weights:,} parameters",
        "data": _data(config.data),
        "training": f"{training.epochs} epochs{first}, seed {config.seed}: `python -m fgpvae train "
        f"--preset {config.preset} --seed {config.seed}{_source(config.data)} "
        f"--run-dir runs/{config.preset}`",
    }


def _data(config: DataConfig) -> str:
    """Describe the training data."""
    if config.split == CUBES:
        return (
            "figures of cubes: all copies of 160 shapes of ten cubes in four arms, "
            f"and {config.figures:,} other figures of 2 to 10 cubes"
        )
    source = "the MNIST training file" if config.source != "embedded" else "the embedded digits"
    angles = {
        "continuous": "angles drawn anew all around the circle",
        FILMS: "one film in ten of a shape instead, on paths and at times drawn anew",
    }.get(config.split, f"the *{config.split}* split of the benchmark, without 157.5°")
    return f"{source}, classes {', '.join(map(str, config.classes))}, {angles}"


def _source(config: DataConfig) -> str:
    """Options that give the command the same digits."""
    if config.source == "embedded" or config.split == CUBES:
        return ""
    if config.source == "openml":
        return " --set data.source=openml"
    if config.split == FILMS:
        return " --set data.source=DIR"
    return f" --data DIR --set data.views={config.views}"  # a directory on the reader's machine


def orientation(model: Model, digits: Digits) -> dict[str, dict[str, Any]]:
    """Error of the inferred angle of unseen digits, each rotated by its own angle."""
    images, true = calibration.turned(digits, seed=0)
    grid = torch.arange(GRID, dtype=torch.float64) * (2 * math.pi / GRID)
    belief = model.orientation(images, grid)  # [P, G]
    scores: dict[str, dict[str, Any]] = {"all": _angle_errors(belief, grid, true)}
    if model.calibration is not None:
        scores["stated"] = _sure(belief, grid, true)
    labels = torch.as_tensor(digits.labels)
    for label in labels.unique().tolist():
        mine = labels == label
        scores[str(label)] = _angle_errors(belief[mine], grid, true[mine])
    return scores


def picture_orientation(model: Model, digits: Digits) -> dict[str, Any]:
    """Error of the angle of uploaded pictures of digits, read as on the pages."""
    images, true = calibration.pictures(digits, seed=0)
    grid = torch.as_tensor(one_view.grid())
    read = [one_view.belief(model, image) for image in images.numpy()]
    belief = torch.as_tensor(np.stack([each for each in read if each is not None]))
    scores: dict[str, Any] = {"pictures": len(images)} | _angle_errors(belief, grid, true)
    known = model.calibration is not None and model.calibration.picture
    return scores | _sure(belief, grid, true) if known else scores


def _angle_errors(belief: Tensor, grid: Tensor, true: Tensor) -> dict[str, float]:
    return metrics.orientation_scores(grid[belief.argmax(-1)].numpy(), true.numpy())


def _sure(belief: Tensor, grid: Tensor, true: Tensor) -> dict[str, float | None]:
    """The share of beliefs stated as sure, and of these the share that is right."""
    stated, right = (x.numpy() for x in calibration.stated(belief, grid, true))
    sure = stated >= calibration.SURE
    return {
        "sure_share": float(sure.mean()),
        "sure_right": float(right[sure].mean()) if sure.any() else None,
    }


@torch.no_grad()
def disentanglement(model: Model, digits: Digits) -> dict[str, float | None]:
    """Disentanglement of angle and style, in the encodings of single views of some digits."""
    some = calibration.some(digits, DISENTANGLED)
    views = data.task(some, ANGLES, ANGLES[:1]).context
    mu, _ = model.encode(views.images, views.angles, views.observed)
    z, local = mu.double().numpy(), model.blocks["local"].stop
    scores = disentanglement_scores(z[..., :local], z[..., local:], views.angles.numpy())
    kept = ("angle_error_local_degrees", "angle_error_global_degrees", "invariance_ratio_global")
    return {"digits": len(some)} | {name: scores[name] for name in (*kept, "dci_disentanglement")}
