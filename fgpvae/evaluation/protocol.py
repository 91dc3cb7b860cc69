"""The protocol of the benchmark, the same for every model."""

import dataclasses
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import torch
from torch import Tensor

from fgpvae import data
from fgpvae.data import ANGLES, HELD_OUT_INDEX, Digits, Task, cube_figures, cubes
from fgpvae.data.objects import EXTRAPOLATION, ONE_VIEW, TEST, Objects
from fgpvae.data.track import Track
from fgpvae.errors import require
from fgpvae.evaluation import metrics
from fgpvae.evaluation.baselines import class_means, nearest_view
from fgpvae.evaluation.latents import gp_share
from fgpvae.gp.kernels import TWO_PI
from fgpvae.models import Model, Posterior
from fgpvae.training.batches import training_views
from fgpvae.training.configs import CUBES, DataConfig

CHUNK = 64  # digits in a chunk
BY_VIEWS = (1, 4, 11)  # numbers of given views at which errors are compared
SPREAD_EACH = 8  # every eighth figure suffices for the spread of samples

ANSWERS = {"nearest_view": "copying the nearest given view", "mean_image": "the mean image"}
# what is predicted, and what to try if a prediction without a model is better
OTHER_MODEL = "take a model that keeps view and style apart, such as the FGP-VAE"
QUESTIONS = {
    "test_mse": (
        "held-out views of training subjects",
        "train it longer, or with a larger amplitude, more local channels and a shorter length "
        "scale",
    ),
    "extrapolation_mse": (
        "subjects that it was not trained on",
        "train on more subjects, which is what it needs to know new ones",
    ),
    "one_view_mse": (
        "a subject from a single view",
        "train on more subjects or with a mean function, or give it more views",
    ),
}

Progress = Callable[[float], None]  # receives the share that is done


def predictions(
    model: Model, task: Task, sample: bool = False, seed: int = 0
) -> Iterator[tuple[Task, Tensor]]:
    """Chunks of digits and their images [p, S, 28, 28], posterior means or samples."""
    generator = torch.Generator().manual_seed(seed)
    for start in range(0, len(task), CHUNK):
        part = task[start : start + CHUNK]
        views = part.context
        given = (views.images, views.angles, part.at, views.observed, views.ids)
        yield part, model.generate(*given, sample=sample, generator=generator)


def task_mse(model: Model, task: Task, sample: bool = False, seed: int = 0) -> float:
    """Mean squared error of a pixel over all images of a task."""
    require(task.asked.any(), "The task has no target image.")
    squares = 0.0
    for part, images in predictions(model, task, sample, seed):
        squares += float((images - part.targets)[part.asked].double().square().sum())
    return squares / (int(task.asked.sum()) * task.targets.shape[2:].numel())


@torch.no_grad()
def sampled_images(
    model: Model, posterior: Posterior, w: Tensor, count: int, generator: torch.Generator
) -> Tensor:
    """Images [count, P, S, H, W] of posterior samples at w [P, S]."""
    codes = (posterior.sample(w, generator) for _ in range(count))
    return torch.stack([model.decode(z, model.divides_channels) for z in codes])


def sample_spread(model: Model, task: Task, samples: int = 8) -> float:
    """Root mean variance of a pixel over posterior samples, at the angles of a task."""
    views, generator = task.context, torch.Generator().manual_seed(0)
    posterior = model.infer(views.images, views.angles, views.observed)
    drawn = sampled_images(model, posterior, task.at, samples, generator)
    return float(drawn.double().var(0).mean().sqrt())


