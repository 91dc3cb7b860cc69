"""What makes a photograph hard to read: python -m tests.photographs.losses [--idx DIR]

Digits that neither the reader nor the report has: as they are, turned like the sheets of the
tuning set, drawn anew with pens and laid into MNIST's box without the package, the same drawings
through `images.normalise`, and photographs; each compared with the digits as they are.

Without `--idx` these are the 400 digits kept back. With a directory of MNIST's IDX files they are
digits of its training file that do not come with the package, enough of them to see half a point.
"""

import argparse
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
from PIL import Image
from scipy.stats import binomtest

from fgpvae import calibration, data
from fgpvae.errors import UserError
from fgpvae.images import normalise
from tests.photographs import pens
from tests.photographs.judge import reader
from tests.photographs.scenes import Scene, draw_scene, take
from tests.photographs.sets import TUNING, scene_random

_SIDE, _UNIT = 200, 130  # pixels of a drawing, and of its longer extent
_USUAL_PEN = 0.12
# photographs are of other digits than drawings, in scenes that come after the tuning set
_FIRST_DIGIT, _FIRST_SCENE = 20_000, 5000


def other_digits(directory: Path, rows: slice) -> data.Digits:
    """Digits of MNIST's training file that do not come with the package, in a random order."""
    digits = data.load_idx(directory)
    known = {image.tobytes() for image in data.embedded(range(10)).images}
    free = [row for row, image in enumerate(digits.images) if image.tobytes() not in known]
    return digits[np.random.default_rng(12345).permutation(free)[rows]]


def drawing(shape: pens.Shape, pen: float, degrees: float) -> np.ndarray:
    """[H, W] ink of a shape, turned clockwise as a scene turns."""
    y, x = (np.mgrid[0:_SIDE, 0:_SIDE] - (_SIDE - 1) / 2) / _UNIT
    turn = np.deg2rad(degrees)
    at = np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x
    half = 0.0 if shape.outlined else pen / 2
    return np.clip((half - shape.distance(*at)) * _UNIT + 0.5, 0, 1)


def tight(ink: np.ndarray) -> np.ndarray:
    """A drawing without its empty margin."""
    rows, columns = (np.flatnonzero(ink.max(axis=axis) > 0.1) for axis in (1, 0))
    return ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]


def boxed(ink: np.ndarray) -> np.ndarray:
    """[H, W] ink -> [28, 28] as MNIST was made: a box of 20, its centre of mass in the middle."""
    ink = tight(ink)
    size = [max(1, round(20 * side / max(ink.shape))) for side in ink.shape]
    picture = Image.fromarray(ink.astype(np.float32))
    small = np.asarray(picture.resize(size[::-1], Image.Resampling.BOX))
    places = np.indices(small.shape)
    corner = [
        int(np.clip(round(14 - float((small * place).sum() / small.sum())), 0, 28 - side))
        for place, side in zip(places, small.shape, strict=True)
    ]
    digit = np.zeros((28, 28), np.float32)
    digit[corner[0] : corner[0] + size[0], corner[1] : corner[1] + size[1]] = small
    return digit


def photographed(shape: pens.Shape, scene: Scene) -> np.ndarray | None:
    """A small photograph as the package sees it; None where it is refused."""
    size = (640, 480) if scene.size[0] > scene.size[1] else (480, 640)
    try:
        return normalise(take(shape, replace(scene, size=size)).file).digit
    except UserError:
        return None


def right(images: Iterable[np.ndarray | None], labels: np.ndarray) -> np.ndarray:
    """[P] bool: read rightly; what was refused is not."""
    images = list(images)
    blank = np.zeros((28, 28), np.float32)
    found = reader().read(np.stack([blank if image is None else image for image in images]))
    return (found == labels) & np.array([image is not None for image in images])


def compared(held: np.ndarray, before: np.ndarray) -> str:
    """Cells of a table: the share, how many were won and lost, and McNemar's exact test."""
    won, lost = int((held & ~before).sum()), int((before & ~held).sum())
    chance = binomtest(won, won + lost).pvalue if won + lost else 1.0
    return f"{100 * held.mean():.1f} % | {won} | {lost} | {chance:.2g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idx", type=Path, help="directory of MNIST's IDX files")
    parser.add_argument("--count", type=int, default=3000, help="digits of these files")
    parser.add_argument("--photographs", type=int, default=0, help="of other ones of them")
    options = parser.parse_args()
    if options.photographs and options.idx is None:
        parser.error("photographs are taken of digits of the IDX files")
    if options.idx is None:
        digits = calibration.kept_back(range(10))
    else:
        digits = other_digits(options.idx, slice(options.count))
    shapes = [pens.written(image) for image in digits.images]
    scenes = [draw_scene(scene_random(TUNING, number)) for number in range(len(shapes))]
    pairs = list(zip(shapes, scenes, strict=True))
    turned = [
        data.rotate(image[None], np.deg2rad([-scene.turn]))[0, 0]
        for image, scene in zip(digits.images, scenes, strict=True)
    ]
    ways = {
        "as they are": list(digits.images),
        "turned as the sheets are": turned,
        "drawn anew, one pen": [boxed(drawing(shape, _USUAL_PEN, 0)) for shape in shapes],
        "drawn anew, their pens": [boxed(drawing(shape, one.pen, 0)) for shape, one in pairs],
        "the same, turned": [boxed(drawing(shape, one.pen, one.turn)) for shape, one in pairs],
        "the same, by `images.normalise`": [
            normalise(1 - drawing(shape, one.pen, one.turn)).digit for shape, one in pairs
        ],
    }
    print("| digits | number | read rightly | won | lost | p |\n|---|---|---|---|---|---|")
    original = right(ways["as they are"], digits.labels)
    for name, images in ways.items():
        held = right(images, digits.labels)
        print(f"| {name} | {len(held)} | {compared(held, original)} |", flush=True)
    if options.photographs:
        _print_photographs(options.idx, options.photographs)


def _print_photographs(directory: Path, count: int) -> None:
    digits = other_digits(directory, slice(_FIRST_DIGIT, _FIRST_DIGIT + count))
    scenes = [draw_scene(scene_random(TUNING, _FIRST_SCENE + number)) for number in range(count)]
    shapes = map(pens.written, digits.images)
    taken = [photographed(shape, scene) for shape, scene in zip(shapes, scenes, strict=True)]
    original, held = right(digits.images, digits.labels), right(taken, digits.labels)
    hard = np.array([scene.harsh for scene in scenes])
    for name, some in (("all", hard | True), ("ordinary light", ~hard), ("hard light", hard)):
        print(f"| others, {name} | {some.sum()} | {compared(original[some], original[some])} |")
        print(f"| photographed, {name} | {some.sum()} | {compared(held[some], original[some])} |")


if __name__ == "__main__":
    main()
