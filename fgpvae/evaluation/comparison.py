"""Compare models on the same subjects, and with predictions without a model."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
import torch
from numpy.typing import NDArray

from fgpvae import data
from fgpvae.data import ANGLES, DIGITS_PER_CLASS, HELD_OUT_INDEX, TRAIN_DIGITS, Task
from fgpvae.data.collections import Collection, Subject
from fgpvae.data.objects import EXTRAPOLATION, ONE_VIEW, TEST
from fgpvae.errors import UserError, require
from fgpvae.evaluation.baselines import mean_image, rotated_view
from fgpvae.evaluation.protocol import Progress, all_errors, benchmark_tasks, predictions, task_mse
from fgpvae.models import Model
from fgpvae.training.configs import DataConfig

Images = NDArray[np.float32]
Errors = NDArray[np.float64]

TRAINING, UNSEEN, UPRIGHT = "training", "unseen", "upright"
VIEWS = (1, 2, 4, 8, 11, 15)
TABLE = (TEST, f"{TEST}_sampled", EXTRAPOLATION, ONE_VIEW)
MEAN_IMAGE, ROTATED_VIEW = "mean image", "rotated view"
GIVEN = (1, 2, 4, 8)  # given views of subjects other than digits
SUBJECTS = 24  # new subjects that models are compared on


@dataclass(frozen=True)
class Question:
    """Which digits are tested, from which views and at which angle.

    `training`: digits 0..269 of a class at the held-out angle. `unseen`: digits 360..399 at the
    same angle. `upright`: those digits at any other angle, from their upright view alone.
    """

    kind: str = UNSEEN
    views: int = 11  # Q, views given of each digit
    angle: int = HELD_OUT_INDEX  # index into ANGLES; only `upright` has a choice
    label: int = 3


@lru_cache(maxsize=32)
def asked(question: Question) -> Task:
    """The task of a question."""
    classes = (question.label,)
    if question.kind == TRAINING:
        return data.interpolation(data.factorized(classes, views=question.views))
    if question.kind == UNSEEN:
        return data.extrapolation(classes, views=question.views)
    task, column = data.one_view(classes), question.angle - 1
    return Task(task.context, task.targets[:, [column]], task.at[:, [column]])


@dataclass(frozen=True)
class Answer:
    """Predictions of one model, or without a model, for the subjects of a question."""

    images: Images  # [P, H, W]
    truth: Images  # [P, H, W]

    @cached_property
    def differences(self) -> Images:
        return self.images - self.truth

    @cached_property
    def errors(self) -> Errors:
        """Mean squared error of each image, [P]."""
        squares = np.square(self.differences, dtype=np.float64)
        return squares.reshape(len(squares), -1).mean(1)

    @property
    def mse(self) -> float:
        return float(self.errors.mean())


def truth(question: Question) -> Images:
    """[P, H, W]."""
    return asked(question).targets[:, 0].numpy()


def numbers(question: Question) -> list[int]:
    """Indices of the digits among the 400 of the class."""
    return [int(i) % DIGITS_PER_CLASS for i in asked(question).context.ids]


def answer(model: Model, question: Question, classes: Sequence[int] = (3,)) -> Answer:
    """A model's predictions of the digits; `classes` are its training classes, in order.

    Every model gets the same views, except that a joint GP uses its stored training views.
    """
    able = question.kind == TRAINING or model.takes_new_digits
    require(able, f"The {model.title} knows its training digits only.")
    task = asked(question)
    ids = torch.full_like(task.context.ids, -1)
    if question.label in classes:
        # ids are numbered over all classes of a training set
        ids = task.context.ids + DIGITS_PER_CLASS * list(classes).index(question.label)
    elif not model.takes_new_digits:
        raise UserError(f"The {model.title} was not trained on class {question.label}.")
    task = replace(task, context=replace(task.context, ids=ids))
    images = torch.cat([part for _, part in predictions(model, task)])
    return Answer(images[:, 0].numpy(), truth(question))


@lru_cache(maxsize=32)
def references(question: Question) -> dict[str, Answer]:
    """Predictions without a model: the mean image at the angle, and the rotated nearest view."""
    task = asked(question)
    upright = data.embedded((question.label,)).images[:TRAIN_DIGITS]
    mean = mean_image(upright, ANGLES[[question.angle]]).astype(np.float32)  # [1, 28, 28]
    return {
        MEAN_IMAGE: Answer(mean.repeat(len(task), 0), truth(question)),
        ROTATED_VIEW: Answer(rotated_view(task).astype(np.float32), truth(question)),
    }


def compared(collection: Collection) -> Sequence[Subject]:
    """New subjects of a collection, the same for every model."""
    return collection.subjects(True)[:SUBJECTS]


def targets(collection: Collection, view: int) -> list[tuple[Subject, int]]:
    """Each of them with its view nearest to view `view` of the first; own objects differ."""
    subjects = compared(collection)
    place = subjects[0].w[view]
    return [(each, int(collection.track.apart(each.w, place).argmin())) for each in subjects]


def subject_truth(collection: Collection, view: int) -> Images:
    """True images of new subjects at one view, [P, H, W]."""
    return np.stack([each.images[target] for each, target in targets(collection, view)])


def subject_answer(model: Model, collection: Collection, given: int, view: int) -> Answer:
    """A model's predictions of new subjects at one view, from `given` others."""
    only = f"The {model.title} knows its training {collection.words.many} only."
    require(model.takes_new_digits, only)
    images = [
        _redraw(model, each, _others(each, given, target), [target])[0]
        for each, target in targets(collection, view)
    ]
    return Answer(np.stack(images), subject_truth(collection, view))