def evaluate(
    model: Model, config: DataConfig, seed: int = 0, progress: Progress = lambda share: None
) -> dict[str, Any]:
    """Score a model by the protocol of the benchmark.

    A model trained on given angles is scored on the benchmark of its classes: `test_mse` at the
    held-out angle of training digits, `extrapolation_mse` the same for digits never trained on
    from eleven views, `one_view_mse` at the other 15 angles from the upright view alone. A model
    trained on the whole circle has seen the held-out angle, so it has no `test_mse`, and the other
    two are scored on the 500 unseen digits of the MNIST test file.

    `mse_by_views`: at 157.5 degrees from 1, 4 and 11 views of unseen digits of the test file, and
    `gp_share` of these from eleven views. `references` are errors without a model, and `verdict`
    says if one of them is lower.

    >>> import fgpvae
    >>> model, config = fgpvae.load_pretrained("paper"), fgpvae.DataConfig()
    >>> figures = fgpvae.evaluate(model, config)
    >>> figures["test_mse"] < figures["one_view_mse"]
    True
    """
    tasks = benchmark_tasks(config, seed, model.takes_new_digits)
    counts, unseen = BY_VIEWS if model.takes_new_digits else (), data.unseen(config.classes)
    by_views = {str(n): views_task(unseen, n) for n in counts}
    figures = {
        "split": config.split,
        "classes": list(config.classes),
        **all_errors(model, tasks, progress),
        "mse_by_views": {n: task_mse(model, each) for n, each in by_views.items()} or None,
        "gp_share": gp_share(model, by_views[str(BY_VIEWS[-1])].context) if by_views else None,
        "references": digit_references(tasks, config.classes),
        "digits": {name: len(task) for name, task in tasks.items()},
    }
    return figures | {"verdict": verdict(figures)}


def digit_references(
    tasks: Mapping[str, Task], classes: Sequence[int]
) -> dict[str, dict[str, float]]:
    """Errors without a model on tasks of digits; mean images are those of training digits."""
    upright = data.trainable(data.embedded(classes))
    references = {}
    for name, task in tasks.items():
        mean = class_means(upright, task.context.labels, task.at)
        references[name] = _references(task, Track(TWO_PI), mean[task.asked])
    return references


def _references(task: Task, track: Track, mean: Tensor) -> dict[str, float]:
    """Errors of the mean image [N, ...] of each view asked for, and of the nearest given view."""
    truth = task.targets[task.asked].numpy()
    return {
        "mean_image": metrics.mse(mean.numpy(), truth),
        "nearest_view": metrics.mse(nearest_view(task, track)[task.asked].numpy(), truth),
    }


def benchmark_tasks(config: DataConfig, seed: int = 0, new_digits: bool = True) -> dict[str, Task]:
    """The tasks that a model trained with this config is scored on."""
    if config.split == "continuous":
        unseen = data.unseen(config.classes)
        return {EXTRAPOLATION: views_task(unseen), ONE_VIEW: one_view_task(unseen)}
    tasks = {TEST: data.interpolation(training_views(config, seed))}
    if new_digits:
        tasks[EXTRAPOLATION] = data.extrapolation(config.classes, seed)
        tasks[ONE_VIEW] = data.one_view(config.classes)
    return tasks


def one_view_task(digits: Digits) -> Task:
    """The other fifteen angles from the upright view."""
    return data.task(digits, ANGLES[:1], ANGLES[1:])


def views_task(digits: Digits, views: int = 11) -> Task:
    """157.5 degrees from some of the other fifteen angles; a single view is the upright one."""
    angles = ANGLES[:1] if views == 1 else data.splits.draw_angles(len(digits), views)
    return data.task(digits, angles, ANGLES[[HELD_OUT_INDEX]])


def evaluate_objects(
    model: Model,
    objects: Objects,
    config: DataConfig,
    seed: int = 0,
    progress: Progress = lambda share: None,
) -> dict[str, Any]:
    """Score a model of own objects, with the names of the benchmark.

    `test_mse`: held-out views of training objects. `extrapolation_mse`: objects never trained on,
    from half of their views. `one_view_mse`: the same objects from one view. `references` have the
    error of the mean over training objects of their nearest view, and of the nearest view given;
    `verdict` says where one of these is better. `mse_by_views`: objects never trained on, from 1, 4
    and 11 of their views. `gp_share` is that of the training objects.
    """
    track = config.track
    own = data.objects.Own(objects, track, seed)
    references = {}
    for name, task in own.tasks.items():
        mean = torch.from_numpy(own.mean_at(task.at[task.asked].numpy()))
        references[name] = _references(task, track, mean)
    by_views = own.tasks_by_views(BY_VIEWS)
    figures = {
        "split": config.split,
        "track": dataclasses.asdict(track),
        **all_errors(model, own.tasks, progress),
        "mse_by_views": {str(n): task_mse(model, task) for n, task in by_views.items()},
        "gp_share": gp_share(model, own.train),
        "references": references,
        "objects": {name: len(task) for name, task in own.tasks.items()},
        "images": {name: int(task.asked.sum()) for name, task in own.tasks.items()},
    }
    return figures | {"verdict": verdict(figures)}


