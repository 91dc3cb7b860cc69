"""The sets of photographs: those to tune on and those to report, with nothing in common."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fgpvae import data
from tests.photographs import pens
from tests.photographs.scenes import Photograph, draw_scene, take

TUNING, REPORT = "tuning", "report"
_SEEDS = {TUNING: 101, REPORT: 70_707}
PRINTED_EVERY = 6  # one photograph in so many shows a printed digit


@dataclass(frozen=True)
class Sample:
    photograph: Photograph
    label: int
    original: np.ndarray | None  # [28, 28], None for a printed digit


def training_digits() -> data.Digits:
    """3,600 digits of MNIST's training file: the first 360 of each class."""
    return data.embedded(range(10), slice(data.TRAIN_DIGITS))


def samples(which: str, count: int, largest: int | None = None) -> Iterator[Sample]:
    """The first `count` photographs of a set; each is a function of its number alone.

    `largest`: without those of which a side has more pixels.
    """
    for number in range(count):
        scene = draw_scene(scene_random(which, number))
        if largest is None or max(scene.size) <= largest:
            yield sample(which, number)


def sample(which: str, number: int) -> Sample:
    """A photograph by its number."""
    rng = scene_random(which, number)
    scene = draw_scene(rng)
    if number % PRINTED_EVERY == PRINTED_EVERY - 1:
        fonts = pens.TUNING_FONTS if which == TUNING else pens.REPORT_FONTS
        label = int(rng.integers(10))
        shape = pens.printed(str(label), fonts[rng.integers(len(fonts))])
        return Sample(take(shape, scene), label, None)
    digits = training_digits() if which == TUNING else data.unseen()
    order = np.random.default_rng(_SEEDS[which]).permutation(len(digits))
    index = int(order[number % len(order)])
    image, label = digits.images[index], int(digits.labels[index])
    return Sample(take(pens.written(image), scene), label, image)


def scene_random(which: str, number: int) -> np.random.Generator:
    """What a photograph is drawn with."""
    return np.random.default_rng([_SEEDS[which], number])
