"""The benchmark's training sets and its test tasks.

Of the 400 digits of a class the first 360 are for training, at every angle but the held-out one.
"""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from numbers import Integral

import numpy as np
import torch
from numpy.typing import ArrayLike

from ..errors import require
from .mnist import DIGITS_PER_CLASS, TRAIN_DIGITS, Digits, check_classes, embedded, recipe_ids
from .rotation import ANGLES, HELD_OUT_INDEX, rotate
from .views import Task, Views, padded

TEST_DIGITS = 270  # per class; training digits whose held-out view is a test image
SHUFFLED_IMAGES = 4050  # per class
NEW_DIGITS = DIGITS_PER_CLASS - TRAIN_DIGITS

_SEEN = [index for index in range(len(ANGLES)) if index != HELD_OUT_INDEX]


def factorized(classes: Iterable[int] = (3,), seed: int = 0, views: int = 11) -> Views:
    """The training set of the paper's FGP-VAE: 360 digits a class, each at `views` angles."""
    classes = check_classes(classes)
    drawn = [_draw(f"factorized {label} {seed}", TRAIN_DIGITS, views) for label in classes]
    return _train(classes, drawn, [range(TEST_DIGITS)] * len(classes))


def shuffled(classes: Iterable[int] = (3,), seed: int = 0) -> Views:
    """The training set of the paper's baselines: 4,050 of the 360 x 15 images of a class."""
    classes = check_classes(classes)
    chosen, test_ids = zip(*(shuffled_rows(label, seed) for label in classes), strict=True)
    drawn: list[list[list[int]]] = [[[] for _ in range(TRAIN_DIGITS)] for _ in classes]
    for own, rows in zip(drawn, chosen, strict=True):
        for row in sorted(rows):
            digit, angle = divmod(row, len(_SEEN))
            own[digit].append(_SEEN[angle])
    return _train(classes, drawn, test_ids)


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
    require(len(context), "These views contain no test digit of the benchmark.")
    digits = torch.stack([context.labels, context.ids % DIGITS_PER_CLASS], 1).tolist()
    targets = np.stack([_turned(label, False)[number, HELD_OUT_INDEX] for label, number in digits])
    at = torch.full((len(context), 1), float(ANGLES[HELD_OUT_INDEX]), dtype=torch.float64)
    return Task(context, torch.from_numpy(targets)[:, None], at)


def extrapolation(classes: Iterable[int] = (3,), seed: int = 0, views: int = 11) -> Task:
    """Digits never trained on at 157.5 degrees, given `views` of their other 15 views."""
    classes = check_classes(classes)
    drawn = [_draw(f"extrapolation {label} {seed}", NEW_DIGITS, views) for label in classes]
    return _unseen_task(classes, drawn, [HELD_OUT_INDEX])


def one_view(classes: Iterable[int] = (3,)) -> Task:
    """Digits never trained on at the other 15 angles, given only their upright view."""
    classes = check_classes(classes)
    return _unseen_task(classes, [[[0]] * NEW_DIGITS] * len(classes), range(1, len(ANGLES)))


def task(digits: Digits, context_angles: ArrayLike, target_angles: ArrayLike) -> Task:
    """Any digits at the target angles given views at the context angles, [S] or [P, S] radians.

    They are not in a training set, so their ids are -1. Eleven views:
    `task(unseen(), draw_angles(500), ANGLES[[HELD_OUT_INDEX]])`.
    """
    given = torch.from_numpy(rotate(digits.images, context_angles))
    targets = torch.from_numpy(rotate(digits.images, target_angles))
    w, at = (torch.tensor(np.asarray(w, np.float64)) for w in (context_angles, target_angles))
    context = Views.complete(given, w, labels=torch.as_tensor(digits.labels))
    return Task(context, targets, at.expand(len(digits), -1))


def draw_angles(count: int, views: int = 11) -> np.ndarray:
    """For `count` digits, `views` of the 15 angles that are not held out: [P, Q] radians."""
    return ANGLES[np.array(_draw("angles 0", count, views), dtype=np.int64)]