def evaluate_cubes(model: Model, progress: Progress = lambda share: None) -> dict[str, Any]:
    """Score a model of cube figures, on shapes that no model was trained on.

    `mse_by_views`: at all other angles of 24 from 1, 2, 4 or 8 views at equal distances, the first
    at 0; `mse_by_views_sampled` the same of posterior samples, and `spread_by_views` how far these
    differ, of some of the figures. `oblique_view_mse` is that from one view at 30 degrees, where
    more of a figure is seen than straight from one side. `gp_share` is that from eight views.
    """
    images = unseen_figures(model.config.network.shape[1])
    tasks = {str(given): cubes.task(images, given) for given in cubes.GIVEN}
    found = all_errors(model, tasks, progress)
    known = cube_references(images.shape[-1])
    simple = {"mean_image": known["mean_image"], "nearest_view": known["same_view"]}
    share = gp_share(model, tasks[str(cubes.GIVEN[-1])].context)
    compared = {ONE_VIEW: found["1"], "gp_share": share, "references": {ONE_VIEW: simple}}
    return {
        "split": CUBES,
        "one_view_mse": found["1"],
        "oblique_view_mse": task_mse(model, cubes.task(images, 1, cubes.ANGLES // 12)),
        "mse_by_views": {name: found[name] for name in tasks},
        "mse_by_views_sampled": {name: found[f"{name}_sampled"] for name in tasks},
        "spread_by_views": {
            name: sample_spread(model, task[::SPREAD_EACH]) for name, task in tasks.items()
        },
        "gp_share": share,
        "references": known,
        "verdict": verdict(compared),
        "figures": len(images),
        "parameters": found["parameters"],
        "seconds": found["seconds"],
    }


@lru_cache(maxsize=2)
def unseen_figures(size: int = cubes.SIZE) -> Tensor:
    """Views [P, 24, size, size] of all copies of the shapes that no model may see."""
    return cubes.views_of(cube_figures.turned_copies(cube_figures.splits().unseen), size)


@lru_cache(maxsize=2)
def cube_references(size: int = cubes.SIZE) -> dict[str, float]:
    """Errors without a model on the unseen figures."""
    training = cubes.views_of(cube_figures.all_copies(cube_figures.splits().training), size)
    return cubes.references(training, unseen_figures(size))


def all_errors(model: Model, tasks: Mapping[str, Task], progress: Progress) -> dict[str, Any]:
    """Errors of posterior means and samples (None without a task), parameters, time taken."""
    started = time.perf_counter()
    found: dict[str, Any] = {}
    for name in (TEST, EXTRAPOLATION, ONE_VIEW):
        found |= {name: None, f"{name}_sampled": None}
    for done, (name, task) in enumerate(tasks.items(), start=1):
        found[name] = task_mse(model, task)
        found[f"{name}_sampled"] = task_mse(model, task, sample=True)
        progress(done / len(tasks))
    found["parameters"] = sum(p.numel() for p in model.parameters())
    found["seconds"] = time.perf_counter() - started
    return found


def verdict(figures: Mapping[str, Any]) -> str | None:
    """Say at what a model is worse than copying or the mean image, and what to try.

    `figures` are those of `evaluate`, `evaluate_objects` or `evaluate_cubes`, with their
    `references`. None if it is better at everything.
    """
    for name, (what, remedy) in QUESTIONS.items():
        error, known = figures.get(name), figures.get("references", {}).get(name)
        if error is None or not isinstance(known, Mapping):
            continue
        better = {answer: known[answer] for answer in ANSWERS if known.get(answer, error) < error}
        if better:
            beaten = " and ".join(f"{ANSWERS[each]} ({better[each]:.4f})" for each in better)
            advice = remedy if figures.get("gp_share") is not None else OTHER_MODEL
            return f"For {what} this model is worse ({error:.4f}) than {beaten}: {advice}."
    return None
