"""Models side by side: the same digits through each of them, and what needs no model at all."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from fgpvae import data, metrics
from fgpvae.configs import DataConfig
from fgpvae.data import ANGLES, DIGITS_PER_CLASS, HELD_OUT_INDEX, TRAIN_DIGITS, Task, cubes
from fgpvae.data.objects import EXTRAPOLATION, ONE_VIEW, TEST
from fgpvae.errors import UserError
from fgpvae.evaluation import Progress, predictions, protocol, score, unseen_figures
from fgpvae.models import Model
from fgpvae.references import mean_image, rotated_view

Images = NDArray[np.float32]
Errors = NDArray[np.float64]

TRAINING, UNSEEN, UPRIGHT = "training", "unseen", "upright"
VIEWS = (1, 2, 4, 8, 11, 15)
TABLE = (TEST, f"{TEST}_sampled", EXTRAPOLATION, ONE_VIEW)
MEAN_IMAGE, ROTATED_VIEW, NEAREST_VIEW = "mean image", "rotated view", "nearest view"
FIRST_SIDE = 2  # of a figure of cubes, 30 degrees: two sides of the cubes and their tops are seen
# sides of a figure that are not among the views given, however many these are
OTHER_SIDES = tuple(k for k in range(cubes.ANGLES) if (k - FIRST_SIDE) % 3)


@dataclass(frozen=True)
class Question:
    """Which digits, what is known of them, and at which angle they are asked for.

    `training`: digits 0..269 of a class at the held-out angle. `unseen`: digits 360..399 at the
    same angle. `upright`: those digits at any other angle, from their upright view alone.
    """

    kind: str = UNSEEN
    views: int = 11  # Q, views given of each digit
    angle: int = HELD_OUT_INDEX  # index into ANGLES; only `upright` has a choice
    label: int = 3

    def __post_init__(self) -> None:
        if self.kind not in (TRAINING, UNSEEN, UPRIGHT):
            raise UserError(f"There is no question '{self.kind}'.")
        if self.kind == UPRIGHT and not 1 <= self.angle < len(ANGLES):
            raise UserError("From the upright view, one of the 15 other angles can be asked for.")
        if self.kind != UPRIGHT and self.angle != HELD_OUT_INDEX:
            raise UserError("These digits are asked for at the held-out angle only.")

    def task(self) -> Task:
        return _task(self)


@lru_cache(maxsize=32)
def _task(question: Question) -> Task:
    classes = (question.label,)
    if question.kind == TRAINING:
        return data.interpolation(data.factorized(classes, views=question.views))
    if question.kind == UNSEEN:
        return data.extrapolation(classes, views=question.views)
    task, column = data.one_view(classes), question.angle - 1
    return Task(task.context, task.targets[:, [column]], task.at[:, [column]])


@dataclass(frozen=True)
class FigureQuestion:
    """Forty figures of cubes that no model has seen: how many views are given, which side is asked.

    Views are at equal distances, the first at 30 degrees; sides are at multiples of 15 degrees.
    """

    views: int = 1
    side: int = 13

    def __post_init__(self) -> None:
        if self.views not in cubes.GIVEN or self.side not in OTHER_SIDES:
            raise UserError("Such views of figures are not given, or such a side is not asked for.")

    def task(self) -> Task:
        return _figure_task(self)


@lru_cache(maxsize=32)
def _figure_task(question: FigureQuestion) -> Task:
    task = cubes.task(unseen_figures()[::9], question.views, FIRST_SIDE)
    column = np.abs(task.at[0].numpy() - cubes.grid().numpy()[question.side]).argmin()
    return Task(task.context, task.targets[:, [column]], task.at[:, [column]])


@dataclass(frozen=True)
class Answer:
    """What one model, or none, makes of the digits or figures of a question."""

    images: Images  # [P, H, W]
    errors: Errors  # [P] mean squared error of each image
    differences: Images  # [P, H, W] image - truth

    @property
    def mse(self) -> float:
        return float(self.errors.mean())


def truth(question: Question | FigureQuestion) -> Images:
    """[P, H, W]."""
    return question.task().targets[:, 0].numpy()


def numbers(question: Question) -> list[int]:
    """Which of the 400 digits of the class they are."""
    return [int(i) % DIGITS_PER_CLASS for i in question.task().context.ids]


def answer(model: Model, question: Question, classes: Sequence[int] = (3,)) -> Answer:
    """A model's images of the digits; `classes` are those it was trained on, in their order.

    Every model is given the same views, but a joint GP takes those that it was trained on.
    """
    if question.kind != TRAINING and not model.takes_new_digits:
        raise UserError(f"The {model.title} knows its training digits only.")
    task = question.task()
    if question.label in classes:
        # ids count through all classes of a training set
        first = DIGITS_PER_CLASS * list(classes).index(question.label)
        task = replace(task, context=replace(task.context, ids=task.context.ids + first))
    elif not model.takes_new_digits:
        raise UserError(f"The {model.title} was not trained on class {question.label}.")
    else:
        nobody = torch.full_like(task.context.ids, -1)
        task = replace(task, context=replace(task.context, ids=nobody))
    images = torch.cat([part for part, _ in predictions(model, task)])
    return _answer(images[:, 0].numpy(), question)


def references(question: Question) -> dict[str, Answer]:
    """Without a model: the mean image at the angle, and the nearest view turned geometrically."""
    task = question.task()
    upright = data.embedded((question.label,)).images[:TRAIN_DIGITS]
    mean = mean_image(upright, ANGLES[[question.angle]]).astype(np.float32)  # [1, 28, 28]
    return {
        MEAN_IMAGE: _answer(mean.repeat(len(task), 0), question),
        ROTATED_VIEW: _answer(rotated_view(task).astype(np.float32), question),
    }


def figure_answer(model: Model, question: FigureQuestion) -> Answer:
    """A model's images of the figures."""
    if not model.takes_new_digits:
        raise UserError(f"The {model.title} knows its training figures only.")
    images = torch.cat([part for part, _ in predictions(model, question.task())])
    return _answer(images[:, 0].numpy(), question)


