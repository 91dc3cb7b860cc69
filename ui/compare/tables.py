"""The paper's table next to ours, on the page and as files."""

import csv
import io
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from fgpvae import comparison
from ui import charts
from ui.catalog.results import METRICS, Curve, Row, spread

BEST = "background-color: rgba(43, 122, 158, 0.18); font-weight: 700"
PUBLISHED, SECONDS, PUBLISHED_SECONDS = "published", "seconds an epoch", "published seconds"
GEOMETRY = "geometric rotation"
GEOMETRY_LINE = "geometric rotation: the nearest view turned as a picture"
CHOSEN, EPOCHS, PROCESSOR, PARAMETERS = "rate, schedule", "epochs", "CPU seconds", "parameters"


def show(rows: Sequence[Row]) -> None:
    """The table, which one can sort and search; the best of each column is marked."""
    charts.table(
        partial(styled, rows),
        "compare.table",
        len(rows),
        "The error of every model in each test, beside the published one",
        column_config={"Model": st.column_config.TextColumn(pinned=True)},
    )
    st.caption("Lower is better; the lowest errors and the shortest epoch are marked.")


def show_references(errors: dict[str, float]) -> None:
    """What needs no model, apart from the models: without learning, or with the rotation itself."""
    known = [
        {
            "Without a model": GEOMETRY_LINE if name == GEOMETRY else name,
            "What it has": "knows geometry" if name == GEOMETRY else "nothing learned",
            "Error": value,
        }
        for name, value in errors.items()
    ]

    with st.expander("Without a model"):
        what = "The error of what needs no model"
        charts.table(partial(_referred, known), "compare.references", len(known), what)


def _referred(known: list[dict[str, Any]]) -> Any:
    import pandas as pd

    return pd.DataFrame(known).style.format({"Error": "{:.4f}"})


def styled(rows: Sequence[Row]) -> Any:
    """Figures as numbers that sort, shown with their standard deviation (a pandas Styler)."""
    import pandas as pd

    columns: dict[str, list[Any]] = {
        "Model": [row.name for row in rows],
        "Kind": [row.title for row in rows],
    }
    texts: dict[str, list[str]] = {}
    for name, title in METRICS.items():
        columns[title] = [row.errors[name].mean for row in rows]
        texts[title] = [row.errors[name].text() for row in rows]
    if any(row.published for row in rows):
        columns[PUBLISHED] = [row.published.get("mse") for row in rows]
        texts[PUBLISHED] = [_published(row) for row in rows]
    if any(row.chosen for row in rows):
        columns[CHOSEN] = [row.chosen or "–" for row in rows]
    columns[EPOCHS] = [row.epochs for row in rows]
    texts[EPOCHS] = [_number(row.epochs) for row in rows]
    columns[PROCESSOR] = [row.training_seconds for row in rows]
    texts[PROCESSOR] = [_processor(row) for row in rows]
    columns[PARAMETERS] = [row.parameters for row in rows]
    texts[PARAMETERS] = [_number(row.parameters) for row in rows]
    columns[SECONDS] = [row.seconds.mean for row in rows]
    texts[SECONDS] = [row.seconds.text(2) for row in rows]
    if any(row.published for row in rows):
        columns[PUBLISHED_SECONDS] = [row.published.get("seconds_an_epoch") for row in rows]
        texts[PUBLISHED_SECONDS] = [_number(value, 2) for value in columns[PUBLISHED_SECONDS]]
    columns["GP cost"] = [row.complexity for row in rows]
    data = pd.DataFrame(columns)
    for title in texts:
        data[title] = data[title].astype(float)
    made = data.style
    for title, said in texts.items():
        for at, text in enumerate(said):
            made = made.format(lambda _, text=text: text, subset=([at], [title]))
    return made.apply(_lowest, subset=[*METRICS.values(), SECONDS])


def _lowest(values: Any) -> list[str]:
    return [BEST if value == values.min() else "" for value in values]


def _published(row: Row) -> str:
    if not row.published:
        return "–"
    return f"{row.published['mse']:.4f} ± {row.published['sd']:.4f}"


def _number(value: float | None, digits: int = 0) -> str:
    return "–" if value is None else f"{value:,.{digits}f}"


def _processor(row: Row) -> str:
    if row.processor.values:
        return row.processor.text(0)
    seconds = row.training_seconds
    return "–" if seconds is None else f"about {seconds:,.0f}"


def table_csv(rows: Sequence[Row], trivial: dict[str, float], committed: bool = True) -> str:
    """`trivial` holds what is done without a model, for the held-out angle."""
    heads = ["model", "kind", "where"]
    for name in comparison.TABLE:
        heads += [name, f"{name}_sd", f"{name}_seeds"]
    heads += ["published_test_mse", "published_sd", "seconds_an_epoch", "parameters"]
    heads += ["epochs", "cpu_seconds", "rate_and_schedule"]
    lines: list[list[Any]] = []
    for row in rows:
        line: list[Any] = [row.name, row.title, "measured here" if row.own else "committed"]
        for name in comparison.TABLE:
            found = row.errors[name]
            line += [found.mean, found.sd, len(found.values)]
        line += [row.published.get("mse"), row.published.get("sd")]
        line += [row.seconds.mean, row.parameters]
        lines.append([*line, row.epochs, row.training_seconds, row.chosen])
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
