"""How little one view of a figure of cubes leaves open, and how far a model is from that.

python scripts/measure_cube_floor.py [MODEL]

An ideal observer knows all 216 shapes in all attitudes, finds those that look like the view, and
answers with their mean. Beside it the errors of a model on figures that it was trained on and on
others: where these are alike, it lacks capacity or training rather than figures.
"""

import sys
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parent.parent))

from fgpvae import checkpoints, evaluation
from fgpvae.data import cubes

LIKE = 0.0005  # variance of a pixel between views that look the same
QUARTER = cubes.ANGLES // 4
EACH = 6  # every sixth training figure is enough


def ideal_error(family: Tensor, figures: Tensor, first: int) -> float:
    """Error of the mean of all of a family [N, 24, H, W] that look alike from view `first`."""
    known = torch.cat([family.roll(-QUARTER * k, 1) for k in range(4)])
    distance = torch.cdist(figures[:, first].flatten(1), known[:, first].flatten(1))
    belief = (-0.5 / LIKE * distance.square()).softmax(1)  # [P, 4 N]
    answer = (belief @ known.flatten(1)).view(figures.shape)
    asked = torch.arange(cubes.ANGLES) != first
    return float((answer - figures)[:, asked].square().mean())


def main() -> None:
    parts = cubes.splits()
    shapes = {
        "validation": cubes.turned_copies(parts.validation),
        "unseen": cubes.turned_copies(parts.unseen),
    }
    family = cubes.views_of(cubes.all_copies(cubes.chains()))
    for name, figures in shapes.items():
        views = cubes.views_of(figures)
        for first in (0, 2):
            error = ideal_error(family, views, first)
            print(f"ideal observer, {name}, one view at {15 * first} degrees: {error:.5f}")
    model = checkpoints.load_pretrained(sys.argv[1] if len(sys.argv) > 1 else "cubes")
    shapes["training"] = cubes.turned_copies(parts.training)[::EACH]
    for name, figures in shapes.items():
        views = cubes.views_of(figures)
        errors = [evaluation.task_mse(model, cubes.task(views, n)) for n in cubes.GIVEN]
        print(f"model, {name}:", " ".join(f"{error:.4f}" for error in errors))


if __name__ == "__main__":
    main()
