"""Models side by side: the paper's table next to ours, the same digits through each, and cost."""

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from fgpvae import UserError, comparison
from fgpvae.comparison import TRAINING, UNSEEN, UPRIGHT, Answer, Question
from fgpvae.data import ANGLES, HELD_OUT
from ui import charts, colours, frame, matrix, models, plot, results
from ui.models import Choice

DEGREES = [f"{degrees:g}°" for degrees in np.rad2deg(ANGLES)]
ASK = {TRAINING: "Held-out angle", UNSEEN: "New digits", UPRIGHT: "One upright view"}
BY_NUMBER, BY_ERROR, BY_DIFFERENCE = "digit", "error", "difference"
SORTS = {BY_NUMBER: "Number", BY_ERROR: "Largest error", BY_DIFFERENCE: "Largest difference"}
KEEP = {"bind": "query-params", "persist_state": "session"}
SHIPPED_FIRST = 3  # models that are chosen to begin with


@st.cache_data(max_entries=64, show_spinner=False)
def answered(choice: Choice, question: Question) -> Answer | str:
    """What a model makes of the digits, or why it cannot."""
    try:
        return comparison.answer(choice.load(), question, choice.classes)
    except UserError as error:
        return str(error)


@st.cache_data(max_entries=64, show_spinner=False)
def referred(question: Question) -> dict[str, Answer]:
    return comparison.references(question)


@st.cache_data(max_entries=8, show_spinner=False)
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


@st.cache_data(max_entries=2, show_spinner=False)
def reference_curves() -> list[results.Curve]:
    return [
        results.Curve(
            "geometric rotation" if name == comparison.ROTATED_VIEW else name,
            colours.TRUTH,
            {views: results.Spread((error,)) for views, error in errors.items()},
            "dot",
        )
        for name, errors in comparison.reference_by_views().items()
    ]


def choose() -> list[Choice]:
    """The models of this page, and the button that tests those that have not been."""
    every = {choice.name: choice for choice in models.available()}
    if not every:
        return []
    shipped = [name for name, choice in every.items() if not choice.own]
    left, right = st.columns([4, 1], vertical_alignment="bottom")
    names = left.multiselect(
        "Models",
        list(every),
        default=shipped[:SHIPPED_FIRST],
        key="models",
        placeholder="Choose models",
        help="Models that come with the app, then your own runs, newest first.",
        **KEEP,
    )
    chosen = [every[name] for name in names]
    missing = [choice for choice in chosen if choice not in results.measured()]
    place = right.empty()
    pressed = place.button(
        "Evaluate",
        disabled=not missing,
        width="stretch",
        help="Test the chosen models by the benchmark; their figures then stand beside ours.",
    )
    if pressed:
        evaluate(missing, place)
        st.rerun()
    return chosen


def evaluate(missing: list[Choice], place: DeltaGenerator) -> None:
    """Test models one after the other, with a bar that says how long it will take."""
    bar, began = place.progress(0.0, "Testing"), time.monotonic()
    for done, choice in enumerate(missing):

        def progress(share: float, done: int = done, name: str = choice.name) -> None:
            whole = (done + share) / len(missing)
            left = (time.monotonic() - began) * (1 - whole) / whole
            bar.progress(whole, frame.plain(f"{name}: {left:.0f} s left"))

        try:
            results.measure(choice, progress)
        except UserError as error:
            st.error(frame.plain(f"{choice.name} could not be tested: {error}"))
            st.stop()


def command(experiment: str, key: str, sentence: str) -> None:
    """A card for a result that has not been computed."""
    with frame.empty("Not measured yet", sentence, key=key):
        st.markdown(f"`python -m fgpvae experiment {experiment} --seeds 5`")


@st.fragment
def table(own: list[results.Measured]) -> None:
    result = results.load("table1")
    with frame.card(
        "The paper's table next to ours",
        "How far a generated pixel is from the true one. Dots are means over seeds with their "
        "standard deviation, diamonds are what the paper reports, dotted lines need no model.",
        key="table",
    ):
        rows = results.committed_rows(result) + [each.row for each in own]
        if not rows:
            command(
                "table1",
                "table1",
                "The error of every model of the paper, over five seeds, beside the published one.",
            )
            return
        metric = st.segmented_control(
            "Test",
            list(results.METRICS),
            default="test_mse",
            required=True,
            format_func=results.METRICS.get,
            key="metric",
            label_visibility="collapsed",
            **KEEP,
        )
        st.caption(results.EXPLAINED[metric])
        lines = without_a_model(metric)
        if metric == "test_mse" and result:
            lines = {results.TRIVIAL.get(n, n): value for n, value in result["trivial"].items()}
        plot.show(charts.errors(rows, metric, lines), "chart-table", "table")
        st.html(results.table_html(rows, metric))
        notes(own)
        trivial = result["trivial"] if result else without_a_model("test_mse")
        foot(result, results.table_csv(rows, trivial, bool(result)), "table.csv")


def notes(own: list[results.Measured]) -> None:
    """What the figures of one's own models do not say by themselves."""
    everywhere = [each.row.name for each in own if not each.row.errors["test_mse"].values]
    if everywhere:
        st.caption(
            f"{frame.plain(', '.join(everywhere))}: trained on all angles, so for it no angle is "
            "held out and 157.5° is an angle like any other."
        )
    for each in own:
        if each.label != 3:
            name = frame.plain(each.row.name)
            st.caption(f"{name}: tested on digits of class {each.label}, not on threes.")