def subject_references(collection: Collection, given: int, view: int) -> dict[str, Answer]:
    """The same predictions without a model."""
    found: dict[str, list[Images]] = {}
    for each, target in targets(collection, view):
        observed = np.isin(np.arange(len(each.w)), _others(each, given, target))
        for name, images in collection.references(each, observed, each.w[[target]]).items():
            found.setdefault(name, []).append(images[0])
    truth = subject_truth(collection, view)
    return {name: Answer(np.stack(images), truth) for name, images in found.items()}


def subject_mse_by_views(
    model: Model, collection: Collection, progress: Progress = lambda share: None
) -> dict[int, float]:
    """MSE of new subjects at all views not given, against the number of views given of each."""
    found = {}
    for done, given in enumerate(GIVEN, start=1):
        squares = []
        for each in compared(collection):
            seen = each.order[:given]
            rest = [view for view in range(len(each.w)) if view not in seen] or seen
            error = _redraw(model, each, seen, rest) - each.images[rest]
            squares.append(np.square(error, dtype=np.float64).ravel())
        found[given] = float(np.concatenate(squares).mean())
        progress(done / len(GIVEN))
    return found


def _others(subject: Subject, given: int, view: int) -> list[int]:
    """The first `given` views in the order of the subject, without the target."""
    return [each for each in subject.order if each != view][:given]


def _redraw(model: Model, subject: Subject, seen: list[int], asked: list[int]) -> Images:
    """Predictions of a subject at some of its views from others."""
    images, w = subject.images[None], subject.w[None]
    ids = np.array([subject.row]) if subject.row >= 0 else None
    return model.generate(images[:, seen], w[:, seen], w[:, asked], ids=ids)[0]


def table_label(classes: Sequence[int]) -> int:
    """The class on which a model is compared: threes if it was trained on them."""
    return 3 if 3 in classes else classes[0]


def table_figures(
    model: Model, config: DataConfig, seed: int = 0, progress: Progress = lambda share: None
) -> dict[str, float | None]:
    """The paper's table for one model: as `protocol.evaluate`, on the digits of one class.

    So models of several classes are scored on the same images as the others. A model trained on the
    whole circle has seen the held-out angle and has no `test_mse`.
    """
    classes = (label := table_label(config.classes),)
    tasks: dict[str, Task] = {}
    if config.split != "continuous":
        test = benchmark_tasks(config, seed, new_digits=False)[TEST]
        tasks[TEST] = test[test.context.labels == label]
    if model.takes_new_digits:
        tasks[EXTRAPOLATION] = data.extrapolation(classes, seed)
        tasks[ONE_VIEW] = data.one_view(classes)
    found = all_errors(model, tasks, progress)
    return {name: found[name] for name in TABLE}


def mse_by_views(
    model: Model,
    label: int = 3,
    views: Sequence[int] = VIEWS,
    progress: Progress = lambda share: None,
) -> dict[int, float]:
    """MSE of the unseen digits at the held-out angle against the number of views given of each."""
    found = {}
    for done, count in enumerate(views, start=1):
        found[count] = task_mse(model, asked(Question(views=count, label=label)))
        progress(done / len(views))
    return found


def reference_by_views() -> dict[str, dict[int, float]]:
    """The same without a model."""
    return {
        name: {count: references(Question(views=count))[name].mse for count in VIEWS}
        for name in (MEAN_IMAGE, ROTATED_VIEW)
    }
