"""Controls, tables and files that the cards share, and the provenance of their numbers."""

import csv
import io
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import streamlit as st

from ui import charts
from ui.catalog import results
from ui.catalog.results import Curve, Spread
from ui.shell import frame
from ui.shell.query_params import segments

Number = tuple[float | None, str]  # sorted values and shown texts
Columns = dict[str, Sequence[str | Spread | Number]]  # columns of a table, by title


def choose_block(known: Sequence[str], key: str) -> str:
    """Choose one of the available blocks of results."""
    if len(known) < 2:
        return known[0] if known else results.PUBLISHED
    titles = {block: results.BLOCKS[block] for block in known}
    return segments("Settings", titles, key, label_visibility="collapsed")


def command(experiment: str, key: str, sentence: str) -> None:
    """A card for a result that has not been computed."""
    with frame.empty("Not measured yet", sentence, key=key):
        st.markdown(f"`python -m fgpvae experiment {experiment} --seeds 5`")


def foot(result: dict[str, Any] | None, content: Callable[[], str], name: str) -> None:
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
    """A table as CSV, with mean and standard deviation of values over seeds."""
    flat: dict[str, list[Any]] = {}
    for title, cells in columns.items():
        flat[title] = [_value(cell) for cell in cells]
        if isinstance(cells[0], Spread):
            flat[f"{title}, sd"] = [cell.sd for cell in cells if isinstance(cell, Spread)]
    return to_csv(list(flat), zip(*flat.values(), strict=True))


def curves_csv(curves: Sequence[Curve]) -> str:
    lines = [
        (curve.name, views, point.mean, point.sd, len(point.values))
        for curve in curves
        for views, point in curve.points.items()
    ]
    return to_csv(["model", "views", "mse", "sd", "seeds"], lines)


def number(value: float | None, digits: int = 0) -> Number:
    return value, "–" if value is None else f"{value:,.{digits}f}"


def styled(columns: Columns, marked: Sequence[str]) -> Any:
    """Numbers sort and are shown as their texts; the lowest of the `marked` columns stand out."""
    import pandas as pd

    made = pd.DataFrame({title: list(map(_value, each)) for title, each in columns.items()}).style
    for title, cells in columns.items():
        for row, text in enumerate(map(_text, cells)):
            made = made.format(lambda _, text=text: text, subset=([row], [title]))
    return made.highlight_min(subset=list(marked), props=charts.BEST)


def _text(cell: str | Spread | Number) -> str:
    if isinstance(cell, Spread):
        return cell.text()
    return cell if isinstance(cell, str) else cell[1]


def _value(cell: str | Spread | Number) -> str | float | None:
    if isinstance(cell, Spread):
        return math.nan if cell.mean is None else cell.mean
    return cell if isinstance(cell, str) else cell[0]
