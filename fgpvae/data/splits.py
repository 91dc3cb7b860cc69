"""The benchmark's training sets and its test tasks.

Of the 400 digits of a class the first 360 are for training, at every angle but the held-out one.
"""

import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from numbers import Integral

import numpy as np
import torch
from numpy.typing import ArrayLike

from ..errors import UserError
from .digits import DIGITS_PER_CLASS, TRAIN_DIGITS, Digits, check_classes, embedded, recipe_ids
from .rotation import ANGLES, HELD_OUT_INDEX, rotate
from .views import Task, Views

TEST_DIGITS = 270  # per class; training digits whose held-out view is a test image
SHUFFLED_IMAGES = 4050  # per class

_SEEN = [index for index in range(len(ANGLES)) if index != HELD_OUT_INDEX]


def factorized(classes: Iterable[int] = (3,), seed: int = 0, views: int = 11) -> Views:
    """The training set of the paper's FGP-VAE: 360 digits a class, each at `views` angles."""
    _check_views(views)

    def draw(label: int) -> tuple[list[list[int]], Iterable[int]]:
        drawn = _draw(f"factorized {label} {seed}", TRAIN_DIGITS, views)
        return drawn, range(TEST_DIGITS)

    return _train(classes, draw)


def shuffled(classes: Iterable[int] = (3,), seed: int = 0) -> Views:
    """The training set of the paper's baselines: 4,050 of the 360 x 15 images of a class."""

    def draw(label: int) -> tuple[list[list[int]], Iterable[int]]:
        rows, test_ids = shuffled_rows(label, seed)
        drawn: list[list[int]] = [[] for _ in range(TRAIN_DIGITS)]
        for row in sorted(rows):
            digit, angle = divmod(row, len(_SEEN))
            drawn[digit].append(_SEEN[angle])
        return drawn, test_ids

    return _train(classes, draw)


def shuffled_rows(label: int, seed: int = 0) -> tuple[list[int], list[int]]:
    """Rows of the digit-major list of 360 x 15 images, and the ids of the test digits."""
    stream = random.Random(seed)
    recipe_ids(label, stream)
    stream.sample(range(len(ANGLES)), 1)  # the published draw of the held-out angle
    rows = stream.sample(range(TRAIN_DIGITS * len(_SEEN)), SHUFFLED_IMAGES)
    return rows, stream.sample(range(TRAIN_DIGITS), TEST_DIGITS)


def interpolation(train: Views) -> Task:
    """The test digits of a training set at 157.5 degrees, given their training views."""
    context = train[train.tested]
    if not len(context):
        raise UserError("These views contain no test digit of the benchmark.")
    numbers = (context.ids % DIGITS_PER_CLASS).numpy()
    targets = np.empty((len(context), 28, 28), dtype=np.float32)
    for label in context.labels.unique().tolist():
        mine = (context.labels == label).numpy()
        targets[mine] = _turned(label)[numbers[mine], HELD_OUT_INDEX]
    at = torch.full((len(context), 1), float(ANGLES[HELD_OUT_INDEX]), dtype=torch.float64)
    return Task(context, torch.from_numpy(targets)[:, None], at)


def extrapolation(classes: Iterable[int] = (3,), seed: int = 0, views: int = 11) -> Task:
    """Digits never trained on at 157.5 degrees, given `views` of their other 15 views."""
    _check_views(views)

    def draw(label: int) -> list[list[int]]:
        count = DIGITS_PER_CLASS - TRAIN_DIGITS
        return _draw(f"extrapolation {label} {seed}", count, views)

    return _unseen_task(classes, draw, [HELD_OUT_INDEX])


def one_view(classes: Iterable[int] = (3,)) -> Task:
    """Digits never trained on at the other 15 angles, given only their upright view."""
    count = DIGITS_PER_CLASS - TRAIN_DIGITS
    return _unseen_task(classes, lambda label: [[0]] * count, range(1, len(ANGLES)))


def task(digits: Digits, context_angles: ArrayLike, target_angles: ArrayLike) -> Task:
    """Any digits at the target angles given views at the context angles, [S] or [P, S] radians.

    They are not in a training set, so their ids are -1.

    One upright view: `task(unseen(), ANGLES[:1], ANGLES[1:])`. Eleven views:
    `task(unseen(), draw_angles(500), ANGLES[[HELD_OUT_INDEX]])`.
    """
    P = len(digits)
    context_angles, target_angles = np.asarray(context_angles), np.asarray(target_angles)
    given = torch.from_numpy(rotate(digits.images, context_angles))
    targets = torch.from_numpy(rotate(digits.images, target_angles))
    labels = torch.as_tensor(digits.labels)
    context = Views.complete(given, _rows(context_angles, P), labels=labels)
    return Task(context, targets, _rows(target_angles, P))


def draw_angles(count: int, views: int = 11, seed: int = 0) -> np.ndarray:
    """For `count` digits, `views` of the 15 angles that are not held out: [P, Q] radians."""
    _check_views(views)
    return ANGLES[np.array(_draw(f"angles {seed}", count, views), dtype=np.int64)]


