"""The card with one view at a known angle, as others test it."""

from functools import partial
from typing import Any

import streamlit as st

from ui import charts
from ui.catalog import results
from ui.compare.files import command, foot
from ui.compare.tables import BEST, to_csv
from ui.shell import frame

TASKS = {
    "seen": "Training digits at 157.5°",
    "unseen_fifth": "New digits, fifth frame",
    "unseen_all": "New digits, 15 angles",
}
Line = tuple[str, str, list[results.Spread]]  # model, where its figures are from, one a task


def one_view() -> None:
    result = results.load("one-view")
    with frame.card(
        "One view, as others test it",
        "Papers on other models test them in a different way from the benchmark above: the "
        "model is given one upright view at a known angle, and nothing else.",
        key="compare.one_view",
    ):
        if not result:
            command(
                "one-view", "compare.one_view", "The error from one view, beside published ones."
            )
            return
        learned = ours(result) + published(result)
        charts.table(
            partial(styled, learned),
            "compare.one_view.table",
            len(learned),
            "The error from one view of our models and of published ones",
            column_config={"Model": st.column_config.TextColumn(pinned=True)},
        )
        turned = ", ".join(
            f"{result['geometry'][task]:.4f} ({title[0].lower()}{title[1:]})"
            for task, title in TASKS.items()
        )
        st.caption(
            f"For comparison, a geometric rotation of the view, which needs no learning: {turned}."
        )
        st.caption(frame.plain(result["comparable"].replace("`", "")))
        foot(result, partial(file, learned), "one-view.csv")


def ours(result: dict[str, Any]) -> list[Line]:
    lines = []
    for row in result["rows"]:
        seeds = len(row["seen"]["values"])
        trained = f"trained, {seeds} seed{'s' if seeds > 1 else ''}"
        where = "comes with the app" if row["shipped"] else trained
        figures = [results.spread(row[task]) for task in TASKS]
        lines.append((f"{row['model']} · {row['preset']}", where, figures))
    return lines


def published(result: dict[str, Any]) -> list[Line]:
    """A published figure is a mean, and a standard deviation if its paper has one."""
    lines = []
    for known in result["published"]:
        figure = results.Spread((known["mse"],), known["sd"])
        figures = [figure if task == known["task"] else results.Spread() for task in TASKS]
        lines.append((known["model"], "published", figures))
    return lines


def styled(lines: list[Line]) -> Any:
    """Figures as numbers that sort, shown with their spread; the lowest of a column is marked."""
    import pandas as pd

    columns: dict[str, list[Any]] = {
        "Model": [model for model, _, _ in lines],
        "Where from": [where for _, where, _ in lines],
    }
    for at, title in enumerate(TASKS.values()):
        columns[title] = [figures[at].mean for *_, figures in lines]
    made = pd.DataFrame(columns).astype(dict.fromkeys(TASKS.values(), float)).style
    for row, (*_, figures) in enumerate(lines):
        for title, figure in zip(TASKS.values(), figures, strict=True):
            text = figure.text()
            made = made.format(lambda _, text=text: text, subset=([row], [title]))
    return made.highlight_min(subset=list(TASKS.values()), props=BEST)


def file(lines: list[Line]) -> str:
    heads = ["model", "where"]
    for task in TASKS:
        heads += [task, f"{task}_sd"]
    return to_csv(
        heads,
        (
            [model, where, *(value for figure in figures for value in (figure.mean, figure.sd))]
            for model, where, figures in lines
        ),
    )
