"""The card with the paper's table next to ours."""

from functools import partial

import numpy as np
import streamlit as st

from fgpvae import comparison
from fgpvae.comparison import TRAINING, UNSEEN, UPRIGHT, Question
from fgpvae.data import ANGLES
from ui.catalog import results
from ui.charts import phone, show
from ui.compare import charts, tables
from ui.compare.evaluation import Measured
from ui.compare.files import BLOCK, KEEP, command, foot
from ui.shell import frame
from ui.shell.kept import kept


@kept(8)
def without_a_model(metric: str) -> dict[str, float]:
    """The mean image and the geometric rotation in a column of the table."""
    questions = {
        "test_mse": [Question(TRAINING)],
        "extrapolation_mse": [Question(UNSEEN)],
        "one_view_mse": [Question(UPRIGHT, angle=k) for k in range(1, len(ANGLES))],
    }[metric]
    found = [comparison.references(question) for question in questions]
    names = {comparison.MEAN_IMAGE: "mean image", comparison.ROTATED_VIEW: "geometric rotation"}
    return {n: float(np.mean([each[key].mse for each in found])) for key, n in names.items()}


@st.fragment
def table(own: list[Measured]) -> None:
    result = results.load("table1")
    with frame.card(
        "The paper's table next to ours",
        "How far a generated pixel is from the true one, on average. Dots are means over "
        "several seeds with their standard deviation, diamonds are the values in the paper, "
        "dotted lines need no model.",
        key="compare.table",
    ):
        blocks = results.blocks(result)
        block = next(iter(blocks), results.PUBLISHED)
        if len(blocks) > 1:
            block = st.segmented_control(
                "Settings", blocks, default=block, key="compare.block", **BLOCK, **KEEP
            )
        committed = results.committed_rows(result, block)
        rows = committed + [each.row for each in own]
        if not rows:
            command(
                "table1",
                "compare.table1",
                "The error of every model of the paper, over five seeds, beside the published one.",
            )
            return
        metric = st.segmented_control(
            "Test",
            list(results.METRICS),
            default="test_mse",
            required=True,
            format_func=results.METRICS.__getitem__,
            key="compare.metric",
            label_visibility="collapsed",
            **KEEP,
        )
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
            partial(charts.errors, rows, metric, lines, phone()),
            "compare.chart.table",
            charts.errors_height(rows, phone()),
            f"Mean squared error of every model, {results.METRICS[metric]}: {spoken}",
        )
        tables.show(rows)
        tables.show_references(lines)
        notes(rows, own)
        trivial = result["trivial"] if result else without_a_model("test_mse")
        foot(result, partial(tables.table_csv, rows, trivial, bool(result)), "table.csv")


def notes(rows: list[results.Row], own: list[Measured]) -> None:
    """What the figures do not say by themselves."""
    if any("dense networks" in row.title for row in rows):
        st.caption(
            "The rows with dense networks, or with an encoder that is told the angle, are not "
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
