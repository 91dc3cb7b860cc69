"""Photographs and drawings of digits at any angle, with the angle known."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from fgpvae import data
from fgpvae.errors import UserError
from fgpvae.evaluation import calibration
from fgpvae.images import normalise
from tests.photographs import pens
from tests.photographs.scenes import draw_scene, take
from tests.photographs.sets import TUNING
from tests.photographs.strangers import turned_drawing

_SEEDS = {TUNING: 505, "report": 90_909}
_SIZE = (640, 480)  # of the photographs, which are about the angle and not about the file


@dataclass(frozen=True)
class Turned:
    """A view as the package sees it."""

    image: np.ndarray  # [28, 28]
    angle: float  # radians, counter-clockwise from upright
    label: int


def photographs(which: str, count: int) -> Iterator[Turned]:
    """Photographs of written digits on sheets turned by any angle; refused ones are left out."""
    for number, digits, rng in _drawn(which, count, kind=1):
        scene = replace(draw_scene(rng), size=_SIZE, turn=float(rng.uniform(0, 360)))
        photograph = take(pens.written(digits.images[number]), scene)
        try:
            image = normalise(photograph.file).digit
        except UserError:
            continue
        # a scene turns clockwise
        yield Turned(image, -np.deg2rad(scene.turn) % (2 * np.pi), int(digits.labels[number]))


def drawings(which: str, count: int) -> Iterator[Turned]:
    """Digits drawn dark on white with pens of several widths; refused ones are left out."""
    for number, digits, rng in _drawn(which, count, kind=2):
        angle = float(rng.uniform(0, 2 * np.pi))
        image = turned_drawing(pens.written(digits.images[number]), angle, rng.uniform(0.03, 0.07))
        if image is not None:
            yield Turned(image, angle, int(digits.labels[number]))


def _drawn(
    which: str, count: int, kind: int
) -> Iterator[tuple[int, data.Digits, np.random.Generator]]:
    # those to tune on are new to the models
    digits = calibration.kept_back(range(10)) if which == TUNING else data.unseen()
    order = np.random.default_rng(_SEEDS[which]).permutation(len(digits))
    for number in range(count):
        rng = np.random.default_rng([_SEEDS[which], number, kind])
        yield int(order[number % len(order)]), digits, rng
