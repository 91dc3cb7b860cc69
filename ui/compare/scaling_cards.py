"""The cards with the error against views, and what digits and views cost."""

from functools import partial
from typing import Any

import streamlit as st

from fgpvae import comparison
from ui.catalog import Choice, results
from ui.charts import show
from ui.compare import charts
from ui.compare.evaluation import Measured, own_curve, queue
from ui.compare.files import BLOCK, KEEP, command, foot
from ui.compare.tables import curves_csv, scaling_csv
from ui.shell import frame, palette
from ui.shell.kept import kept


@kept(2)
def reference_curves() -> list[results.Curve]:
    return [
        results.Curve(
            "geometric rotation" if name == comparison.ROTATED_VIEW else name,
            palette.TRUTH,
            {views: results.Spread((error,)) for views, error in errors.items()},
            "dot",
        )
        for name, errors in comparison.reference_by_views().items()
    ]


@st.fragment
def context(own: list[Measured], unmeasured: list[Choice]) -> None:
    extrapolation, table = results.load("extrapolation"), results.load("table1")
    blocks = {
        results.EQUAL: results.equal_curves(table),
        results.PUBLISHED: results.committed_curves(extrapolation),
    }
    with frame.card(
        "How many views it takes",
        "The error on new digits at 157.5°, when the model is given more and more views of them.",
        key="compare.context",
    ):
        known = [name for name, found in blocks.items() if found]
        block = next(iter(known), results.PUBLISHED)
        if len(known) > 1:
            block = st.segmented_control(
                "Settings", known, default=block, key="compare.curves", **BLOCK, **KEEP
            )
        curves = blocks[block] + [own_curve(each) for each in own if each.by_views]
        if not curves:
            command(
                "extrapolation",
                "compare.extrapolation",
                "The error against the number of views given.",
            )
            return
        every = curves + reference_curves()
        show(
            partial(charts.error_by_views, every),
            "compare.chart.views",
            charts.VIEWS_HEIGHT,
            falling(every),
        )
        waiting(unmeasured)
        result = table if block == results.EQUAL else extrapolation
        foot(result, partial(curves_csv, curves), "views.csv")


def falling(curves: list[results.Curve]) -> str:
    """The chart of errors against views in words."""
    known = {c.name: [p.mean for p in c.points.values() if p.mean is not None] for c in curves}
    ends = [f"{name} from {e[0]:.4f} to {e[-1]:.4f}" for name, e in known.items() if e]
    return "Mean squared error from one view to many: " + "; ".join(ends)


def waiting(unmeasured: list[Choice]) -> None:
    """Say which of the chosen models are not in a chart yet, with the button that changes it."""
    asked = {test.choice for test in queue().tests(unmeasured) if not test.error}
    left = [choice for choice in unmeasured if choice not in asked]
    if left:
        with st.container(horizontal=True, vertical_alignment="center"):
            names = frame.plain(", ".join(choice.name for choice in left))
            st.caption(f"Not measured yet: {names}.", width="content")
            st.button("Measure", key="compare.measure", on_click=queue().add, args=(left,))
    elif asked:
        st.caption("They are being measured now, see the progress bar above.")


def by_digits(
    result: dict[str, Any], name: str, title: str, points: list[tuple[str, int, float]]
) -> None:
    sizes = [(row["P"], row[name]["mean"]) for row in result["by_digits"]]
    said = ", ".join(f"{value:.4g} with {P}" for P, value in sizes)
    show(
        partial(charts.by_digits, result, name, title, points),
        f"compare.chart.{name}_by_digits",
        charts.SCALING_HEIGHT,
        f"{title} by the number of digits: {said}".capitalize(),
    )


def scaling(own: list[Measured]) -> None:
    result = results.load("scaling")
    with frame.card(
        "What it costs",
        "Digits are independent of each other, so an epoch takes time in proportion to their "
        "number P. The posterior of one digit takes time in proportion to Q³, or almost to Q "
        "with the Fourier features of the kernel.",
        key="compare.scaling",
    ):
        if not result:
            command("scaling", "compare.scaling", "Time and error against digits P and views Q.")
            return
        exponent = result["exponents"]["seconds_an_epoch_in_P"]
        known = [(e.row.name, e.digits, e.row) for e in own if e.digits is not None]
        with st.container(key="compare.three"):
            time_in_p, error_in_p, time_in_q = st.columns(3)
        with time_in_p:
            st.markdown(f"Time against digits P: exponent **{exponent:.2f}**")
            points = [
                (name, P, seconds)
                for name, P, row in known
                if (seconds := row.seconds.mean) is not None
            ]
            by_digits(result, "seconds_an_epoch", "seconds an epoch", points)
        with error_in_p:
            st.markdown(
                ("Error on new digits against P"), help="Every run has the same number of steps."
            )
            points = [
                (name, P, error)
                for name, P, row in known
                if (error := row.errors["extrapolation_mse"].mean) is not None
            ]
            by_digits(result, "extrapolation_mse", "mean squared error", points)
        with time_in_q:
            st.markdown(
                "Time of a posterior against Q",
                help="One channel of 20 digits, forward and backward. Joint: one Gaussian over "
                "all 20 Q images, as in a model that does not factorise.",
            )
            show(
                partial(charts.by_views, result),
                "compare.chart.seconds_by_views",
                charts.SCALING_HEIGHT,
                "Seconds of a posterior against views Q: "
                + ", ".join(
                    f"{name} as Q to the {result['exponents'][f'{kind}_in_Q']:.1f}"
                    for kind, name, *_ in charts.POSTERIORS
                ),
            )
        foot(result, partial(scaling_csv, result), "scaling.csv")
