"""The cards with curves: errors against views, and costs against digits and views."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from fgpvae.evaluation import comparison
from ui import charts
from ui.catalog import Choice
from ui.compare import results
from ui.compare.evaluation import measured
from ui.compare.files import EQUAL, choose_block, command, curves_csv, foot, to_csv
from ui.compare.pictures_card import NAMES, references
from ui.compare.results import Row, Spread
from ui.shell import frame, palette

HEIGHT, SMALL = 460, 330  # pixels of charts
MARGIN = 1.12  # factor of the largest value
POSTERIORS = (
    ("joint", "joint", palette.TRUTH, "solid"),
    ("dense", "factorised", palette.GLOBAL, "solid"),
    ("fourier", "Fourier", palette.GLOBAL, "dot"),
)
BY_DIGITS = {  # title of a chart, its axis and a note on it
    "seconds_an_epoch": ("Time against digits P: exponent **{:.2f}**", "seconds an epoch", None),
    "extrapolation_mse": (
        "Error on new digits against P",
        "mean squared error",
        "Every run has the same number of steps.",
    ),
}
SYMBOLS = ("circle", "square", "diamond", "triangle-up", "cross", "x", "star", "hexagon")


@st.fragment
def digits_by_views(chosen: list[Choice]) -> None:
    """Committed results for threes, with own models beside them."""
    table, extrapolation = results.load("table1"), results.load("extrapolation")
    with frame.card(
        "How many views it takes",
        "The error on new digits at 157.5°, when the model is given more and more views of them.",
        key="compare.context",
    ):
        key, own = "compare.curves", measured(chosen)
        block, committed = choose_block(table, extrapolation.get("curves", []), key)
        rows = [row for row in (*committed, *own) if row.by_views]
        if not rows:
            command("extrapolation")
            return
        _chart("views", rows, comparison.reference_by_views())
        known = [row.name for row in own]
        if left := [each.name for each in chosen if each.own and each.name not in known]:
            st.caption(f"Not measured yet: {frame.plain(', '.join(left))}. Press Evaluate above.")
        result = table if block == EQUAL else extrapolation
        foot(result, partial(curves_csv, rows), "views.csv")


def subjects_by_views(chosen: list[Choice]) -> None:
    """Errors of models of one collection, with references without a model."""
    collection = chosen[0].collection
    words = collection.words
    result = results.load("objects") if collection.name == "cubes" else {}
    rows = [*map(results.row, result.get("curves", [])), *measured(chosen)]
    with frame.card(
        f"New {words.many} from few {words.views}",
        f"The error at all {words.views} that were not given. Dotted lines need no model and are "
        f"given one {words.views[:-1]}.",
        key="compare.by_views",
    ):
        if not rows:
            st.caption("Press Evaluate to measure the chosen models.")
            return
        known = references(chosen[0], (1, len(collection.first().w) // 2)).items()
        dotted = {name: dict.fromkeys(rows[0].by_views, each.mse) for name, each in known}
        _chart("by_views", rows, dotted)
        foot(result, partial(curves_csv, rows), "by-views.csv")


def _chart(key: str, rows: list[Row], references: dict[str, dict[int, float]]) -> None:
    """Errors of models, and dotted ones of references, against the number of views."""
    committed = {row.name for row in rows if not row.own}
    for index, row in enumerate(rows):
        if row.own and row.name in committed:
            rows[index] = replace(row, name=f"{row.name}, evaluated here")
    for name, errors in references.items():
        points = {views: Spread.of(error) for views, error in errors.items()}
        rows = [*rows, Row(NAMES.get(name, name), "", by_views=points)]
    known = {row.name: list(row.by_views.values()) for row in rows}
    ends = [f"{name} from {found[0]} to {found[-1]}" for name, found in known.items()]
    alt = f"Mean squared error from one view to many: {'; '.join(ends)}"
    charts.show(partial(error_by_views, rows), f"compare.chart.{key}", HEIGHT, alt)


def error_by_views(rows: Sequence[Row]) -> go.Figure:
    """Error against the number of views; bars are standard deviations over seeds."""
    traces = []
    for index, row in enumerate(rows):
        points = {views: found for views, found in row.by_views.items() if found}
        sds = [found.sd for found in points.values()]
        line = charts.line(
            list(points),
            [found.mean for found in points.values()],
            row.name,
            row.colour,
            "%{x} views: %{y:.4f}",
            dash="solid" if row.title else "dot",
            mode="lines+markers" if row.title else "lines+text",
            text=None if row.title else [*[""] * (len(points) - 1), row.name],
            textposition="top left",
            marker={"size": 8, "symbol": SYMBOLS[index % len(SYMBOLS)]},
            error_y={"array": sds, "thickness": 1, "visible": any(sds)},
        )
        traces.append(line)
    largest = MARGIN * max(max(trace.y, default=0) for trace in traces)
    return charts.figure(
        "views given",
        "mean squared error of a pixel",
        traces,
        xaxis=charts.sizes_axis(comparison.VIEWS),
        yaxis={"range": [-0.02 * largest, largest]},
        legend=True,
    )


def scaling(chosen: list[Choice]) -> None:
    result = results.load("scaling")
    with frame.card(
        "What it costs",
        "Digits are independent of each other, so an epoch takes time in proportion to their "
        "number P. The posterior of one digit takes time in proportion to Q³, or almost to Q "
        "with the Fourier features of the kernel.",
        key="compare.scaling",
    ):
        if not result:
            command("scaling")
            return
        with st.container(key="compare.three"):
            *two, third = st.columns(3)
        exponents = result["exponents"]
        for column, (what, (title, unit, help)) in zip(two, BY_DIGITS.items(), strict=True):
            values = [row[what]["mean"] for row in result["by_digits"]]
            sizes = [row["P"] for row in result["by_digits"]]
            said = [f"{value:.4g} with {P}" for P, value in zip(sizes, values, strict=True)]
            own = [
                (row.digits, mean, row.name)
                for row in measured(chosen)
                if row.digits and (mean := row.scores[what].mean) is not None
            ]
            with column:
                st.markdown(title.format(exponents["seconds_an_epoch_in_P"]), help=help)
                charts.show(
                    partial(by_digits, sizes, values, unit, own),
                    f"compare.chart.{what}_by_digits",
                    SMALL,
                    f"{unit} by the number of digits: {', '.join(said)}".capitalize(),
                )
        with third:
            st.markdown(
                "Time of a posterior against Q",
                help="One channel of 20 digits, forward and backward. Joint: one Gaussian over "
                "all 20 Q images, as in a model that does not factorise.",
            )
            said = [f"{n} as Q to the {exponents[f'{k}_in_Q']:.1f}" for k, n, *_ in POSTERIORS]
            charts.show(
                partial(by_views, result["by_views"], exponents),
                "compare.chart.seconds_by_views",
                SMALL,
                f"Seconds of a posterior against views Q: {', '.join(said)}",
            )
        foot(result, partial(scaling_csv, result), "scaling.csv")


_measured = partial(charts.line, mode="lines+markers", marker={"size": 7})


def by_digits(
    P: list[int], values: list[float], unit: str, own: list[tuple[int, float, str]]
) -> go.Figure:
    """Time or error against the number of digits P, on logarithmic axes; own runs as diamonds."""
    hover = "P = %{x}: %{y:.4g}"
    traces = [_measured(P, values, "measured", palette.GLOBAL, hover)]
    for x, y, name in own:
        dot = charts.dot(x, y, name, charts.GREY, hover)
        traces.append(dot.update(marker_symbol="diamond"))
    every = [*values, *(y for _, y, _ in own)]
    wide = max(every) > 5 * min(every)  # enough for the round numbers of a logarithmic axis
    yaxis = charts.log_axis(every) if wide else None
    return charts.figure("digits P", unit, traces, xaxis=charts.sizes_axis(P), yaxis=yaxis)


def by_views(rows: list[dict[str, Any]], exponents: dict[str, float]) -> go.Figure:
    """Seconds of a posterior against the number of views Q, each line with its exponent."""
    Q, traces = [row["Q"] for row in rows], []
    for kind, name, colour, dash in POSTERIORS:
        seconds, exponent = [row[kind] for row in rows], exponents[f"{kind}_in_Q"]
        line = _measured(Q, seconds, name, colour, "Q = %{x}: %{y:.3g} s", dash=dash)
        traces.append(line.update(name=f"{name} Q<sup>{exponent:.1f}</sup>"))
    return charts.figure(
        "views Q of each of 20 digits",
        "seconds",
        traces,
        xaxis=charts.sizes_axis(Q[::2]),
        yaxis=charts.POWERS,
        legend=True,
    )


def scaling_csv(result: dict[str, Any]) -> str:
    lines: list[tuple[Any, ...]] = []
    for row in result["by_digits"]:
        for what in BY_DIGITS:
            found = Spread.of(row[what])
            lines.append(("P", row["P"], what, found.mean, found.sd))
    for row in result["by_views"]:
        lines += [("Q", row["Q"], f"seconds_{k}", row[k], None) for k, *_ in POSTERIORS]
    lines += [("exponent", "", name, value, None) for name, value in result["exponents"].items()]
    return to_csv(["against", "size", "what", "value", "sd"], lines)
