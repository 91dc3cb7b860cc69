"""The committed results of the experiments, and one's own models measured beside them."""

import csv
import io
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from statistics import mean, stdev
from typing import Any

import streamlit as st

from fgpvae import comparison, runs
from fgpvae.experiments.common import seconds_an_epoch
from ui import colours, frame, plot
from ui.models import Choice

RESULTS = ("table1", "extrapolation", "scaling")
METRICS = {
    "test_mse": "Held-out angle",
    "extrapolation_mse": "New digits",
    "one_view_mse": "New digits, one view",
}
EXPLAINED = {
    "test_mse": "270 training digits at 157.5°, an angle at which no digit was seen in training.",
    "extrapolation_mse": "40 digits never trained on at 157.5°, from eleven of their other views.",
    "one_view_mse": "40 digits never trained on at 15 angles, from their upright view alone. The "
    "truth is that view turned geometrically, so a geometric rotation makes no error.",
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


STYLE = """
.scroll { overflow-x: auto; }
.quiet { opacity: 0.65; font-weight: 400; }
table.figures { border-collapse: collapse; width: 100%; font-size: 0.9rem; }
table.figures th, table.figures td {
  border: 0; border-bottom: 1px solid light-dark(#e6e6e0, #262c39); padding: 0.45rem 0.8rem;
  text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; line-height: 1.3;
}
table.figures thead th { font-weight: 400; opacity: 0.65; }
table.figures th:first-child {
  text-align: left; font-weight: 600; position: sticky; left: 0; padding-left: 0;
  background: light-dark(#ffffff, #171b24);
}
"""


def directory() -> Path:
    """Where the results are: FGPVAE_RESULTS, or `results` beside app.py."""
    return Path(os.environ.get("FGPVAE_RESULTS") or frame.ROOT / "results")


def load(name: str) -> dict[str, Any] | None:
    """A result, or None where there is none that can be read."""
    path = directory() / f"{name}.json"
    try:
        return _load(path, path.stat().st_mtime)
    except (OSError, ValueError, KeyError, TypeError):
        return None


@st.cache_data(max_entries=16, show_spinner=False)
def _load(path: Path, version: float) -> dict[str, Any]:
    result = json.loads(path.read_text())
    if result["experiment"] != path.stem:
        raise ValueError("a result of another experiment")
    return result


@dataclass(frozen=True)
class Spread:
    """A figure over seeds."""

    values: tuple[float, ...] = ()

    @property
    def mean(self) -> float | None:
        return mean(self.values) if self.values else None

    @property
    def sd(self) -> float | None:
        return stdev(self.values) if len(self.values) > 1 else None

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
    title: str  # what kind of model it is
    own: bool  # measured here, not a committed result
    errors: dict[str, Spread]
    seconds: Spread = Spread()
    complexity: str = "–"
    parameters: int | None = None
    published: dict[str, float] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return self.name if self.own else f"{self.title} · {self.name}"

    @property
    def colour(self) -> str:
        if self.own:
            return plot.INK
        return colours.GLOBAL if self.title == "FGP-VAE" else colours.TRUTH


def committed_rows(table: dict[str, Any] | None) -> list[Row]:
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
        )
        for row in (table["rows"] if table else [])
    ]


# --- one's own ----------------------------------------------------------------------------------


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


# --- the table ----------------------------------------------------------------------------------


