"""The protocol of the benchmark, the same for every model: a task in, figures out."""

import dataclasses
import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fgpvae import data
from fgpvae.checkpoints import is_shipped, load_config, shipped_config
from fgpvae.configs import DataConfig, RunConfig
from fgpvae.data import ANGLES, HELD_OUT, Task, Views
from fgpvae.data.objects import Objects, Track
from fgpvae.errors import UserError
from fgpvae.models import Model

CHUNK = 64  # digits generated at a time


def predictions(
    model: Model, task: Task, sample: bool = False, seed: int = 0
) -> Iterator[tuple[Tensor, Tensor]]:
    """Images and truth [p, S, 28, 28], a chunk of digits at a time; means, or posterior samples."""
    generator = torch.Generator().manual_seed(seed)
    for start in range(0, len(task), CHUNK):
        part = task[start : start + CHUNK]
        views = part.context
        images = model.generate(
            views.images,
            views.angles,
            part.at,
            views.observed,
            ids=views.ids,
            sample=sample,
            generator=generator,
        )
        yield images, part.targets


def task_mse(model: Model, task: Task, sample: bool = False, seed: int = 0) -> float:
    """Mean squared error of a pixel over all images of a task."""
    total, row, count = 0.0, 0, int(task.asked.sum())
    if not count:
        raise UserError("The task asks for no image.")
    for images, truth in predictions(model, task, sample, seed):
        asked = task.asked[row : row + len(images)]
        total += float((images - truth)[asked].double().square().sum())
        row += len(images)
    return total / (count * task.targets.shape[2:].numel())


def training_views(config: DataConfig, seed: int) -> Views:
    """The benchmark's training set that belongs to a config (the fixed splits only)."""
    if config.split == "shuffled":
        views = data.shuffled(config.classes, seed)
    else:
        views = data.factorized(config.classes, seed, config.views)
    return views[views.ids % data.DIGITS_PER_CLASS < config.digits]


def config_of(name: str | Path) -> RunConfig:
    """The config that a shipped model, or the model of a run directory, was trained with."""
    return shipped_config(str(name)) if is_shipped(name) else load_config(Path(name))


def evaluate(
    model: Model,
    config: DataConfig,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """Every figure of the protocol that the model can be asked for.

    A model trained on given angles is scored on the benchmark of its classes: `test_mse` at the
    held-out angle of training digits, `extrapolation_mse` the same for digits never trained on
    from eleven views, `one_view_mse` at the other 15 angles from the upright view alone. A model
    trained on the whole circle has seen the held-out angle, so it is scored on digits of the MNIST
    test file only: its `extrapolation_mse` and `one_view_mse` are those of the 500 unseen digits.
    """
    started = time.perf_counter()
    figures: dict[str, Any] = {"split": config.split, "classes": list(config.classes)}
    tasks = protocol(config, seed, model.takes_new_digits)
    for done, (name, task) in enumerate(tasks.items()):
        figures[name] = task_mse(model, task)
        figures[f"{name}_sampled"] = task_mse(model, task, sample=True)
        progress((done + 1) / len(tasks))
    for name in ("test_mse", "extrapolation_mse", "one_view_mse"):
        figures.setdefault(name, None)
        figures.setdefault(f"{name}_sampled", None)
    figures["digits"] = {name: len(task) for name, task in tasks.items()}
    figures["parameters"] = sum(p.numel() for p in model.parameters())
    figures["seconds"] = time.perf_counter() - started
    return figures


def protocol(config: DataConfig, seed: int = 0, new_digits: bool = True) -> dict[str, Task]:
    """The tasks that a model trained with this config is scored on."""
    if config.split == "continuous":
        unseen = data.unseen(config.classes)
        return {
            "extrapolation_mse": data.task(
                unseen, data.draw_angles(len(unseen)), ANGLES[[HELD_OUT]]
            ),
            "one_view_mse": data.task(unseen, ANGLES[:1], ANGLES[1:]),
        }
    tasks = {"test_mse": data.interpolation(training_views(config, seed))}
    if new_digits:
        tasks["extrapolation_mse"] = data.extrapolation(config.classes, seed)
        tasks["one_view_mse"] = data.one_view(config.classes)
    return tasks


BINS = 16  # of a track, for the mean image


def evaluate_objects(
    model: Model,
    objects: Objects,
    config: DataConfig,
    seed: int = 0,
    progress: Callable[[float], None] = lambda share: None,
) -> dict[str, Any]:
    """The figures of a model of one's own objects, under the names of the benchmark's.

    `test_mse`: held-out views of training objects. `extrapolation_mse`: objects never trained on,
    from half of their views. `one_view_mse`: the same objects from one view. Each has the error of
    posterior samples beside it, and in `references` that of two answers that need no model: the
    mean of the training images with about the same view, and the nearest view that was given.
    """
    started = time.perf_counter()
    track = config.track
    split = data.objects.split(objects, track, seed)
    figures: dict[str, Any] = {"split": config.split, "track": dataclasses.asdict(track)}
    references: dict[str, dict[str, float]] = {}
    for done, (name, task) in enumerate(split.tasks.items()):
        figures[name] = task_mse(model, task)
        figures[f"{name}_sampled"] = task_mse(model, task, sample=True)
        references[name] = {
            "mean_image": _mse(_mean_images(split.train, task.at, track), task),
            "nearest_view": _mse(_nearest_views(task, track), task),
        }
        progress((done + 1) / len(split.tasks))
    figures.setdefault(data.objects.TEST, None)
    figures.setdefault(f"{data.objects.TEST}_sampled", None)
    figures["references"] = references
    figures["objects"] = {name: len(task) for name, task in split.tasks.items()}
    figures["images"] = {name: int(task.asked.sum()) for name, task in split.tasks.items()}
    figures["parameters"] = sum(p.numel() for p in model.parameters())
    figures["seconds"] = time.perf_counter() - started
    return figures


def _mse(images: Tensor, task: Task) -> float:
    return float((images - task.targets)[task.asked].double().square().mean())


def _mean_images(train: Views, at: Tensor, track: Track) -> Tensor:
    """For each w of `at` [P, S] the mean of the training images in its part of the track."""
    seen = train.images[train.observed]
    where = _bins(train.angles[train.observed], track)
    means = torch.stack(
        [seen[where == k].mean(0) if (where == k).any() else seen.mean(0) for k in range(BINS)]
    )
    return means[_bins(at, track)]


def _bins(w: Tensor, track: Track) -> Tensor:
    if track.period:
        return (w / (2 * math.pi) * BINS).round().long() % BINS
    return ((w + 1) / 2 * BINS).long().clamp(0, BINS - 1)


def _nearest_views(task: Task, track: Track) -> Tensor:
    """The view of the context that is nearest to each w asked for, [P, S, H, W]."""
    context = task.context
    apart = torch.as_tensor(track.apart(task.at[:, :, None], context.angles[:, None]))  # [P, S, Q]
    nearest = apart.masked_fill(~context.observed[:, None], math.inf).argmin(-1)
    return context.images[torch.arange(len(task))[:, None], nearest]