def ask(classes: list[int]) -> Question:
    """The controls above the pictures."""
    left, middle, right = st.columns([3, 3, 1])
    kind = left.segmented_control(
        "Digits",
        list(ASK),
        default=UNSEEN,
        required=True,
        format_func=ASK.get,
        key="ask",
        **KEEP,
    )
    views, angle = 11, HELD_OUT
    if kind == UNSEEN:
        views = middle.select_slider("Views given", comparison.VIEWS, 11, key="given", **KEEP)
    elif kind == UPRIGHT:
        angle = 1 + DEGREES[1:].index(
            middle.select_slider("Asked for at", DEGREES[1:], DEGREES[HELD_OUT], key="at", **KEEP)
        )
    label = 3 if 3 in classes else classes[0]
    if len(classes) > 1:
        label = right.selectbox("Class", classes, classes.index(label), key="class", **KEEP)
    return Question(kind, views, angle, label)


def sort(columns: list[matrix.Column]) -> np.ndarray:
    """The order of the digits."""
    errors = {column.name: column.answer.errors for column in columns}
    names = list(errors)
    left, first, second = st.columns([3, 2, 2])
    by = left.segmented_control(
        "First comes",
        list(SORTS),
        default=BY_NUMBER,
        required=True,
        format_func=SORTS.get,
        key="sort",
        **KEEP,
    )
    if by == BY_NUMBER:
        return np.arange(len(errors[names[0]]))
    one = first.selectbox("of" if by == BY_ERROR else "between", names, key="one", **KEEP)
    others = [name for name in names if name != one]
    if by == BY_ERROR or not others:
        return comparison.by_error(errors[one])
    other = second.selectbox("and", others, key="other", **KEEP)
    return comparison.by_difference(errors[one], errors[other])


@st.fragment
def pictures(chosen: list[Choice]) -> None:
    with frame.card(
        "The same digits through every model",
        "Beside each picture its error: grey where it is right, white where there is ink too much, "
        "black where ink is missing. Below it the mean squared error; the best model is bold.",
        key="pictures",
    ):
        if not chosen:
            frame.empty(
                "No model chosen",
                "Choose models above to see the same digits through each of them.",
            )
            return
        question = ask(sorted({label for choice in chosen for label in choice.classes}))
        with st.spinner("Generating", show_time=True):
            found = {choice.name: answered(choice, question) for choice in chosen}
            given = referred(question)
        columns = [matrix.Column(n, a) for n, a in found.items() if isinstance(a, Answer)]
        truth, numbers = comparison.truth(question), comparison.numbers(question)
        order = sort(columns) if columns else np.arange(len(numbers))
        names = {comparison.MEAN_IMAGE: "mean image", comparison.ROTATED_VIEW: "geometric rotation"}
        columns += [matrix.Column(names[n], each, model=False) for n, each in given.items()]
        place = st.container()
        for name, reason in found.items():
            if isinstance(reason, str):
                st.caption(frame.plain(f"{name}: {reason}"))
        with st.container(horizontal=True, vertical_alignment="bottom"):
            count = st.segmented_control(
                "Digits shown",
                [8, 16, 40],
                default=8,
                required=True,
                key="shown",
                label_visibility="collapsed",
                **KEEP,
            )
            shown = order[:count]
            place.html(matrix.html(truth, numbers, shown, columns))
            download(matrix.csv(numbers, order, columns), "digits.csv")
            picture = partial(matrix.png, truth, numbers, shown, columns)
            download(picture, "digits.png", "image/png")


def context(own: list[results.Measured]) -> None:
    result = results.load("extrapolation")
    curves = results.committed_curves(result)
    curves += [results.own_curve(each) for each in own if each.by_views]
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
        foot(result, results.curves_csv(curves), "views.csv")


def scaling(own: list[results.Measured]) -> None:
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
        known = [each for each in own if each.digits is not None]
        time_in_p, error_in_p, time_in_q = st.columns(3)
        with time_in_p:
            st.markdown(f"Time in P: exponent **{exponent:.2f}**")
            points = [(e.row.name, e.digits, e.row.seconds.mean) for e in known]
            made = charts.by_digits(result, "seconds_an_epoch", "seconds an epoch", points)
            plot.show(made, "chart-seconds-by-digits", "seconds-by-digits")
        with error_in_p:
            st.markdown("Error of new digits in P", help="Every run has the same number of steps.")
            points = [
                (e.row.name, e.digits, e.row.errors["extrapolation_mse"].mean)
                for e in known
                if e.row.errors["extrapolation_mse"].values
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
        foot(result, results.scaling_csv(result), "scaling.csv")


def foot(result: dict[str, Any] | None, content: str, name: str) -> None:
    """Below a figure: the file, and where the figures come from."""
    with st.container(horizontal=True, vertical_alignment="center"):
        download(content, name)
        if result:
            st.caption(frame.plain(results.provenance(result)))


def download(content: str | Callable[[], bytes], name: str, kind: str = "text/csv") -> None:
    st.download_button(
        name.rsplit(".")[-1].upper(),
        content,
        f"fgpvae-{name}",
        kind,
        key=f"download-{name}",
        on_click="ignore",
        help="Save this as a file.",
    )


frame.guard()
frame.heading(
    "Compare", "The same test images through every model, the paper's table next to ours."
)
st.html(f"<style>{results.STYLE}{matrix.STYLE}</style>")
chosen = choose()
own = [found for choice in chosen if (found := results.measured().get(choice)) is not None]
table(own)
pictures(chosen)
context(own)
scaling(own)
