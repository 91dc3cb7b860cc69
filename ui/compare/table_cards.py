"""The cards with tables: the paper's results and ours, and the one-view test of other papers."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import streamlit as st

from fgpvae.data import ANGLES
from fgpvae.evaluation import comparison
from fgpvae.evaluation.comparison import TRAINING, UNSEEN, UPRIGHT, Question
from ui.catalog import Choice, results
from ui.catalog.results import METRICS, Row, Spread
from ui.charts import show
from ui.charts import table as show_table
from ui.compare import charts
from ui.compare.evaluation import Measured, measured
from ui.compare.files import (
    Columns,
    Number,
    choose_block,
    columns_csv,
    command,
    download,
    foot,
    number,
    styled,
)
from ui.compare.pictures_card import NAMES
from ui.shell import frame
from ui.shell.query_params import segments

GEOMETRY = "geometric rotation"
SECONDS, SAMPLED = "seconds an epoch", "test_mse_sampled"
PINNED: dict[str, Any] = {"Model": st.column_config.TextColumn(pinned=True)}
TASKS = {
    "seen": "Training digits at 157.5°",
    "unseen_fifth": "New digits, fifth frame",
    "unseen_all": "New digits, 15 angles",
}


@st.cache_resource(max_entries=8, show_spinner=False)
def without_a_model(metric: str) -> dict[str, float]:
    """The mean image and the geometric rotation in a column of the table."""
    questions = {
        "test_mse": [Question(TRAINING)],
        "extrapolation_mse": [Question(UNSEEN)],
        "one_view_mse": [Question(UPRIGHT, angle=k) for k in range(1, len(ANGLES))],
    }[metric]
    found = [comparison.references(question) for question in questions]
    return {NAMES.get(n, n): float(np.mean([each[n].mse for each in found])) for n in found[0]}


@st.fragment
def table(chosen: list[Choice]) -> None:
    result, own = results.load("table1"), measured(chosen)
    with frame.card(
        "The paper's table next to ours",
        "How far a drawn pixel is from the true one, on average: lower is better. Blue is the "
        "FGP-VAE, open diamonds are the paper's printed values, dotted lines need no model.",
        key="compare.table",
    ):
        block = choose_block(results.blocks(result), "compare.block")
        committed = results.committed_rows(result, block)
        rows = results.joined(committed, [each.row for each in own])
        if not rows:
            command(
                "table1",
                "compare.table1",
                "The error of every model of the paper, over five seeds, beside the published one.",
            )
            return
        metric = segments("Test", METRICS, "compare.metric", label_visibility="collapsed")
        said = [results.EXPLAINED[metric]]
        if committed:
            said.append(results.terms(result, block))
        if committed and own:
            said.append("Models evaluated here were trained with settings of their own.")
        st.caption(" ".join(said))
        lines = without_a_model(metric)
        if metric == "test_mse" and result:
            lines = {results.TRIVIAL.get(n, n): value for n, value in result["trivial"].items()}
        means = {row.label: mean for row in rows if (mean := row.errors[metric].mean) is not None}
        spoken = ", ".join(f"{name} {value:.4f}" for name, value in (means | lines).items())
        show(
            partial(charts.errors, rows, metric, lines),
            "compare.chart.table",
            430 + charts.ROW * len(rows),
            f"Mean squared error of every model, {METRICS[metric]}: {spoken}",
        )
        figures(rows, lines)
        notes(rows, own)
        sampled = {f"{METRICS['test_mse']}, sampled": [row.errors[SAMPLED] for row in rows]}
        foot(result, partial(columns_csv, models_table(rows) | sampled), "table.csv")


def figures(rows: Sequence[Row], lines: dict[str, float]) -> None:
    """The sortable table, and another one for references without a model."""
    show_table(
        partial(styled, models_table(rows), [*METRICS.values(), SECONDS]),
        "compare.table",
        len(rows),
        "The error of every model in each test, beside the published one",
        column_config=PINNED,
    )
    here = " Columns with “here” are what Evaluate measured of the model that ships with the app."
    st.caption(
        "Lower is better; the lowest errors and the shortest epoch are marked."
        + (here if any(row.here for row in rows) else "")
    )
    with st.expander("Without a model"):
        known = references_table(lines)
        what = "The error of what needs no model"
        show_table(partial(styled, known, []), "compare.references", len(lines), what)
        download(partial(columns_csv, known), "references.csv")


def models_table(rows: Sequence[Row]) -> Columns:
    columns: Columns = {
        "Model": [row.name for row in rows],
        "Kind": [row.title for row in rows],
    }
    for name, title in METRICS.items():
        columns[title] = [row.errors[name] for row in rows]
    if any(row.here for row in rows):
        for name, title in METRICS.items():
            here = [row.here.errors[name] if row.here else Spread() for row in rows]
            columns[f"{title}, here"] = here
    published = [row.published for row in rows]
    if any(published):
        columns["published"] = [
            Spread((known["mse"],), known["sd"]) if known else Spread() for known in published
        ]
    if any(row.chosen for row in rows):
        columns["rate, schedule"] = [row.chosen or "–" for row in rows]
    columns["epochs"] = [number(row.epochs) for row in rows]
    columns["CPU seconds"] = [_processor(row) for row in rows]
    columns["parameters"] = [number(row.parameters) for row in rows]
    columns[SECONDS] = [(row.seconds.mean, row.seconds.text(2)) for row in rows]
    if any(published):
        seconds = [number(known.get("seconds_an_epoch"), 2) for known in published]
        columns["published seconds"] = seconds
    columns["GP cost"] = [row.complexity for row in rows]
    return columns


def _processor(row: Row) -> Number:
    if row.processor.values:
        return row.processor.mean, row.processor.text(0)
    seconds, text = number(row.training_seconds)
    return seconds, text if seconds is None else f"about {text}"


def references_table(lines: dict[str, float]) -> Columns:
    """References without a model."""
    geometry = f"{GEOMETRY}: the nearest view turned as a picture"
    learned = ["knows geometry" if name == GEOMETRY else "nothing learned" for name in lines]
    return {
        "Without a model": [geometry if name == GEOMETRY else name for name in lines],
        "What it has": learned,
        "Error": [number(value, 4) for value in lines.values()],
    }


def notes(rows: Sequence[Row], own: Sequence[Measured]) -> None:
    """Notes that explain the table."""
    if any("dense networks" in row.title for row in rows):
        st.caption(
            "The rows with dense networks, or with an encoder that gets the angle, are not "
            "the paper's model: their networks are larger, and the encoder is new here."
        )
    everywhere = [each.row.name for each in own if not each.row.errors["test_mse"].values]
    if everywhere:
        st.caption(
            f"{frame.plain(', '.join(everywhere))}: trained on all angles, so no angle was "
            "left out and 157.5° is not special for it."
        )
    for each in own:
        if each.label != 3:
            name = frame.plain(each.row.name)
            st.caption(f"{name}: tested on digits of class {each.label}, not on threes.")


def one_view() -> None:
    result = results.load("one-view")
    with frame.card(
        "One view, as others test it",
        "Papers on other models test them in a different way from the benchmark above: the "
        "model is given one upright view at a known angle, and nothing else.",
        key="compare.one_view",
    ):
        if not result:
            sentence = "The error from one view, beside published ones."
            command("one-view", "compare.one_view", sentence)
            return
        columns = one_view_table(result)
        show_table(
            partial(styled, columns, list(TASKS.values())),
            "compare.one_view.table",
            len(columns["Model"]),
            "The error from one view of our models and of published ones",
            column_config=PINNED,
        )
        turned = ", ".join(
            f"{result['geometry'][task]:.4f} ({title[0].lower()}{title[1:]})"
            for task, title in TASKS.items()
        )
        st.caption(
            f"For comparison, a geometric rotation of the view, which needs no learning: {turned}. "
            "The other papers used slightly different data.",
            help=frame.plain(result["comparable"].replace("`", "")),
        )
        foot(result, partial(columns_csv, columns), "one-view.csv")


def one_view_table(result: dict[str, Any]) -> Columns:
    """Our models, and published values: a mean, and a standard deviation if the paper has one."""
    models, sources, errors = [], [], []
    for row in result["rows"]:
        seeds = len(row["seen"]["values"])
        trained = f"trained, {seeds} seed{'s' if seeds > 1 else ''}"
        models.append(f"{row['model']} · {row['preset']}")
        sources.append("comes with the app" if row["shipped"] else trained)
        errors.append({task: results.spread(row[task]) for task in TASKS})
    for known in result["published"]:
        models.append(known["model"])
        sources.append("published")
        errors.append({known["task"]: Spread((known["mse"],), known["sd"])})
    columns: Columns = {"Model": models, "Where from": sources}
    for task, title in TASKS.items():
        columns[title] = [found.get(task, Spread()) for found in errors]
    return columns