def table_html(rows: Sequence[Row], metric: str) -> str:
    """The table; in the chosen column the smallest mean is bold."""
    heads = ["Model", METRICS["test_mse"], "published", METRICS["extrapolation_mse"]]
    heads += [METRICS["one_view_mse"], "s/epoch", "published", "GP cost"]
    known = [row.errors[metric].mean for row in rows]
    best = min((value for value in known if value is not None), default=None)

    def cell(row: Row, name: str) -> str:
        text = row.errors[name].text()
        strong = name == metric and best is not None and row.errors[name].mean == best
        return f"<td>{f'<b>{text}</b>' if strong else text}</td>"

    body = []
    for row in rows:
        title = f'<span class="quiet">{escape(row.title)}</span>'
        body.append(
            f"<tr><th>{escape(row.name)}<br>{title}</th>"
            + cell(row, "test_mse")
            + f'<td class="quiet">{_published(row)}</td>'
            + cell(row, "extrapolation_mse")
            + cell(row, "one_view_mse")
            + f"<td>{row.seconds.text(2)}</td>"
            + f'<td class="quiet">{_number(row.published.get("seconds_an_epoch"), 2)}</td>'
            + f"<td>{escape(row.complexity)}</td></tr>"
        )
    head = "".join(f"<th>{escape(text)}</th>" for text in heads)
    return (
        f'<div class="scroll"><table class="figures"><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div>"
    )


def _published(row: Row) -> str:
    if not row.published:
        return "–"
    return f"{row.published['mse']:.4f} ± {row.published['sd']:.4f}"


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def table_csv(rows: Sequence[Row], trivial: dict[str, float], committed: bool = True) -> str:
    """`trivial` holds what is done without a model, for the held-out angle."""
    heads = ["model", "kind", "where"]
    for name in comparison.TABLE:
        heads += [name, f"{name}_sd", f"{name}_seeds"]
    heads += ["published_test_mse", "published_sd", "seconds_an_epoch", "parameters"]
    lines: list[list[Any]] = []
    for row in rows:
        line: list[Any] = [row.name, row.title, "measured here" if row.own else "committed"]
        for name in comparison.TABLE:
            found = row.errors[name]
            line += [found.mean, found.sd, len(found.values)]
        line += [row.published.get("mse"), row.published.get("sd")]
        lines.append([*line, row.seconds.mean, row.parameters])
    for name, value in trivial.items():
        where = "committed" if committed else "measured here"
        lines.append([name, "without a model", where, value])
    return to_csv(heads, lines)


def to_csv(heads: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(heads)
    for line in lines:
        writer.writerow(["" if value is None else value for value in line])
    return text.getvalue()


# --- error against views, and cost ---------------------------------------------------------------


@dataclass(frozen=True)
class Curve:
    """Error against the number of context views."""

    name: str
    colour: str
    points: dict[int, Spread]
    dash: str = "solid"


def committed_curves(result: dict[str, Any] | None) -> list[Curve]:
    return [
        Curve(
            curve["preset"],
            colours.GLOBAL if curve["model"] == "FGP-VAE" else colours.TRUTH,
            {int(views): spread(found) for views, found in curve["mse"].items()},
        )
        for curve in (result["curves"] if result else [])
    ]


def own_curve(found: Measured) -> Curve:
    points = {views: Spread((error,)) for views, error in found.by_views.items()}
    return Curve(found.row.name, found.row.colour, points)


def scaling_csv(result: dict[str, Any]) -> str:
    lines: list[list[Any]] = []
    for row in result["by_digits"]:
        for name in ("seconds_an_epoch", "extrapolation_mse"):
            found = spread(row[name])
            lines.append(["P", row["P"], name, found.mean, found.sd])
    for row in result["by_views"]:
        lines += [
            ["Q", row["Q"], f"seconds_{k}", row[k], None] for k in ("joint", "dense", "fourier")
        ]
    lines += [["exponent", "", name, value, None] for name, value in result["exponents"].items()]
    return to_csv(["against", "size", "what", "value", "sd"], lines)


def curves_csv(curves: Sequence[Curve]) -> str:
    return to_csv(
        ["model", "views", "mse", "sd", "seeds"],
        (
            [curve.name, views, point.mean, point.sd, len(point.values)]
            for curve in curves
            for views, point in curve.points.items()
        ),
    )


def provenance(result: dict[str, Any]) -> str:
    """One line: the command, seeds, date and machine behind a result."""
    seeds = result["seeds"]
    return (
        f"{result['command']} · {seeds} seed{'s' if seeds != 1 else ''} · {result['date']} · "
        f"{result['machine']}"
    )
