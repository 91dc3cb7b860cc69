"""The curves of a run, and those of another over them, in one chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from fgpvae.configs import CUBES, OBJECTS, DataConfig
from ui import charts
from ui.shell import palette
from ui.shell.kept import kept

ROW = 170  # pixels of a row of panels
COLUMNS = 2
MOST_POINTS = 150  # of a line
SETTLED = 0.05  # the first epochs are far from the rest; beyond these they may leave the frame
OTHER_KEY = "train.other"  # the run whose curves are over those of the chosen one


@dataclass(frozen=True)
class Panel:
    """One curve of a run."""

    name: str  # of the column in the metrics
    title: str
    unit: str
    logarithmic: bool = False


@dataclass(frozen=True)
class Record:
    """A run: its name, its lines, and how many epochs it is to have."""

    name: str
    lines: Sequence[dict[str, Any]]
    epochs: int


PANELS = (
    Panel("loss", "Loss, what is minimised", "nats"),
    Panel("mse", "Reconstruction", "error of a pixel", True),
    Panel("kl", "KL, beyond the prior", "nats a digit"),
    Panel("multiplier", "λ, what an error costs", "nats", True),
    Panel("validation_mse", "Validation, digits set aside", "error of a pixel", True),
)
BEFORE = "The curves begin with the first epoch."


def no_validation(data: DataConfig) -> str:
    """Why there is no curve of validation; only of some splits can digits be set aside."""
    if data.split == CUBES:
        return "No figures are set aside for validation; Compare tests a run on new figures."
    if data.split == OBJECTS:
        return "No objects are set aside for validation."
    if data.split == "continuous":
        return "No digits are set aside for validation; Compare tests a run on new digits."
    return "No digits were set aside: choose validation digits to see the error on new ones."


def shown(records: Sequence[Record]) -> list[Panel]:
    """The panels that there are numbers for; all but validation before the first epoch."""
    found = [p for p in PANELS if any(points(r.lines, p.name, p.logarithmic) for r in records)]
    return found or list(PANELS[:-1])


def height() -> int:
    """Of the chart, the same however many panels there are, so that nothing jumps."""
    return -(-len(PANELS) // COLUMNS) * ROW + 80


def chart(records: Sequence[Record]) -> dict[str, Any]:
    """Every curve of the first run, and of a second in grey over it, as the values of a figure.

    With each epoch only these change: Plotly would take ten times as long to make the whole anew.
    """
    import plotly.graph_objects as go

    those = shown(records)
    layout = deepcopy(_frame(tuple(those)))
    styles = ((palette.GLOBAL, "solid"), (charts.GREY, "dot"))
    lines = []
    for index, panel in enumerate(those):
        number = str(index + 1) if index else ""
        every: list[float] = []
        for record, (colour, dash) in zip(records, styles, strict=False):
            found = thinned(points(record.lines, panel.name, panel.logarithmic))
            every += settled([value for _, value in found])
            lines.append(
                charts.line(
                    [epoch for epoch, _ in found],
                    [value for _, value in found],
                    record.name,
                    colour,
                    "epoch %{x}: %{y:.4g}",
                    dash=dash,
                    legendgroup=record.name,
                    showlegend=index == 0,
                    xaxis=f"x{number}",
                    yaxis=f"y{number}",
                )
            )
        none = {"showticklabels": False, "showgrid": False}
        layout[f"yaxis{number}"] |= axis(every, panel.logarithmic) if every else none
    for name in layout:
        if name.startswith("xaxis"):
            layout[name] |= {"range": [0, max(each.epochs for each in records)]}
    if not any(record.lines for record in records):
        # in the first panel: in the middle of the chart are the numbers of an axis
        place = {"xref": "x domain", "yref": "y domain", "x": 0.5, "y": 0.5, "showarrow": False}
        layout["annotations"] = [*layout["annotations"], {"text": BEFORE, **place}]
    layout["showlegend"] = len(records) > 1
    return {"data": go.Figure(lines).to_dict()["data"], "layout": layout}


@kept(4)
def _frame(those: tuple[Panel, ...]) -> dict[str, Any]:
    """The layout of the chart without its numbers."""
    rows = -(-len(those) // COLUMNS)
    made = charts.panels(
        [panel.title for panel in those],
        COLUMNS,
        (height() - 50) // rows,
        gap=72,
        horizontal_spacing=0.32 / COLUMNS,  # numbers and the title of an axis
    )
    for index, panel in enumerate(those):
        where = {"row": index // COLUMNS + 1, "col": index % COLUMNS + 1}
        made.update_yaxes(title_text=panel.unit, nticks=4, **where)
    # upright numbers, few enough for the narrow panels of a phone
    made.update_xaxes(nticks=4, tickangle=0)
    made.update_xaxes(title_text="epoch", row=rows)
    layout: dict[str, Any] = made.to_dict()["layout"]
    return layout


def alt(records: Sequence[Record]) -> str:
    """The newest numbers in words."""
    said = []
    for record in records:
        newest = [
            f"{panel.title.partition(',')[0]} {found[-1][1]:.4g}"
            for panel in PANELS
            if (found := points(record.lines, panel.name, panel.logarithmic))
        ]
        said.append(f"{record.name}: {', '.join(newest) or 'no epoch yet'}")
    return "Curves over the epochs. " + "; ".join(said)


def points(
    metrics: Sequence[dict[str, Any]], name: str, logarithmic: bool
) -> list[tuple[float, float]]:
    """Epoch and value where there is a finite one (and a positive one on a logarithmic axis)."""
    found = []
    for line in metrics:
        value = line.get(name)
        if not isinstance(value, int | float) or not math.isfinite(value):
            continue
        if value > 0 or not logarithmic:
            found.append((float(line["epoch"]), float(value)))
    return found


def thinned(found: list[tuple[float, float]], most: int = MOST_POINTS) -> list[tuple[float, float]]:
    """At most about `most` of the points; the first and the last are always there."""
    step = max(math.ceil(len(found) / most), 1)
    return found[:-1:step] + found[-1:]


def settled(values: list[float]) -> list[float]:
    """Without the first ones."""
    return values[int(SETTLED * len(values)) :]


def axis(values: Sequence[float], logarithmic: bool) -> dict[str, Any]:
    """An axis a little wider than the values."""
    low, high = min(values), max(values)
    if not logarithmic:
        margin = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
        return {"range": [low - margin, high + margin]}
    margin = 0.08 * max(math.log10(high / low), math.log10(1.2))
    ends = [math.log10(low) - margin, math.log10(high) + margin]
    return charts.log_axis(values) | {"range": ends}
