"""Things that are no digits, drawn with a pen: letters, scribbles, faces, cats, shapes, textures.

Letters that are digits in another hand (O, l, S, Z, B, q ...) are left out.
"""

from collections.abc import Callable, Iterator

import numpy as np

from fgpvae import data
from fgpvae.errors import UserError
from fgpvae.evaluation import calibration
from fgpvae.images import normalise
from tests.photographs import pens
from tests.photographs.sets import REPORT, TUNING

LETTERS = "AEFGHKMNPRTUWXYadefhkmnprtwxy"
Lines = list[np.ndarray]  # each [n, 2] x and y in the unit square
_SIDE, _UNIT = 144, 90  # pixels of a drawing, and of its longer extent
_SEEDS = {TUNING: 303, REPORT: 80_808}


def _circle(x: float, y: float, radius: float, squeeze: float = 1.0) -> np.ndarray:
    turn = np.linspace(0, 2 * np.pi, 40)
    return np.stack([x + radius * np.cos(turn), y + squeeze * radius * np.sin(turn)], axis=1)


def _line(*points: tuple[float, float]) -> np.ndarray:
    return np.array(points, float)


def scribble(rng: np.random.Generator) -> Lines:
    """A pen that wanders: a sum of a few waves."""
    t = np.linspace(0, 1, 200)[:, None]
    speed = rng.integers(2, 8, (1, 5)) + rng.random((1, 5))
    waves = np.sin(2 * np.pi * (t * speed + rng.random((1, 5))))  # [200, 5]
    path = waves @ rng.normal(0, 1, (5, 2))
    return [(path - path.min(axis=0)) / np.ptp(path, axis=0)]


def face(rng: np.random.Generator) -> Lines:
    mouth = np.linspace(0.2, np.pi - 0.2, 20)
    smile = rng.uniform(-0.12, 0.2)
    eye = rng.uniform(0.03, 0.07)
    return [
        _circle(0.5, 0.5, 0.48, rng.uniform(0.85, 1)),
        _circle(0.33, 0.38, eye),
        _circle(0.67, 0.38, eye),
        _line((0.5, 0.45), (0.46, 0.6), (0.53, 0.6)),
        np.stack([0.5 - 0.22 * np.cos(mouth), 0.7 + smile * np.sin(mouth)], axis=1),
    ]


def cat(rng: np.random.Generator) -> Lines:
    tilt = rng.uniform(-0.05, 0.05)
    whiskers = [
        _line((0.5 + side * 0.12, 0.64), (0.5 + side * 0.5, 0.56 + drop + tilt))
        for side in (-1, 1)
        for drop in (0, 0.12)
    ]
    return [
        _circle(0.5, 0.6, 0.36),
        _line((0.18, 0.45), (0.16 + tilt, 0.05), (0.4, 0.26)),
        _line((0.82, 0.45), (0.84 + tilt, 0.05), (0.6, 0.26)),
        _circle(0.37, 0.52, 0.04),
        _circle(0.63, 0.52, 0.04),
        *whiskers,
    ]


def shape(rng: np.random.Generator) -> Lines:
    """A star, a triangle, a square with a cross, a house, a heart or an arrow."""
    kind = rng.integers(6)
    if kind == 0:
        turn = np.arange(6) * 0.8 * np.pi + rng.random()
        return [0.5 + 0.5 * np.stack([np.sin(turn), -np.cos(turn)], axis=1)]
    if kind == 1:
        turn = np.arange(4) * 2 / 3 * np.pi + rng.random()
        return [0.5 + 0.5 * np.stack([np.sin(turn), -np.cos(turn)], axis=1)]
    square = _line((0, 0), (1, 0), (1, 1), (0, 1), (0, 0))
    if kind == 2:
        return [square, _line((0, 0), (1, 1)), _line((1, 0), (0, 1))]
    if kind == 3:
        return [
            0.4 * square + (0.3, 0.6),
            _line((0, 0.5), (0.5, 0), (1, 0.5)),
            _line((0.1, 0.5), (0.1, 1), (0.9, 1), (0.9, 0.5)),
        ]
    if kind == 4:
        t = np.linspace(0, 2 * np.pi, 60)
        y = 13 * np.cos(t) - 5 * np.cos(2 * t) - 2 * np.cos(3 * t) - np.cos(4 * t)
        return [np.stack([0.5 + np.sin(t) ** 3 / 2, 0.45 - y / 32], axis=1)]
    return [_line((0, 0.5), (1, 0.5)), _line((0.65, 0.1), (1, 0.5), (0.65, 0.9))]


def texture(rng: np.random.Generator) -> Lines:
    """Hatching that crosses, or a spiral of many turns."""
    if rng.random() < 0.5:
        at = np.linspace(0.05, 0.95, int(rng.integers(4, 7)))
        return [_line((x, 0), (x, 1)) for x in at] + [_line((0, y), (1, y)) for y in at]
    t = np.linspace(0, 1, 200)
    turn = 2 * np.pi * rng.uniform(3, 4.5) * t
    return [0.5 + 0.5 * np.stack([t * np.cos(turn), t * np.sin(turn)], axis=1)]


DRAWN: dict[str, Callable[[np.random.Generator], Lines]] = {
    "scribble": scribble,
    "face": face,
    "cat": cat,
    "shape": shape,
    "texture": texture,
}
KINDS = ("letter", *DRAWN)


def strangers(which: str, count: int) -> Iterator[tuple[str, np.ndarray | None]]:
    """Kind and view [28, 28] of things that are no digits; None where a picture is refused."""
    fonts = pens.TUNING_FONTS if which == TUNING else pens.REPORT_FONTS
    for number in range(count):
        rng = np.random.default_rng([_SEEDS[which], number])
        kind = KINDS[number % len(KINDS)]
        if kind == "letter":
            letter = LETTERS[rng.integers(len(LETTERS))]
            drawn = pens.printed(letter, fonts[rng.integers(len(fonts))])
        else:
            drawn = pens.drawn(DRAWN[kind](rng))
        yield kind, _view(drawn, rng)


def digits(which: str, count: int) -> Iterator[np.ndarray | None]:
    """Views [28, 28] of digits, drawn in the same way; those to tune on are new to the models."""
    known = calibration.kept_back(range(10)) if which == TUNING else data.unseen()
    order = np.random.default_rng(_SEEDS[which]).permutation(len(known))
    for number in range(count):
        rng = np.random.default_rng([_SEEDS[which], number, 1])
        yield _view(pens.written(known.images[order[number % len(order)]]), rng)


def _view(drawn: pens.Shape, rng: np.random.Generator) -> np.ndarray | None:
    """A drawing, turned by any angle, as the package sees it."""
    return turned_drawing(drawn, rng.uniform(0, 2 * np.pi), rng.uniform(0.03, 0.07))


def turned_drawing(drawn: pens.Shape, angle: float, half: float) -> np.ndarray | None:
    """A drawing with a pen of so much half width, dark on white, turned counter-clockwise.

    As the package sees it; None where it is refused.
    """
    y, x = (np.mgrid[0:_SIDE, 0:_SIDE] - (_SIDE - 1) / 2) / _UNIT
    turned = np.cos(angle) * x - np.sin(angle) * y, np.sin(angle) * x + np.cos(angle) * y
    half = 0.0 if drawn.outlined else half
    ink = np.clip((half - drawn.distance(*turned)) * _UNIT + 0.5, 0, 1)
    try:
        return normalise(1 - ink).digit
    except UserError:
        return None
