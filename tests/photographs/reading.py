"""What the model reads in people's pictures: python -m tests.photographs.reading [--count 150]

Prints how well the angle of digits, photographs and drawings is found and how far it is believed,
and how well digits are told from other things. `--write docs/photographs.md` replaces the tables.
"""

import argparse
from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np
import torch

import fgpvae
from fgpvae import data, orientation
from fgpvae.data import circular_error
from fgpvae.evaluation import calibration
from fgpvae.models import Model
from fgpvae.orientation import picture_scores
from fgpvae.orientation.novelty import features
from tests.photographs import angles, familiarity
from tests.photographs.angles import Turned
from tests.photographs.sets import REPORT
from tests.stress.table import replace_table


def pictures(count: int) -> dict[str, list[Turned]]:
    """Digits of the package, photographs and drawings, by the names they have in the table."""
    digits = data.unseen()[:: max(1, 500 // count)]
    images, true = calibration.turned(digits, seed=0)
    return {
        "digits of the package": [
            Turned(image.numpy(), float(angle), int(label))
            for image, angle, label in zip(images, true, digits.labels, strict=True)
        ],
        "photographs": list(angles.photographs(REPORT, count)),
        "drawings": list(angles.drawings(REPORT, count)),
    }


def angle_table(model: Model, seen: dict[str, list[Turned]]) -> str:
    """Errors of the angle, and how many beliefs that are stated as sure are right, as Markdown."""
    lines = [
        "| pictures | number | median error | within 15° | sure (95 % or more) | right of these "
        "| within 15°, class given |",
        "|---|---|---|---|---|---|---|",
    ]
    grid = torch.as_tensor(orientation.grid())
    for name, views in seen.items():
        angle = np.array([view.angle for view in views])
        scores = [picture_scores.score(model, view.image, grid) for view in views]
        beliefs, said = (
            torch.as_tensor(
                np.stack(
                    [
                        orientation.of_scores(model, each, view.label if told else None)
                        for each, view in zip(scores, views, strict=True)
                    ]
                )
            )
            for told in (False, True)
        )
        share, right = calibration.stated(beliefs, grid, torch.as_tensor(angle))
        _, said_right = calibration.stated(said, grid, torch.as_tensor(angle))
        error = np.rad2deg(circular_error(grid[beliefs.argmax(-1)].numpy(), angle))
        sure = share >= calibration.SURE
        of_these = f"{100 * right[sure].double().mean():.0f} %" if bool(sure.any()) else "-"
        lines.append(
            f"| {name} | {len(views)} | {np.median(error):.1f}° | {_percent(right)} | "
            f"{_percent(sure)} | {of_these} | {_percent(said_right)} |"
        )
    return "\n".join(lines)


def _percent(held: torch.Tensor) -> str:
    return f"{100 * held.double().mean():.0f} %"


def familiarity_table(model: Model, photographs: Iterable[np.ndarray], count: int) -> str:
    """Shares of the three answers among digits and other things, as Markdown."""
    assert model.calibration is not None
    found, seen = familiarity.measure(
        partial(features, model),
        np.array(model.calibration.unfamiliarity),
        familiarity.Limits(*model.calibration.familiar),
        photographs,
        REPORT,
        count,
    )
    lines = ["| pictures | number | fine | unlike | no digit |", "|---|---|---|---|---|"]
    for name, answers in found.items():
        shares = [(answers == each).mean() for each in ("fine", "unlike", "none")]
        said = " | ".join(f"{100 * share:.0f} %" for share in shares)
        lines.append(f"| {name} | {len(answers)} | {said} |")
    kinds = ", ".join(f"{kind} {100 * share:.0f} %" for kind, share in seen.items())
    return "\n".join([*lines, "", f"Other things that are not called fine: {kinds}."])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", default="best")
    parser.add_argument("--count", type=int, default=150)
    parser.add_argument("--things", type=int, default=300, help="drawings of either kind")
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    model = fgpvae.load_pretrained(options.model)
    seen = pictures(options.count)
    photographs = [view.image for view in seen["photographs"]]
    text = "\n\n".join(
        [angle_table(model, seen), familiarity_table(model, photographs, options.things)]
    )
    print(text)
    if options.write:
        replace_table(options.write, "reading", f"{text}\n")


if __name__ == "__main__":
    main()