def split_validation(train: Views, digits: int = 40, seed: int = 0) -> tuple[Views, Views]:
    """Hold `digits` of each class, none of them a test digit, out of a training set."""
    held = torch.zeros(len(train), dtype=torch.bool)
    for label in train.labels.unique().tolist():
        free = ((train.labels == label) & ~train.tested).nonzero().flatten().tolist()
        most = f"From 1 to {len(free)} digits of class {label} can be held out"
        require(1 <= digits <= len(free), f"{most}, not {digits}.")
        held[random.Random(f"validation {label} {seed}").sample(free, digits)] = True
    return train[~held], train[held]


def keep_views_back(train: Views, digits: int = 90) -> tuple[Views, Task]:
    """Hold one view of some digits of each class out: the rest, and the task to predict it.

    The digits stay in the training set, so that this also validates models that take no new digits.
    """
    _, held = split_validation(train, digits)
    task = leave_one_out(held)
    observed = train.observed.clone()
    observed[torch.isin(train.ids, held.ids)] = task.context.observed
    return replace(train, observed=observed), task


def leave_one_out(views: Views) -> Task:
    """For each digit one of its views, drawn at random, is the target and the rest the context."""
    several = (views.observed.sum(1) > 1).all()
    require(several, "A digit with a single view cannot be both context and target.")
    rng = random.Random("leave one out 0")
    drawn = [rng.choice(seen.nonzero().flatten().tolist()) for seen in views.observed]
    chosen = torch.tensor(drawn, dtype=torch.int64)[:, None]
    context = replace(views, observed=views.observed.scatter(1, chosen, False))
    rows = torch.arange(len(views))[:, None]
    return Task(context, views.images[rows, chosen], views.angles[rows, chosen])


def _draw(stream: str, count: int, views: int) -> list[list[int]]:
    """For each digit, `views` of the 15 angles, as ascending indices into ANGLES."""
    possible = isinstance(views, Integral) and 1 <= views <= len(_SEEN)
    require(possible, f"A digit can have from 1 to {len(_SEEN)} views, not {views}.")
    source = random.Random(stream)
    return [sorted(source.sample(_SEEN, views)) for _ in range(count)]


def _train(
    classes: Sequence[int], drawn: Sequence[list[list[int]]], test_ids: Sequence[Iterable[int]]
) -> Views:
    every = torch.arange(TRAIN_DIGITS)
    tested = [torch.isin(every, torch.tensor(list(ids))) for ids in test_ids]
    return replace(_gather(classes, drawn, new=False), tested=torch.cat(tested))


def _unseen_task(
    classes: Sequence[int], drawn: Sequence[list[list[int]]], target: Sequence[int]
) -> Task:
    context = _gather(classes, drawn, new=True)
    targets = np.concatenate([_turned(label, True)[:, list(target)] for label in classes])
    at = torch.from_numpy(ANGLES[list(target)]).expand(len(context), -1)
    return Task(context, torch.from_numpy(targets), at)


def _gather(classes: Sequence[int], parts: Sequence[list[list[int]]], new: bool) -> Views:
    """Views of the training or new digits of each class at the angle indices drawn for them."""
    digits = [
        (position * DIGITS_PER_CLASS + number, label, turned, ANGLES[drawn])
        for position, (label, part) in enumerate(zip(classes, parts, strict=True))
        for number, drawn in enumerate(part, start=TRAIN_DIGITS if new else 0)
        for turned in [_turned(label, new)[number % TRAIN_DIGITS, drawn]]
    ]
    ids, labels, images, angles = zip(*digits, strict=True)
    return Views(*padded(images, angles), torch.tensor(ids), torch.tensor(labels))


@lru_cache(maxsize=4)
def _turned(label: int, new: bool) -> np.ndarray:
    """All 16 views of the 360 training digits of a class, or of its 40 new ones."""
    rows = slice(TRAIN_DIGITS, None) if new else slice(TRAIN_DIGITS)
    views = rotate(embedded((label,), rows).images, ANGLES)  # [P, 16, 28, 28]
    views.setflags(write=False)
    return views
