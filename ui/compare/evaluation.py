"""One's own models measured by the benchmark, beside the committed results."""

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from fgpvae import comparison, runs
from fgpvae.experiments.common import seconds_an_epoch
from ui.catalog import Choice
from ui.catalog.results import Curve, Row, Spread


@dataclass(frozen=True)
class Measured:
    """A model of the picker after its test."""

    row: Row
    by_views: dict[int, float]  # error against the number of context views
    digits: int | None  # P that it was trained on, where that is known
    label: int  # the class of the digits that it was tested on


@st.cache_resource(show_spinner=False)
def measured() -> dict[Choice, Measured]:
    """What has been measured since the server started, for all sessions; of a name the newest."""
    return {}


def keep(choice: Choice, found: Measured) -> None:
    every = measured()
    for other in list(every):
        if other.name == choice.name:
            every.pop(other, None)
    every[choice] = found


def measure(choice: Choice, progress: Callable[[float], None]) -> Measured:
    """Test a model; `progress` is told the share that is done."""
    model, config = choice.load(), choice.config
    parts = 2 if model.takes_new_digits else 1
    errors = comparison.table_figures(
        model, config.data, config.seed, lambda share: progress(share / parts)
    )
    label = comparison.table_label(choice.classes)
    by_views: dict[int, float] = {}
    if model.takes_new_digits:
        by_views = comparison.mse_by_views(
            model, label, progress=lambda share: progress((1 + share) / parts)
        )
    seconds, digits = _cost(choice) if choice.own else (Spread(), None)
    row = Row(
        choice.name,
        choice.title,
        True,
        {n: Spread() if value is None else Spread((value,)) for n, value in errors.items()},
        seconds,
        parameters=sum(p.numel() for p in model.parameters()),
    )
    found = Measured(row, by_views, digits, label)
    keep(choice, found)
    return found


def _cost(choice: Choice) -> tuple[Spread, int | None]:
    """Seconds an epoch of a run, and the number of digits that it was trained on."""
    run = runs.open_run(choice.path.parent)
    if not run.metrics():
        return Spread(), None
    known = choice.config.data.source == "embedded"
    digits = runs.build_source(choice.config)[0].digits if known else None
    return Spread((seconds_an_epoch(run),)), digits


def own_curve(found: Measured) -> Curve:
    points = {views: Spread((error,)) for views, error in found.by_views.items()}
    return Curve(found.row.name, found.row.colour, points)
