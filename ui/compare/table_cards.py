"""The cards with tables: the paper's results and ours, and the one-view test of other papers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from fgpvae.data import ANGLES
from fgpvae.evaluation import comparison
from fgpvae.evaluation.comparison import TRAINING, UNSEEN, UPRIGHT, Question
from ui import charts
from ui.catalog import Choice
from ui.compare import files, results
from ui.compare.evaluation import measured
from ui.compare.files import Columns
from ui.compare.pictures_card import NAMES
from ui.compare.results import Row, Spread
from ui.shell import frame, palette
from ui.shell.query_params import segments

ROW, LABELS = 42, 140  # pixels of a row of the chart, and of the line names above the first
MARGIN = 1.12  # factor of the largest value
METRICS = {
    "test_mse": "Held-out angle",
    "extrapolation_mse": "New digits",
    "one_view_mse": "New digits, one view",
}
EXPLAINED = {
    "test_mse": "Tested on 270 training digits at 157.5°, an angle that was left out of the "
    "training.",
    "extrapolation_mse": "Tested on 40 new digits at 157.5°, given eleven of their other views.",
    "one_view_mse": "Tested on 40 new digits at 15 angles, given their upright view only. The "
    "true pictures are made by rotating that view, so a geometric rotation makes no error.",
    files.EQUAL: "All models get the same images and number of epochs, and averaged weights; "
    "learning rate and schedule were chosen in one way for all, on training views set aside.",
    files.PUBLISHED: "Epochs, averaging and schedule are each model's own and explain part of the "
    "differences.",
}
QUESTIONS = {
    "test_mse": [Question(TRAINING)],
    "extrapolation_mse": [Question(UNSEEN)],
    "one_view_mse": [Question(UPRIGHT, angle=k) for k in range(1, len(ANGLES))],
}
GEOMETRY = "geometric rotation"
NAMED = {"zeros": "black", "rotated_neighbour": GEOMETRY}  # references of table 1
GROUPS = {results.PAPER: "circle", results.LATER: "square", results.HERE: "star"}  # symbols
SECONDS = "seconds an epoch"
TASKS = {
    "seen": "Training digits at 157.5°",
    "unseen_fifth": "New digits, fifth frame",
    "unseen_all": "New digits, 15 angles",
}


@st.cache_resource(max_entries=8, show_spinner=False)
def without_a_model(metric: str) -> dict[str, float]:
    """The mean image and the geometric rotation in a column of the table."""
    found = [comparison.references(question) for question in QUESTIONS[metric]]
    return {NAMES.get(n, n): float(np.mean([each[n].mse for each in found])) for n in found[0]}


@st.fragment
def paper_table(chosen: list[Choice]) -> None:
    result, own = results.load("table1"), measured(chosen)
    with frame.card(
        "The paper's table next to ours",
        "How far a drawn pixel is from the true one, on average: lower is better. Blue is the "
        "FGP-VAE, stars were evaluated here, open diamonds are the paper's printed values, dotted "
        "lines need no model.",
        key="compare.table",
    ):
        block, committed = files.choose_block(result, result.get("rows", []), "compare.block")
        rows = results.joined(committed, own)
        if not rows:
            files.command("table1")
            return
        metric = segments("Test", METRICS, "compare.metric", label_visibility="collapsed")
        said = [EXPLAINED[metric]]
        if committed:
            said.append(EXPLAINED[block])
        if committed and own:
            said.append("Models evaluated here were trained with settings of their own.")
        st.caption(" ".join(said))
        lines = without_a_model(metric)
        if metric == "test_mse" and result:
            trivial = {n.replace("pca_", "PCA "): mse for n, mse in result["trivial"].items()}
            lines = {NAMED.get(n, n.replace("_", " ")): mse for n, mse in trivial.items()}
        known = [f"{row.full_name} {row.scores[metric]}" for row in rows if row.scores[metric]]
        known += [f"{name} {value:.4f}" for name, value in lines.items()]
        charts.show(
            partial(errors, rows, metric, lines),
            "compare.chart.table",
            430 + ROW * len(rows),
            f"Mean squared error of every model, {METRICS[metric]}: {', '.join(known)}",
        )
        columns, alt = models_table(rows), "The error of every model, and the published one"
        marked = [title for title in (*METRICS.values(), SECONDS) if title in columns]
        files.table("compare.table", columns, marked, alt)
        knows = {GEOMETRY: "knows geometry: turns the nearest view"}
        without: Columns = {
            "Without a model": list(lines),
            "What it has": [knows.get(name, "nothing learned") for name in lines],
            "Error": [Spread.of(value) for value in lines.values()],
        }
        with st.expander("Without a model"):
            files.table("compare.references", without, (), "The error of what needs no model")
            files.download(partial(files.columns_csv, without), "references.csv")
        notes(rows, own)
        columns["Held-out angle, sampled"] = [row.scores["test_mse_sampled"] for row in rows]
        files.foot(result, partial(files.columns_csv, columns), "table.csv")


def models_table(rows: Sequence[Row]) -> Columns:
    """The columns of the table that are not empty."""
    nothing = Spread()
    columns: Columns = {"Model": [row.name for row in rows], "Kind": [row.title for row in rows]}
    for name, title in METRICS.items():
        columns[title] = [row.scores[name] for row in rows]
    for name, title in METRICS.items():
        columns[f"{title}, here"] = [row.here.scores[name] if row.here else nothing for row in rows]
    columns |= {
        "published": [row.published.get("test_mse", nothing) for row in rows],
        "rate, schedule": [row.chosen for row in rows],
        "epochs": [row.epochs for row in rows],
        "CPU seconds": [row.processor for row in rows],
        "parameters": [row.parameters for row in rows],
        SECONDS: [row.scores[results.SECONDS] for row in rows],
        "published seconds": [row.published.get(results.SECONDS, nothing) for row in rows],
        "GP cost": [row.complexity for row in rows],
    }
    return {title: cells for title, cells in columns.items() if any(cells)}


def notes(rows: Sequence[Row], own: Sequence[Row]) -> None:
    """Notes that explain the table."""
    said = ["Lower is better; the lowest errors and the shortest epoch are marked."]
    if any(row.here for row in rows):
        said.append("Evaluate measured the columns with “here”, and models that have none of ours.")
    if any("dense networks" in row.title for row in rows):
        said.append(
            "The rows with dense networks, or with an encoder that gets the angle, are not "
            "the paper's model: their networks are larger, and the encoder is new here."
        )
    for row in own:
        if row.label != 3:
            name = frame.plain(row.name)
            said.append(f"{name} was tested on digits of class {row.label}, not on threes.")
    st.caption("  \n".join(said))


def errors(rows: Sequence[Row], metric: str, lines: dict[str, float]) -> go.Figure:
    """One row per model: all seeds, their mean and standard deviation, and the published value."""
    marks = [
        (y, row, row.scores[metric])
        for y, each in enumerate(rows)
        for row in (each, each.here)
        if row and row.scores[metric]
    ]
    seeds = [(y, row, Spread((value,))) for y, row, found in marks for value in found.values]
    published = [(y, row, row.published.get(metric)) for y, row in enumerate(rows)]
    stated = [(y, row, found) for y, row, found in published if found]
    traces = [_marks("each seed", seeds, size=6, opacity=0.35)]
    for name, symbol in GROUPS.items():
        group = [mark for mark in marks if mark[1].group == name]
        traces.append(_marks(name, group, size=12, symbol=symbol))
    traces.append(_marks("published", stated, size=13, symbol="diamond-open", color=palette.TRUTH))
    # lines of the references, interrupted by the names of the rows
    beside = [place for y in range(len(rows)) for place in (y - 0.12, y + 0.4, math.nan)]
    for name, value in lines.items():
        x, text = [value] * len(beside), f"{name} {value:.4f}"
        line = charts.line(x, beside, text, charts.GREY, "", dash="dot", width=1.5)
        traces.append(line.update(showlegend=False))
    end = MARGIN * max([0.01, *(x for trace in traces for x in trace.x)])
    made = charts.figure(
        "mean squared error of a pixel",
        traces=traces,
        xaxis={"range": [-0.012 * end, end], "showgrid": True},
        yaxis={
            "range": [len(rows) - 0.6, -0.8 - LABELS / ROW],
            "tickvals": list(range(len(rows))),
            "showticklabels": False,
            "showgrid": True,
            "zeroline": False,
        },
        legend=True,
    )
    for name, value in lines.items():
        above: dict[str, Any] = {"y": -0.7, "yanchor": "bottom", "textangle": -90}
        made.add_annotation(text=f"{name} {value:.4f}", x=value, showarrow=False, **above)
    missing = "no angle held out" if metric == "test_mse" else "takes no new digits"
    for y, row in enumerate(rows):  # above the marks, so that these have the whole width
        name = charts.words(row.full_name) + ("" if row.scores[metric] else f" · {missing}")
        place = {"x": 0, "xref": "paper", "xanchor": "left", "y": y, "yanchor": "bottom"}
        made.add_annotation(text=name, yshift=6, showarrow=False, **place)
    return made


def _marks(name: str, marks: Sequence[tuple[int, Row, Spread]], **marker: Any) -> go.Scatter:
    """Errors of models in rows of the chart: means, and bars of standard deviations."""
    spreads = [found for *_, found in marks]
    sd: dict[str, Any] = {"array": [found.sd for found in spreads], "color": charts.GREY}
    return go.Scatter(
        x=[found.mean for found in spreads],
        y=[y for y, *_ in marks],
        name=name,
        mode="markers",
        marker={"color": [row.colour for _, row, _ in marks]} | marker,
        error_x=sd | {"visible": any(sd["array"])},
        text=[f"{charts.words(row.full_name)}<br>{found}" for _, row, found in marks],
        hovertemplate="%{text}<extra>%{fullData.name}</extra>",
    )


def one_view() -> None:
    result = results.load("one-view")
    with frame.card(
        "One view, as others test it",
        "Papers on other models test them in a different way from the benchmark above: the "
        "model is given one upright view at a known angle, and nothing else.",
        key="compare.one_view",
    ):
        if not result:
            files.command("one-view")
            return
        lines = []  # model, source and errors
        for row in result["rows"]:
            seeds = len(row["seen"]["values"])
            trained = f"trained, {seeds} seed{'s' if seeds > 1 else ''}"
            source = "comes with the app" if row["shipped"] else trained
            scores = {task: Spread.of(row[task]) for task in TASKS}
            lines.append((f"{row['model']} · {row['preset']}", source, scores))
        for known in result["published"]:
            score = Spread((known["mse"],), stated=known["sd"])
            lines.append((known["model"], "published", {known["task"]: score}))
        names, sources, found = zip(*lines, strict=True)
        columns: Columns = {"Model": names, "Where from": sources}
        for task, title in TASKS.items():
            columns[title] = [scores.get(task, Spread()) for scores in found]
        alt = "The error from one view of our models and of published ones"
        files.table("compare.one_view.table", columns, TASKS.values(), alt)
        turned = ", ".join(
            f"{result['geometry'][task]:.4f} ({title[0].lower()}{title[1:]})"
            for task, title in TASKS.items()
        )
        st.caption(
            f"For comparison, a geometric rotation of the view, which needs no learning: {turned}. "
            "The other papers used slightly different data.",
            help=frame.plain(result["comparable"].replace("`", "")),
        )
        files.foot(result, partial(files.columns_csv, columns), "one-view.csv")
