"""Coloured moving sprites, as an example of own objects.

A sprite has a shape, a colour, a size and a height at which it moves from the left to the right;
the view is the distance covered, in metres from 0 to 10. With --circle it goes around the middle,
and the view is its direction in degrees. Each sprite is seen at places of its own, some more often
than others.

example: python scripts/make_sprites.py sprites.npz
"""

import argparse
import colorsys
from pathlib import Path

import numpy as np

SHAPES = ("disc", "square", "diamond", "ring", "triangle")
LENGTH = 10.0  # metres, of the line
FINE = 4  # samples a pixel and direction, so that edges are smooth


def inside(shape: str, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Which points (in sizes of the sprite, from its centre, y down) belong to it."""
    radius = np.hypot(x, y)
    return {
        "disc": radius < 1,
        "square": np.maximum(abs(x), abs(y)) < 0.88,
        "diamond": abs(x) + abs(y) < 1.2,
        "ring": (radius < 1.05) & (radius > 0.5),
        "triangle": (y < 0.8) & (y > 2 * abs(x) - 1.1),
    }[shape]


def draw(
    shape: str, colour: np.ndarray, size: float, x: float, y: float, height: int, width: int
) -> np.ndarray:
    """One image [height, width, 3] of a sprite at (x, y), in pixels."""
    rows, columns = ((np.arange(FINE * n) + 0.5) / FINE for n in (height, width))
    fine = inside(shape, (columns[None] - x) / size, (rows[:, None] - y) / size)
    cover = fine.reshape(height, FINE, width, FINE).mean((1, 3))
    return np.rint(255 * cover[..., None] * colour).astype(np.uint8)


def make(
    objects: int,
    views: int,
    height: int,
    width: int,
    circle: bool = False,
    grey: bool = False,
    seed: int = 0,
) -> dict[str, np.ndarray]:
    """The arrays of an archive: images [N, H, W, 3] (or [N, H, W]), object [N], view [N]."""
    random = np.random.default_rng(seed)
    images, names, places = [], [], []
    for number in range(objects):
        shape = SHAPES[number % len(SHAPES)]
        colour = np.array(colorsys.hsv_to_rgb(random.random(), 0.35 + 0.6 * random.random(), 1))
        size = min(height, width) * random.uniform(0.13, 0.22)
        level = height * random.uniform(0.3, 0.7)
        count = int(random.integers(max(2, views // 2), views + 1))
        if circle:
            view = np.sort(random.uniform(0, 360, count))
            reach = min(height, width) / 2 - 1.2 * size
            angle = np.deg2rad(view)
            xs, ys = width / 2 + reach * np.cos(angle), height / 2 - reach * np.sin(angle)
        else:
            view = np.sort(random.uniform(0, LENGTH, count))
            margin = 1.2 * size
            xs = margin + (width - 2 * margin) * view / LENGTH
            ys = np.full(count, level)
        for x, y in zip(xs, ys, strict=True):
            images.append(draw(shape, colour, size, x, y, height, width))
        names += [f"{shape} {number}"] * count
        places += view.tolist()
    pixels = np.stack(images)
    if grey:
        pixels = np.rint(pixels.mean(-1)).astype(np.uint8)
    return {"images": pixels, "object": np.array(names), "view": np.array(places)}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="the archive to write, .npz")
    parser.add_argument("--objects", type=int, default=240)
    parser.add_argument("--views", type=int, default=16, help="most views of an object")
    parser.add_argument("--size", default="24x32", help="height x width in pixels, at most 64x64")
    parser.add_argument("--circle", action="store_true", help="around the middle, with period 360")
    parser.add_argument("--grey", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    sides, count = options.size.split("x"), (options.objects, options.views)
    height, width = int(sides[0]), int(sides[-1])
    arrays = make(*count, height, width, options.circle, options.grey, options.seed)
    np.savez_compressed(options.out, **arrays)
    turn = " (period 360)" if options.circle else ""
    what = f"{len(arrays['view'])} images of {options.objects} sprites"
    print(f"{what}, {height} x {width} pixels{turn}: {options.out}")


if __name__ == "__main__":
    main()
