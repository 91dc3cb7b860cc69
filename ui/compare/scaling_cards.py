"""The cards with the error against views, and what digits and views cost."""

import streamlit as st

from fgpvae import comparison
from ui.catalog import results
from ui.charts import plot
from ui.compare import charts
from ui.compare.evaluation import Measured, own_curve
from ui.compare.files import command, foot
from ui.compare.tables import curves_csv, scaling_csv
from ui.shell import frame, palette


@st.cache_data(max_entries=2, show_spinner=False)
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


def context(own: list[Measured]) -> None:
    result = results.load("extrapolation")
    curves = results.committed_curves(result)
    curves += [own_curve(each) for each in own if each.by_views]
    with frame.card(
        "How many views it takes",
        "The error on new digits at 157.5° falls as the model is given more views of them.",
        key="context",
    ):
        if not curves:
            command(
                "extrapolation", "extrapolation", "The error against the number of views given."
            )
            return
        made = charts.error_by_views(curves + reference_curves())
        plot.show(made, "chart-views", "views")
        foot(result, curves_csv(curves), "views.csv")


def scaling(own: list[Measured]) -> None:
    result = results.load("scaling")
    with frame.card(
        "What it costs",
        "Because digits are independent, an epoch takes as much longer as there are more digits. "
        "The posterior of a digit costs Q³, or next to Q through the kernel's Fourier features.",
        key="scaling",
    ):
        if not result:
            command("scaling", "scaling", "Time and error against digits P and views Q.")
            return
        exponent = result["exponents"]["seconds_an_epoch_in_P"]
        known = [(e.row.name, e.digits, e.row) for e in own if e.digits is not None]
        time_in_p, error_in_p, time_in_q = st.columns(3)
        with time_in_p:
            st.markdown(f"Time in P: exponent **{exponent:.2f}**")
            points = [
                (name, P, seconds)
                for name, P, row in known
                if (seconds := row.seconds.mean) is not None
            ]
            made = charts.by_digits(result, "seconds_an_epoch", "seconds an epoch", points)
            plot.show(made, "chart-seconds-by-digits", "seconds-by-digits")
        with error_in_p:
            st.markdown("Error of new digits in P", help="Every run has the same number of steps.")
            points = [
                (name, P, error)
                for name, P, row in known
                if (error := row.errors["extrapolation_mse"].mean) is not None
            ]
            made = charts.by_digits(result, "extrapolation_mse", "mean squared error", points)
            plot.show(made, "chart-error-by-digits", "error-by-digits")
        with time_in_q:
            st.markdown(
                "Time of a posterior in Q",
                help="One channel of 20 digits, forward and backward. Joint: one Gaussian over "
                "all 20 Q images, as in a model that does not factorise.",
            )
            plot.show(charts.by_views(result), "chart-seconds-by-views", "seconds-by-views")
        foot(result, scaling_csv(result), "scaling.csv")
