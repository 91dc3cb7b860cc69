"""The cards with curves: errors against views, and costs against digits and views."""

from functools import partial
from typing import Any

import streamlit as st

from fgpvae.evaluation import comparison
from ui.catalog import Choice, results
from ui.charts import show
from ui.compare import charts
from ui.compare.evaluation import Measured, measured, tests
from ui.compare.files import choose_block, command, curves_csv, foot, to_csv
from ui.compare.pictures_card import NAMES, references
from ui.shell import frame, palette

HEIGHT, SMALL = 460, 330  # pixels of charts


def _dotted(name: str, errors: dict[int, float]) -> results.Curve:
    points = {views: results.Spread((error,)) for views, error in errors.items()}
    return results.Curve(NAMES.get(name, name), palette.TRUTH, points, "dot")


@st.fragment
def digits_by_views(chosen: list[Choice]) -> None:
    """Committed results for threes, with own models beside them."""
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
        block = choose_block([each for each in blocks if blocks[each]], "compare.curves")
        curves = blocks[block] + [each.curve for each in measured(chosen) if each.by_views]
        if not curves:
            sentence = "The error against the number of views given."
            command("extrapolation", "compare.extrapolation", sentence)
            return
        known = comparison.reference_by_views().items()
        _chart("views", curves, [_dotted(name, errors) for name, errors in known])
        waiting([choice for choice in chosen if choice.own])
        result = table if block == results.EQUAL else extrapolation
        foot(result, partial(curves_csv, curves), "views.csv")


def subjects_by_views(chosen: list[Choice]) -> None:
    """Errors of models of one collection, with references without a model."""
    collection = chosen[0].collection
    words = collection.words
    result = results.load("objects") if collection.name == "cubes" else None
    curves = results.committed_curves(result) + [each.curve for each in measured(chosen)]
    with frame.card(
        f"New {words.many} from few {words.views}",
        f"The error at all {words.views} that were not given. Dotted lines need no model and are "
        f"given one {words.views[:-1]}.",
        key="compare.by_views",
    ):
        if not curves:
            st.caption("Press Evaluate to measure the chosen models.")
            return
        known = references(chosen[0], (1, len(collection.first().w) // 2)).items()
        dotted = [_dotted(n, dict.fromkeys(curves[0].points, each.mse)) for n, each in known]
        _chart("by_views", curves, dotted)
        if result:
            foot(result, partial(curves_csv, curves), "objects.csv")


def _chart(key: str, curves: list[results.Curve], references: list[results.Curve]) -> None:
    every = curves + references
    known = {c.name: [p.mean for p in c.points.values() if p.mean is not None] for c in every}
    ends = [f"{name} from {e[0]:.4f} to {e[-1]:.4f}" for name, e in known.items() if e]
    show(
        partial(charts.error_by_views, every),
        f"compare.chart.{key}",
        HEIGHT,
        f"Mean squared error from one view to many: {'; '.join(ends)}",
    )


def waiting(own: list[Choice]) -> None:
    """Say which chosen models are not in the chart yet."""
    known = [each for each in tests(own) if not each.error]
    asked = [each.choice for each in known]
    if left := [choice.name for choice in own if choice not in asked]:
        names = frame.plain(", ".join(left))
        st.caption(f"Not measured yet: {names}. Press Evaluate above to measure them.")
    elif any(each.going for each in known):
        st.caption("They are being measured now, see the progress bar above.")


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
            command("scaling", "compare.scaling", "Time and error against digits P and views Q.")
            return
        with st.container(key="compare.three"):
            time_in_p, error_in_p, time_in_q = st.columns(3)
        exponents = result["exponents"]
        with time_in_p:
            exponent = exponents["seconds_an_epoch_in_P"]
            st.markdown(f"Time against digits P: exponent **{exponent:.2f}**")
            own = [(each, each.row.seconds) for each in measured(chosen)]
            by_digits(result, "seconds_an_epoch", "seconds an epoch", own)
        with error_in_p:
            help = "Every run has the same number of steps."
            st.markdown("Error on new digits against P", help=help)
            own = [(each, each.row.errors["extrapolation_mse"]) for each in measured(chosen)]
            by_digits(result, "extrapolation_mse", "mean squared error", own)
        with time_in_q:
            st.markdown(
                "Time of a posterior against Q",
                help="One channel of 20 digits, forward and backward. Joint: one Gaussian over "
                "all 20 Q images, as in a model that does not factorise.",
            )
            spoken = ", ".join(
                f"{name} as Q to the {exponents[f'{kind}_in_Q']:.1f}"
                for kind, name, *_ in charts.POSTERIORS
            )
            show(
                partial(charts.by_views, result),
                "compare.chart.seconds_by_views",
                SMALL,
                f"Seconds of a posterior against views Q: {spoken}",
            )
        foot(result, partial(scaling_csv, result), "scaling.csv")


def by_digits(
    result: dict[str, Any], name: str, title: str, own: list[tuple[Measured, results.Spread]]
) -> None:
    """Time or error against the number of digits, with one's own runs."""
    runs = [
        (each.row.name, each.digits, found.mean)
        for each, found in own
        if each.digits is not None and found.mean is not None
    ]
    sizes = [f"{row[name]['mean']:.4g} with {row['P']}" for row in result["by_digits"]]
    show(
        partial(charts.by_digits, result, name, title, runs),
        f"compare.chart.{name}_by_digits",
        SMALL,
        f"{title} by the number of digits: {', '.join(sizes)}".capitalize(),
    )


def scaling_csv(result: dict[str, Any]) -> str:
    lines: list[tuple[Any, ...]] = []
    for row in result["by_digits"]:
        for what in ("seconds_an_epoch", "extrapolation_mse"):
            found = results.spread(row[what])
            lines.append(("P", row["P"], what, found.mean, found.sd))
    for row in result["by_views"]:
        lines += [("Q", row["Q"], f"seconds_{k}", row[k], None) for k, *_ in charts.POSTERIORS]
    lines += [("exponent", "", name, value, None) for name, value in result["exponents"].items()]
    return to_csv(["against", "size", "what", "value", "sd"], lines)
