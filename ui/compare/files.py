"""Controls, tables and files that the cards share, and the provenance of their numbers."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from ui import charts
from ui.compare import results
from ui.compare.results import Row, Spread
from ui.shell import frame
from ui.shell.query_params import segments

EQUAL, PUBLISHED = "equal", "published"  # blocks of results
BLOCKS = {EQUAL: "Equal budgets", PUBLISHED: "Each with its own settings"}
Columns = dict[str, Sequence[str | Spread]]  # columns of a table, by title


def choose_block(
    table: dict[str, Any], published: Sequence[dict[str, Any]], key: str
) -> tuple[str, list[Row]]:
    """Choose one of the blocks that have entries: equal budgets in the table, or published."""
    blocks = {EQUAL: table.get("equal", {}).get("rows"), PUBLISHED: published}
    known = {block: BLOCKS[block] for block, entries in blocks.items() if entries}
    if not known:
        return "", []
    block = segments("Settings", known, key, label_visibility="collapsed")
    return block, [results.row(entry) for entry in blocks[block]]


def command(experiment: str) -> None:
    """A card for a result that has not been computed."""
    with frame.empty("Not measured yet", "An experiment makes these results.", key=experiment):
        st.markdown(f"`python -m fgpvae experiment {experiment} --seeds 5`")


def foot(result: dict[str, Any], content: Callable[[], str], name: str) -> None:
    """Below a chart: its file, and the command, seeds, date and machine behind the numbers."""
    with st.container(horizontal=True, vertical_alignment="center"):
        download(content, name)
        if result:
            seeds = f"{result['seeds']} seed{'s' if result['seeds'] != 1 else ''}"
            parts = result["command"], seeds, result["date"], result["machine"]
            st.caption(frame.plain(" · ".join(parts)))


def download(content: Callable[[], str | bytes], name: str) -> None:
    kind, key = name.rsplit(".")[-1].upper(), f"compare.download.{name}"
    frame.download(kind, content, f"fgpvae-{name}", key, help="Save this as a file.")


def to_csv(heads: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *lines])
    return text.getvalue()


def columns_csv(columns: Columns) -> str:
    """A table as CSV, with the standard deviations of columns that have some."""
    flat: dict[str, list[Any]] = {}
    for title, cells in columns.items():
        flat[title] = [cell.mean if isinstance(cell, Spread) else cell for cell in cells]
        sds = [cell.sd for cell in cells if isinstance(cell, Spread)]
        if any(sd is not None for sd in sds):
            flat[f"{title}, sd"] = sds
    return to_csv(list(flat), zip(*flat.values(), strict=True))


def curves_csv(rows: Sequence[Row]) -> str:
    lines = [
        (row.name, views, found.mean, found.sd, len(found.values))
        for row in rows
        for views, found in row.by_views.items()
    ]
    return to_csv(["model", "views", "mse", "sd", "seeds"], lines)


def table(key: str, columns: Columns, marked: Iterable[str], alt: str) -> None:
    """A sortable table with the lowest values of `marked` columns highlighted."""
    first, *_ = columns
    charts.table(partial(_styled, columns, [*marked]), key, len(columns[first]), alt, first)


def _styled(columns: Columns, marked: Sequence[str]) -> Any:
    """Numbers sort by their means and are shown as texts with standard deviations."""
    import pandas as pd

    def number(cell: str | Spread) -> str | float:
        mean = cell if isinstance(cell, str) else cell.mean
        return math.nan if mean is None else mean

    data = {title: [number(cell) for cell in cells] for title, cells in columns.items()}
    made = pd.DataFrame(data).style
    for title, cells in columns.items():
        for row, cell in enumerate(cells):
            made = made.format(lambda _, text=str(cell): text, subset=([row], [title]))
    return made.highlight_min(subset=marked, props=charts.BEST)
