"""How many random styles give a digit: python scripts/measure_styles.py

Styles of `best`, drawn in four ways for each class, decoded upright, and judged by the sentence
that Extrapolate has for a picture: fine, unlike the digits it knows, or no digit.
"""

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import torch

sys.path.insert(0, str(Path(__file__).parents[1]))

from fgpvae import latents, load_pretrained
from fgpvae.data import ANGLES
from fgpvae.familiarity import Familiarity, familiarity
from fgpvae.models import Model

DIGITS, DRAWS = 360, 20  # training digits of a class, and styles that are drawn


def ways(own: np.ndarray, density: latents.Styles) -> dict[str, np.ndarray]:
    """Styles [DRAWS, G], by how they were drawn."""
    random = np.random.default_rng(0)
    row = random.integers(len(density.factor), size=DRAWS)
    noise = random.normal(size=(DRAWS, len(density.factor)))
    return {
        "training digits' own": own[random.integers(len(own), size=DRAWS)],
        "near one of them": density.draw(row, noise),
        "a Gaussian fitted to them": random.multivariate_normal(own.mean(0), np.cov(own.T), DRAWS),
        "the paper's prior": random.normal(size=(DRAWS, own.shape[1])),
    }


@torch.no_grad()
def drawn(model: Model, code: torch.Tensor, styles: np.ndarray) -> np.ndarray:
    """Upright pictures [N, H, W] of styles [N, G]; `code` [L] has the local channels."""
    codes = code.repeat(len(styles), 1)
    codes[:, list(model.styles)] = torch.as_tensor(styles, dtype=codes.dtype)
    return model.decode(codes.float()).numpy()


def main() -> None:
    model, counts = load_pretrained("best"), dict[str, Counter[Familiarity | None]]()
    for label in range(10):
        views = latents.digits((label,), new=False, count=DIGITS, angles=ANGLES[::4])
        own, density = latents.own_styles(model, views), latents.styles(model, views)
        first = views[np.arange(1)]
        posterior = model.infer(first.images, first.angles, first.observed)
        code = torch.as_tensor(posterior.mean(np.zeros((1, 1))))[0, 0]
        for way, styles in ways(own, density).items():
            found = [familiarity(model, image) for image in drawn(model, code, styles)]
            counts.setdefault(way, Counter()).update(found)
    print("| styles | fine | unlike | no digit |\n|---|---|---|---|")
    for way, judged in counts.items():
        print(f"| {way} | {' | '.join(str(judged[verdict]) for verdict in Familiarity)} |")


if __name__ == "__main__":
    main()
