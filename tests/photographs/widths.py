"""Which stroke widths are read best: python -m tests.photographs.widths --idx DIR [--count 3000]

Digits of MNIST's training file that the reader does not know, drawn anew with the pens of the
tuning set and no camera, with strokes left as they are or brought to several widths; each choice
compared with that of `images.normalise`, digit by digit.
"""

import argparse
from pathlib import Path
from unittest import mock

import numpy as np

from fgpvae.images import normalising
from tests.photographs import pens
from tests.photographs.losses import compared, drawing, other_digits, right, tight
from tests.photographs.scenes import draw_scene
from tests.photographs.sets import TUNING, scene_random

NAMES = "_THINNEST", "_THICKEST", "_THIN_TO", "_THICK_TO"
NEVER = 0.0, 99.0  # no stroke is thinner or thicker than these


def choices() -> dict[str, tuple[float, float, float, float]]:
    """Values of the settings by what they do."""
    thickest, thick_to = normalising._THICKEST, normalising._THICK_TO
    found = {"as they are in `images.normalise`": tuple(getattr(normalising, n) for n in NAMES)}
    found["none changed"] = (*NEVER, *NEVER)
    for width in (2.5, 2.8):
        found[f"at least {width}"] = (width, thickest, width, thick_to)
    for width in (2.5, 2.8):
        found[f"all {width}"] = (width, width, width, width)
    return found


def normalised(ink: np.ndarray) -> np.ndarray:
    """[h, w] tight ink -> [28, 28] by the last two steps of `images.normalise`."""
    return normalising._centred(normalising._with_stroke_width(ink, 0.0)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--idx", type=Path, required=True, help="directory of MNIST's IDX files")
    parser.add_argument("--count", type=int, default=3000)
    options = parser.parse_args()
    digits = other_digits(options.idx, slice(options.count))
    drawings = []
    for number, image in enumerate(digits.images):
        scene = draw_scene(scene_random(TUNING, number))
        drawings.append(tight(drawing(pens.written(image), scene.pen, scene.turn)))
    print("| strokes | read rightly | won | lost | p |\n|---|---|---|---|---|")
    usual = None
    for name, values in choices().items():
        with mock.patch.multiple(normalising, **dict(zip(NAMES, values, strict=True))):
            held = right(map(normalised, drawings), digits.labels)
        usual = held if usual is None else usual
        print(f"| {name} | {compared(held, usual)} |", flush=True)


if __name__ == "__main__":
    main()
