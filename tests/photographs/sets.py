"""The sets of photographs: those to tune on and those to report, with nothing in common."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from fgpvae import data
from tests.photographs import pens
from tests.photographs.scenes import Photograph, draw_scene, take

TUNING, REPORT = "tuning", "report"
_SEEDS = {TUNING: 101, REPORT: 20_202}
PRINTED_EVERY = 6  # one photograph in so many shows a printed digit


@dataclass(frozen=True)
class Sample:
    photograph: Photograph
    label: int
    original: np.ndarray | None  # [28, 28], None for a printed digit


def training_digits() -> data.Digits:
    """3,600 digits of MNIST's training file: the first 360 of each class."""
    digits = data.embedded(range(10))
    return digits[np.arange(len(digits)) % data.DIGITS_PER_CLASS < data.TRAIN_DIGITS]


def samples(which: str, count: int, largest: int | None = None) -> Iterator[Sample]:
    """The first `count` photographs of a set; each is a function of its number alone.

    `largest`: without those of which a side has more pixels.
    """
    digits = training_digits() if which == TUNING else data.unseen()
    order = np.random.default_rng(_SEEDS[which]).permutation(len(digits))
    fonts = pens.TUNING_FONTS if which == TUNING else pens.REPORT_FONTS
    for number in range(count):
        rng = np.random.default_rng([_SEEDS[which], number])
        scene = draw_scene(rng)
        if largest is not None and max(scene.size) > largest:
            continue
        if number % PRINTED_EVERY == PRINTED_EVERY - 1:
            label = int(rng.integers(10))
            shape = pens.printed(str(label), fonts[rng.integers(len(fonts))])
            yield Sample(take(shape, scene), label, None)
        else:
            index = int(order[number % len(order)])
            image, label = digits.images[index], int(digits.labels[index])
            yield Sample(take(pens.written(image), scene), label, image)
