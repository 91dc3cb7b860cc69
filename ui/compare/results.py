"""The committed results of the experiments, joined with models evaluated here."""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from fgpvae.evaluation import comparison
from ui.shell import frame, palette

FORM, HUNDREDTHS, WHOLE = "{:.4f}", "{:.2f}", "{:,.0f}"  # formats of numbers
SECONDS = "seconds_an_epoch"
PAPER, LATER, HERE = "compared in the paper", "later models and variants", "evaluated here"


def load(name: str) -> dict[str, Any]:
    """Read a result from FGPVAE_RESULTS; empty if it is missing or damaged."""
    directory = Path(os.environ.get("FGPVAE_RESULTS") or frame.ROOT / "results")
    try:
        return json.loads((directory / f"{name}.json").read_text())
    except (OSError, ValueError):
        return {}


@dataclass(frozen=True)
class Spread:
    """Values of one number over seeds, and the format of their mean; false without values."""

    values: tuple[float, ...] = ()
    form: str = FORM
    stated: float | None = None  # a published standard deviation

    @classmethod
    def of(cls, found: dict[str, Any] | float | None, form: str = FORM) -> "Spread":
        """From an entry of a result, one value, or None."""
        values = found["values"] if isinstance(found, dict) else [found]
        return cls(tuple(value for value in values if value is not None), form)

    def __bool__(self) -> bool:
        return bool(self.values)

    @property
    def mean(self) -> float | None:
        if len(self.values) > 1:
            return fmean(self.values)
        return self.values[0] if self.values else None

    @property
    def sd(self) -> float | None:
        return float(np.std(self.values, ddof=1)) if len(self.values) > 1 else self.stated

    def __str__(self) -> str:
        numbers = [self.form.format(each) for each in (self.mean, self.sd) if each is not None]
        return " ± ".join(numbers) or "–"


@dataclass(frozen=True)
class Row:
    """A model with its scores, committed or measured here; without a title it is a reference."""

    name: str  # preset, shipped model or run
    title: str  # title of the model
    own: bool = False  # whether it was measured here
    scores: dict[str, Spread] = field(default_factory=dict)  # errors, and SECONDS
    by_views: dict[int, Spread] = field(default_factory=dict)
    published: dict[str, Spread] = field(default_factory=dict)
    processor: Spread = Spread()  # CPU seconds of the whole training
    epochs: Spread = Spread()
    parameters: Spread = Spread()
    complexity: str = ""
    chosen: str = ""  # rate and schedule, in the block with equal budgets
    digits: int | None = None  # number P of training digits of an own run, if known
    label: int = 3  # class of the test digits
    here: "Row | None" = None  # the evaluation here of the shipped model of this name

    @property
    def full_name(self) -> str:
        return self.name if self.own else f"{self.title} · {self.name}"

    @property
    def group(self) -> str:
        if self.own:
            return HERE
        return PAPER if self.title in ("CVAE", "GP-VAE", "FGP-VAE") else LATER

    @property
    def colour(self) -> str:
        if self.own:
            return palette.ACCENT
        return palette.GLOBAL if self.title.startswith("FGP-VAE") else palette.TRUTH


def row(entry: dict[str, Any]) -> Row:
    """A model from its entry in a result: a table or curves."""
    seconds, epochs = entry.get(SECONDS), entry.get("epochs")
    processor = Spread.of(entry.get("cpu_seconds"), WHOLE)
    if seconds and epochs and not processor:  # not recorded
        processor = Spread.of(epochs * seconds["mean"], f"about {WHOLE}")
    by_views, published = entry.get("mse_by_views") or entry.get("mse") or {}, {}
    if known := entry.get("published"):
        published = {
            "test_mse": Spread((known["mse"],), stated=known["sd"]),
            "extrapolation_mse": Spread.of(known.get("extrapolation")),
            SECONDS: Spread.of(known[SECONDS], HUNDREDTHS),
        }
    return Row(
        entry["preset"],
        entry["model"],
        scores={name: Spread.of(entry.get(name)) for name in comparison.TABLE}
        | {SECONDS: Spread.of(seconds, HUNDREDTHS)},
        by_views={int(views): Spread.of(found) for views, found in by_views.items()},
        published=published,
        processor=processor,
        epochs=Spread.of(epochs, WHOLE),
        parameters=Spread.of(entry.get("parameters"), WHOLE),
        complexity=entry.get("complexity", ""),
        chosen="{rate:g}, {schedule}".format(**entry["choice"]) if entry.get("choice") else "",
    )


def joined(committed: Sequence[Row], own: Sequence[Row]) -> list[Row]:
    """Join rows, each name once, with those evaluated here first."""
    here = {row.name: row for row in own}
    rows = [replace(row, here=here.pop(row.name, None)) for row in committed]
    return [*here.values(), *sorted(rows, key=lambda row: row.here is None)]
