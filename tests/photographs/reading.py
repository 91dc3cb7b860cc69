"""What the model reads in people's pictures: python -m tests.photographs.reading [--count 150]

Prints how well the angle of digits, photographs and drawings is found and how far it is believed,
and how well digits are told from other things. `--write docs/photographs.md` replaces the tables.
"""

import argparse
from pathlib import Path

import numpy as np
import torch

import fgpvae
from fgpvae import calibration, data, orientation
from fgpvae.familiarity import unfamiliarity
from fgpvae.metrics import circular_error
from fgpvae.models import Model
from tests.photographs import angles, familiarity
from tests.photographs.sets import REPORT
from tests.photographs.tables import replace_table


def angle_table(model: Model, count: int) -> str:
    """Errors of the angle, and how many beliefs that are stated as sure are right, as Markdown."""
    digits = data.unseen()[:: max(1, 500 // count)]
    turned, true = calibration.turned(digits, seed=0)
    seen: dict[str, tuple[np.ndarray, np.ndarray]] = {
        "digits of the package": (turned.numpy(), true.numpy())
    }
    for name, draw in (("photographs", angles.photographs), ("drawings", angles.drawings)):
        views = list(draw(REPORT, count))
        seen[name] = (
            np.stack([view.image for view in views]),
            np.array([view.angle for view in views]),
        )
    lines = [
        "| pictures | number | median error | within 15° | sure (95 % or more) | right of these |",
        "|---|---|---|---|---|---|",
    ]
    grid = torch.as_tensor(orientation.grid())
    for name, (images, angle) in seen.items():
        belief = torch.as_tensor(np.stack([_belief(model, image) for image in images]))
        share, right = calibration.stated(belief, grid, torch.as_tensor(angle))
        error = np.rad2deg(circular_error(grid[belief.argmax(-1)].numpy(), angle))
        sure = share >= calibration.SURE
        of_these = f"{100 * right[sure].double().mean():.0f} %" if bool(sure.any()) else "-"
        lines.append(
            f"| {name} | {len(images)} | {np.median(error):.1f}° | "
            f"{100 * right.double().mean():.0f} % | {100 * sure.double().mean():.0f} % | "
            f"{of_these} |"
        )
    return "\n".join(lines)


def _belief(model: Model, image: np.ndarray) -> np.ndarray:
    found = orientation.belief(model, image)
    assert found is not None
    return found


def familiarity_table(model: Model, count: int) -> str:
    """Shares of the three answers among digits and other things, as Markdown."""
    assert model.calibration is not None
    limits = familiarity.Limits(*model.calibration.familiar)

    def score(views: np.ndarray) -> np.ndarray:
        return np.array([unfamiliarity(model, view) for view in views])

    found = familiarity.measure(score, limits, REPORT, count)
    lines = ["| drawings of | fine | unlike | no digit |", "|---|---|---|---|"]
    for name, shares in (("digits", found.digits), ("other things", found.others)):
        lines.append(f"| {name} | {' | '.join(f'{100 * s:.0f} %' for s in shares.values())} |")
    kinds = ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in found.kinds.items())
    return "\n".join([*lines, "", f"Other things that are not called fine: {kinds}."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="best")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    model = fgpvae.load_pretrained(options.model)
    text = f"{angle_table(model, options.count)}\n\n{familiarity_table(model, options.count)}"
    print(text)
    if options.write:
        replace_table(options.write, "reading", text)


if __name__ == "__main__":
    main()
