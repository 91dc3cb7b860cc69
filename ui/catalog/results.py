"""The committed results of the experiments, joined with models evaluated here."""

import json
import os
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from fgpvae.evaluation import comparison
from ui.shell import frame, palette

METRICS = {
    "test_mse": "Held-out angle",
    "extrapolation_mse": "New digits",
    "one_view_mse": "New digits, one view",
}
EXPLAINED = {
    "test_mse": (
        "Tested on 270 training digits at 157.5°, an angle that was left out of the training."
    ),
    "extrapolation_mse": "Tested on 40 new digits at 157.5°, given eleven of their other views.",
    "one_view_mse": "Tested on 40 new digits at 15 angles, given their upright view only. The "
    "true pictures are made by rotating that view, so a geometric rotation "
    "makes no error.",
}
TRIVIAL = {
    "zeros": "black",
    "mean_image": "mean image",
    "mean_of_neighbours": "mean of neighbours",
    "pca_8": "PCA 8",
    "pca_16": "PCA 16",
    "pca_32": "PCA 32",
    "rotated_neighbour": "geometric rotation",
}


def directory() -> Path:
    """The directory of the results: FGPVAE_RESULTS, or `results` beside app.py."""
    return Path(os.environ.get("FGPVAE_RESULTS") or frame.ROOT / "results")


def load(name: str) -> dict[str, Any] | None:
    """Read a result; None if it is missing or damaged."""
    try:
        return json.loads((directory() / f"{name}.json").read_text())
    except (OSError, ValueError):
        return None


@dataclass(frozen=True)
class Spread:
    """Values of one number over seeds."""

    values: tuple[float, ...] = ()
    stated: float | None = None  # a published standard deviation

    @classmethod
    def of(cls, value: float | None) -> "Spread":
        """A value of one seed, or None."""
        return cls() if value is None else cls((value,))

    @property
    def mean(self) -> float | None:
        return mean(self.values) if self.values else None

    @property
    def sd(self) -> float | None:
        return stdev(self.values) if len(self.values) > 1 else self.stated

    def text(self, digits: int = 4) -> str:
        if not self.values:
            return "–"
        spread = "" if self.sd is None else f" ± {self.sd:.{digits}f}"
        return f"{self.mean:.{digits}f}{spread}"


def spread(found: dict[str, Any] | None) -> Spread:
    return Spread(tuple(found["values"])) if found else Spread()


@dataclass(frozen=True)
class Row:
    """A model in the table."""

    name: str  # preset, shipped model or run
    title: str  # title of the model
    own: bool  # whether it was measured here, not committed
    errors: dict[str, Spread]
    seconds: Spread = Spread()
    complexity: str = "–"
    parameters: int | None = None
    published: dict[str, float] = field(default_factory=dict)
    epochs: int | None = None
    processor: Spread = Spread()  # CPU seconds of the whole training
    chosen: str = ""  # rate and schedule, in the block with equal budgets
    here: "Row | None" = None  # the evaluation here of the shipped model of this name

    @property
    def training_seconds(self) -> float | None:
        """CPU seconds of the whole training; if not recorded, epochs times seconds an epoch."""
        if self.processor.values or self.epochs is None or self.seconds.mean is None:
            return self.processor.mean
        return self.epochs * self.seconds.mean

    @property
    def of_paper(self) -> bool:
        """Whether the paper compares this model."""
        return self.title in ("CVAE", "GP-VAE", "FGP-VAE")

    @property
    def label(self) -> str:
        return self.name if self.own else f"{self.title} · {self.name}"

    @property
    def colour(self) -> str:
        if self.own:
            return palette.ACCENT
        return palette.GLOBAL if self.title.startswith("FGP-VAE") else palette.TRUTH


PUBLISHED, EQUAL = "published", "equal"
BLOCKS = {EQUAL: "Equal budgets", PUBLISHED: "Each with its own settings"}


def blocks(table: dict[str, Any] | None) -> list[str]:
    """Return the blocks of the table that have rows."""
    return [block for block in BLOCKS if _rows(table, block)]


def _rows(table: dict[str, Any] | None, block: str) -> list[dict[str, Any]]:
    found = table or {}
    if block == EQUAL:
        found = found.get("equal", {})
    return found.get("rows", [])


def committed_rows(table: dict[str, Any] | None, block: str = PUBLISHED) -> list[Row]:
    return [
        Row(
            row["preset"],
            row["model"],
            False,
            {name: spread(row[name]) for name in comparison.TABLE},
            spread(row["seconds_an_epoch"]),
            row["complexity"],
            row["parameters"],
            row["published"] or {},
            row["epochs"],
            spread(row.get("cpu_seconds")),
            "{rate:g}, {schedule}".format(**row["choice"]) if row.get("choice") else "",
        )
        for row in _rows(table, block)
    ]


def joined(committed: list[Row], own: list[Row]) -> list[Row]:
    """Join rows, each name once, with those evaluated here first."""
    here = {row.name: row for row in own}
    rows = [replace(row, here=here.pop(row.name, None)) for row in committed]
    return [*here.values(), *sorted(rows, key=lambda row: row.here is None)]


def terms(table: dict[str, Any] | None, block: str) -> str:
    """Describe the training budgets of a block."""
    if block == EQUAL and table:
        return (
            f"All models get the same images, {table['equal']['epochs']} epochs and averaged "
            "weights. Learning rate and schedule were chosen in the same way for each, on "
            "training views that were set aside."
        )
    return (
        "Each model with its own settings: epochs, averaging and schedule differ, which "
        "explains part of the differences."
    )


@dataclass(frozen=True)
class Curve:
    """Error against the number of context views."""

    name: str
    colour: str
    points: dict[int, Spread]
    dash: str = "solid"


def committed_curves(result: dict[str, Any] | None) -> list[Curve]:
    return [_curve(curve, curve["mse"]) for curve in (result["curves"] if result else [])]


def equal_curves(table: dict[str, Any] | None) -> list[Curve]:
    """Curves of the models in the equal block that take new digits."""
    rows = _rows(table, EQUAL)
    return [_curve(row, row["mse_by_views"]) for row in rows if row.get("mse_by_views")]


def _curve(row: dict[str, Any], mse: dict[str, Any]) -> Curve:
    colour = palette.GLOBAL if row["model"].startswith("FGP-VAE") else palette.TRUTH
    points = {int(views): spread(found) for views, found in mse.items()}
    return Curve(row["preset"], colour, points)