def figure_references(question: FigureQuestion, mean: Images) -> dict[str, Answer]:
    """Without a model: the `mean` image [H, W] at the side, and the nearest view, left as it is."""
    task = question.task()
    nearest = int(
        metrics.circular_error(task.context.angles[0].numpy(), task.at[0, 0].item()).argmin()
    )
    return {
        MEAN_IMAGE: _answer(np.broadcast_to(mean, (len(task), *mean.shape)), question),
        NEAREST_VIEW: _answer(task.context.images[:, nearest].numpy(), question),
    }


def turned(model: Model, classes: Sequence[int] = (3,), digits: int = 2) -> tuple[Images, Images]:
    """The first digits of a question at all 16 angles, true and generated: [P, 16, 28, 28] each.

    New digits where the model takes them, otherwise training digits; eleven views are given, never
    the one at the held-out angle.
    """
    label = table_label(classes)
    question = Question(UNSEEN if model.takes_new_digits else TRAINING, label=label)
    context = question.task().context[:digits]
    upright = data.embedded((label,)).images[numbers(question)[:digits]]
    at = torch.as_tensor(ANGLES).expand(digits, -1)
    ids = context.ids + DIGITS_PER_CLASS * list(classes).index(label)
    images = model.generate(context.images, context.angles, at, context.observed, ids=ids)
    return data.rotate(upright, ANGLES), images.numpy()


def by_error(errors: Errors) -> NDArray[np.int64]:
    """Digits, those with the largest error first."""
    return np.argsort(-errors, kind="stable")


def by_difference(first: Errors, second: Errors) -> NDArray[np.int64]:
    """Digits, those first on which the errors of two models differ most, whichever is better."""
    return by_error(np.abs(first - second))


def table_label(classes: Sequence[int]) -> int:
    """The class on which a model is compared: the paper's threes if it was trained on them."""
    return 3 if 3 in classes else classes[0]


def table_figures(
    model: Model, config: DataConfig, seed: int = 0, progress: Progress = lambda share: None
) -> dict[str, float | None]:
    """The paper's table for one model: as `evaluation.evaluate`, on the digits of one class.

    So a model of several classes is scored on the same images as the others. One that was trained
    on the whole circle has seen the held-out angle of its training digits and has no `test_mse`.
    """
    classes = (label := table_label(config.classes),)
    tasks: dict[str, Task] = {}
    if config.split != "continuous":
        test = protocol(config, seed, new_digits=False)[TEST]
        tasks[TEST] = test[test.context.labels == label]
    if model.takes_new_digits:
        tasks[EXTRAPOLATION] = data.extrapolation(classes, seed)
        tasks[ONE_VIEW] = data.one_view(classes)
    found: dict[str, float | None] = dict.fromkeys(TABLE)
    scores = score(model, tasks, sampled=(TEST,), progress=progress)
    found |= {name: each.mse for name, each in scores.items()}
    if TEST in scores:
        found[f"{TEST}_sampled"] = scores[TEST].sampled
    return found


def mse_by_views(
    model: Model,
    label: int = 3,
    views: Sequence[int] = VIEWS,
    progress: Progress = lambda share: None,
) -> dict[int, float]:
    """MSE of the unseen digits at the held-out angle against the number of views given of each."""
    tasks = {count: Question(views=count, label=label).task() for count in views}
    return {count: each.mse for count, each in score(model, tasks, progress=progress).items()}


def figure_mse_by_views(model: Model, progress: Progress = lambda share: None) -> dict[int, float]:
    """MSE of all unseen figures at all other sides, as `evaluation.evaluate_cubes` measures it."""
    tasks = {count: cubes.task(unseen_figures(), count) for count in cubes.GIVEN}
    return {count: each.mse for count, each in score(model, tasks, progress=progress).items()}


def reference_by_views(label: int = 3, views: Sequence[int] = VIEWS) -> dict[str, dict[int, float]]:
    """The same for what needs no model."""
    found: dict[str, dict[int, float]] = {MEAN_IMAGE: {}, ROTATED_VIEW: {}}
    for count in views:
        for name, each in references(Question(views=count, label=label)).items():
            found[name][count] = each.mse
    return found


def _answer(images: Images, question: Question | FigureQuestion) -> Answer:
    target = truth(question)
    return Answer(images, metrics.mse_per_image(images, target), images - target)
