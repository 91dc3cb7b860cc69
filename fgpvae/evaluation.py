"""The protocol of the benchmark, the same for every model: a task in, figures out."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from fgpvae import data
from fgpvae.checkpoints import load_config, pretrained_names, shipped_config
from fgpvae.data import ANGLES, HELD_OUT, Task, Views
from fgpvae.models import Model
from fgpvae.training import DataConfig, RunConfig

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
    total = 0.0
    for images, truth in predictions(model, task, sample, seed):
        total += float((images - truth).double().square().sum())
    return total / task.targets.numel()


def training_views(config: DataConfig, seed: int) -> Views:
    """The benchmark's training set that belongs to a config (the fixed splits only)."""
    if config.split == "shuffled":
        views = data.shuffled(config.classes, seed)
    else:
        views = data.factorized(config.classes, seed, config.views)
    return views[views.ids % data.DIGITS_PER_CLASS < config.digits]


def config_of(name: str | Path) -> RunConfig:
    """The config that a shipped model, or the model of a run directory, was trained with."""
    return shipped_config(str(name)) if str(name) in pretrained_names() else load_config(Path(name))


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
