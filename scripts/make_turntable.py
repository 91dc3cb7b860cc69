"""Twenty figures of cubes on a turntable, as an example of few objects with many views.

Each is seen at 72 angles, 5 degrees apart, in grey pictures of 32 x 32 pixels; the period is 360.

example: python scripts/make_turntable.py turntable.npz
"""

import argparse
import random
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from fgpvae.data import cubes
from fgpvae.data.cube_figures import Figure, grown, random_chain

FIGURES, VIEWS = 20, 72


def figures(seed: int) -> list[Figure]:
    """Figures of 5 to 10 cubes: half chains, half grown cube by cube."""
    stream = random.Random(seed)
    found = [
        random_chain(stream, stream.choice([6, 7, 8, 9, 10]), stream.choice([2, 3, 4]))
        for _ in range(FIGURES // 2)
    ]
    found += [grown(stream, stream.randint(5, 10)) for _ in range(FIGURES // 2)]
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("out", type=Path, help="the archive to write, .npz")
    parser.add_argument("--seed", type=int, default=7)
    options = parser.parse_args()
    view = np.arange(VIEWS) * (360 / VIEWS)
    images = cubes.draw(figures(options.seed), np.tile(np.deg2rad(view), (FIGURES, 1)))
    np.savez_compressed(
        options.out,
        images=images.reshape(-1, cubes.SIZE, cubes.SIZE),
        object=np.repeat(np.arange(FIGURES), VIEWS),
        view=np.tile(view, FIGURES),
    )
    print(f"{images.shape[0] * VIEWS} images of {FIGURES} figures (period 360): {options.out}")


if __name__ == "__main__":
    main()
