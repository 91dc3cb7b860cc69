"""The curves of a run, with those of another one, in one chart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from fgpvae.runs import Run
from ui import charts
from ui.shell import palette

COLUMNS, HEIGHT = 2, 590  # the height in pixels does not depend on the number of panels
MOST_POINTS = 150  # width of a line
OFTEN = 3.0  # seconds between two charts, as drawing one takes longer than many an epoch
SETTLED = 0.05  # share of epochs with extreme values that may lie outside the axes
STYLES = ((palette.GLOBAL, "solid"), (charts.GREY, "dot"))  # colours of the two runs


class Panel(NamedTuple):
    name: str  # column in the metrics
    title: str
    unit: str
    logarithmic: bool = False


class Record(NamedTuple):
    """A run: its name, its metrics, and its number of epochs."""

    name: str
    lines: Sequence[dict[str, Any]]
    epochs: int


PANELS = (
    Panel("loss", "Loss", "nats"),
    Panel("mse", "Reconstruction error", "squared error", True),
    Panel("kl", "KL divergence from the prior", "nats"),
    Panel("multiplier", "Weight λ of the error", "nats", True),
    Panel("validation_mse", "Validation error", "squared error", True),
)
BEFORE = "The curves begin with the first epoch."


def record(run: Run) -> Record:
    """A run; while it trains, epochs that end less than `OFTEN` seconds after another wait."""
    lines = run.metrics()
    if run.active and lines:
        since = lines[-1]["seconds"] // OFTEN * OFTEN
        lines = lines[: 1 + next(k for k, line in enumerate(lines) if line["seconds"] >= since)]
    return Record(run.name, lines, run.config.training.epochs)


def chart(records: Sequence[Record]) -> go.Figure:
    """Draw all curves of the first run, and those of the second in grey."""
    panels = [p for p in PANELS if any(points(r.lines, p) for r in records)] or PANELS[:-1]
    rows = -(-len(panels) // COLUMNS)
    titles, spacing = [panel.title for panel in panels], 0.32 / COLUMNS  # numbers and an axis title
    made = charts.panels(titles, COLUMNS, (HEIGHT - 50) // rows, 72, horizontal_spacing=spacing)
    # few horizontal numbers, for the narrow panels on a phone
    made.update_xaxes(nticks=4, tickangle=0, range=[0, max(each.epochs for each in records)])
    made.update_xaxes(title_text="epoch", row=rows)
    for index, panel in enumerate(panels):
        place = {"row": index // COLUMNS + 1, "col": index % COLUMNS + 1}
        settled: list[float] = []
        for record, (colour, dash) in zip(records, STYLES, strict=False):
            found = points(record.lines, panel)
            step = math.ceil(len(found) / MOST_POINTS) or 1
            found = found[:-1:step] + found[-1:]  # the last point is always shown
            settled += [value for _, value in found[int(SETTLED * len(found)) :]]
            line = charts.line(
                [epoch for epoch, _ in found],
                [value for _, value in found],
                record.name,
                colour,
                "epoch %{x}: %{y:.4g}",
                dash=dash,
                legendgroup=record.name,
                showlegend=index == 0,
            )
            made.add_trace(line, **place)
        empty = {"showticklabels": False, "showgrid": False}
        shown = axis(settled, panel.logarithmic) if settled else empty
        made.update_yaxes(shown, title_text=panel.unit, nticks=4, **place)
    if not any(record.lines for record in records):
        # in the first panel, because an axis is in the middle of the chart
        made.add_annotation(
            text=BEFORE, xref="x domain", yref="y domain", x=0.5, y=0.5, showarrow=False
        )
    return made.update_layout(showlegend=len(records) > 1)


def alt(records: Sequence[Record]) -> str:
    """Describe the newest numbers in words."""
    said = []
    for name, lines, _ in records:
        found = {panel.title: points(lines, panel) for panel in PANELS}
        newest = [f"{title} {line[-1][1]:.4g}" for title, line in found.items() if line]
        said.append(f"{name}: {', '.join(newest) or 'no epoch yet'}")
    return "Curves over the epochs. " + "; ".join(said)


def points(lines: Sequence[dict[str, Any]], panel: Panel) -> list[tuple[float, float]]:
    """Return epoch and value where it is finite, and positive on a logarithmic axis."""
    found = ((line["epoch"], line.get(panel.name)) for line in lines)
    return [
        (float(epoch), float(value))
        for epoch, value in found
        if isinstance(value, int | float) and math.isfinite(value)
        if value > 0 or not panel.logarithmic
    ]


def axis(values: Sequence[float], logarithmic: bool) -> dict[str, Any]:
    """Return an axis a little wider than the values."""
    low, high = (math.log10(v) if logarithmic else v for v in (min(values), max(values)))
    margin = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    return (charts.log_axis(values) if logarithmic else {}) | {
        "range": [low - margin, high + margin]
    }