def split_validation(train: Views, digits: int = 40, seed: int = 0) -> tuple[Views, Views]:
    """Hold `digits` of each class out of a training set, for validation.

    None of them is a test digit of the set, so that every test digit stays trained on.
    """
    held = torch.zeros(len(train), dtype=torch.bool)
    for label in train.labels.unique().tolist():
        free = ((train.labels == label) & ~train.tested).nonzero().flatten().tolist()
        if not 1 <= digits <= len(free):
            raise UserError(
                f"From 1 to {len(free)} digits of class {label} can be held out, not {digits}."
            )
        held[random.Random(f"validation {label} {seed}").sample(free, digits)] = True
    return train[~held], train[held]


def keep_views_back(train: Views, digits: int = 90, seed: int = 0) -> tuple[Views, Task]:
    """Hold one view of some digits of each class out: the remaining views, and the task to predict
    it.

    The digits stay in the training set, so that this also validates models that take no new digits.
    """
    _, held = split_validation(train, digits, seed)
    task = leave_one_out(held, seed)
    observed = train.observed.clone()
    observed[torch.isin(train.ids, held.ids)] = task.context.observed
    return replace(train, observed=observed), task


def leave_one_out(views: Views, seed: int = 0) -> Task:
    """For each digit one of its views, drawn at random, is the target and the rest the context."""
    rng = random.Random(f"leave one out {seed}")
    context = views.observed.clone()
    chosen = torch.empty(len(views), dtype=torch.int64)
    for row, seen in enumerate(views.observed):
        at = seen.nonzero().flatten().tolist()
        if len(at) < 2:
            raise UserError("A digit with a single view cannot be both context and target.")
        chosen[row] = rng.choice(at)
        context[row, chosen[row]] = False
    rows = torch.arange(len(views))
    return Task(
        replace(views, observed=context),
        views.images[rows, chosen][:, None],
        views.angles[rows, chosen][:, None],
    )


def _check_views(views: int) -> None:
    if not isinstance(views, Integral) or not 1 <= views <= len(_SEEN):
        raise UserError(f"A digit can have from 1 to {len(_SEEN)} views, not {views}.")


def _draw(stream: str, count: int, views: int) -> list[list[int]]:
    """For each digit, `views` of the 15 angles, as ascending indices into ANGLES."""
    source = random.Random(stream)
    return [sorted(source.sample(_SEEN, views)) for _ in range(count)]


def _train(
    classes: Iterable[int], draw: Callable[[int], tuple[list[list[int]], Iterable[int]]]
) -> Views:
    parts, tested = [], []
    for label in (classes := check_classes(classes)):
        drawn, test_ids = draw(label)
        parts.append(drawn)
        tested.append(torch.zeros(TRAIN_DIGITS, dtype=torch.bool))
        tested[-1][list(test_ids)] = True
    return _gather(classes, parts, torch.cat(tested), first=0)


def _unseen_task(
    classes: Iterable[int], draw: Callable[[int], list[list[int]]], target: Sequence[int]
) -> Task:
    classes = check_classes(classes)
    parts = [draw(label) for label in classes]
    tested = torch.zeros(sum(map(len, parts)), dtype=torch.bool)
    context = _gather(classes, parts, tested, first=TRAIN_DIGITS)
    targets = np.concatenate([_turned(label)[TRAIN_DIGITS:, list(target)] for label in classes])
    return Task(context, torch.from_numpy(targets), _rows(ANGLES[list(target)], len(context)))


def _gather(
    classes: Sequence[int], parts: Sequence[list[list[int]]], tested: torch.Tensor, first: int
) -> Views:
    """Views of digits first, first + 1, ... of each class at the angle indices drawn for them."""
    P = sum(map(len, parts))
    Q = max(len(drawn) for part in parts for drawn in part)
    images = np.zeros((P, Q, 28, 28), dtype=np.float32)
    index = np.zeros((P, Q), dtype=np.int64)
    observed = np.zeros((P, Q), dtype=bool)
    ids: list[int] = []
    labels: list[int] = []
    for position, (label, part) in enumerate(zip(classes, parts, strict=True)):
        for number, drawn in enumerate(part, start=first):
            row = len(ids)
            index[row, : len(drawn)] = drawn
            observed[row, : len(drawn)] = True
            images[row, : len(drawn)] = _turned(label)[number, drawn]
            ids.append(position * DIGITS_PER_CLASS + number)
            labels.append(label)
    return Views(
        images=torch.from_numpy(images),
        angles=torch.from_numpy(np.where(observed, ANGLES[index], 0)),
        observed=torch.from_numpy(observed),
        ids=torch.tensor(ids),
        labels=torch.tensor(labels),
        tested=tested,
    )


def _rows(angles: np.ndarray, P: int) -> torch.Tensor:
    """Angles [S] or [P, S] as a tensor [P, S]."""
    return torch.tensor(np.broadcast_to(angles, (P, angles.shape[-1])), dtype=torch.float64)


@lru_cache(maxsize=3)
def _turned(label: int) -> np.ndarray:
    """All 16 views of the 400 digits of a class: [400, 16, 28, 28]."""
    views = rotate(embedded((label,)).images, ANGLES)
    views.setflags(write=False)
    return views
