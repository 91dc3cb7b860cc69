"""What makes a photograph hard to read: python -m tests.photographs.losses

The digits kept back, which neither the reader nor the report has: as they are, turned like the
sheets of the tuning set, drawn anew with pens and laid into MNIST's box without the package, and
the same drawings through `images.normalise`. No light, paper or camera is in it.
"""

import numpy as np
from PIL import Image

from fgpvae import calibration, data
from fgpvae.images import normalise
from tests.photographs import pens
from tests.photographs.judge import reader
from tests.photographs.scenes import draw_scene
from tests.photographs.sets import TUNING, scene_random

_SIDE, _UNIT = 200, 130  # pixels of a drawing, and of its longer extent
_USUAL_PEN = 0.12


def drawing(shape: pens.Shape, pen: float, degrees: float) -> np.ndarray:
    """[H, W] ink of a shape, turned clockwise as a scene turns."""
    y, x = (np.mgrid[0:_SIDE, 0:_SIDE] - (_SIDE - 1) / 2) / _UNIT
    turn = np.deg2rad(degrees)
    at = np.cos(turn) * x + np.sin(turn) * y, np.cos(turn) * y - np.sin(turn) * x
    half = 0.0 if shape.outlined else pen / 2
    return np.clip((half - shape.distance(*at)) * _UNIT + 0.5, 0, 1)


def boxed(ink: np.ndarray) -> np.ndarray:
    """[H, W] ink -> [28, 28] as MNIST was made: a box of 20, its centre of mass in the middle."""
    rows, columns = (np.flatnonzero(ink.max(axis=axis) > 0.1) for axis in (1, 0))
    tight = ink[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1]
    size = [max(1, round(20 * side / max(tight.shape))) for side in tight.shape]
    picture = Image.fromarray(tight.astype(np.float32))
    small = np.asarray(picture.resize(size[::-1], Image.Resampling.BOX))
    places = np.indices(small.shape)
    corner = [
        int(np.clip(round(14 - float((small * place).sum() / small.sum())), 0, 28 - side))
        for place, side in zip(places, small.shape, strict=True)
    ]
    digit = np.zeros((28, 28), np.float32)
    digit[corner[0] : corner[0] + size[0], corner[1] : corner[1] + size[1]] = small
    return digit


def main() -> None:
    digits = calibration.kept_back(range(10))
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
    print(f"| {len(digits)} digits kept back | read rightly |\n|---|---|")
    for name, images in ways.items():
        right = reader().read(np.stack(images)) == digits.labels
        print(f"| {name} | {100 * right.mean():.1f} % |")


if __name__ == "__main__":
    main()
