"""The card with the same subjects through every model."""

from collections.abc import Sequence
from functools import partial

import numpy as np
import streamlit as st

from fgpvae import UserError
from fgpvae.data import ANGLES, HELD_OUT_INDEX
from fgpvae.data.collections import Digits
from fgpvae.evaluation import comparison
from fgpvae.evaluation.comparison import TRAINING, UNSEEN, UPRIGHT, Answer, Question
from ui.catalog import Choice
from ui.compare.files import download
from ui.compare.picture_matrix import Column, Matrix
from ui.inference.places import labels
from ui.shell import frame
from ui.shell.query_params import KEEP, segments

DEGREES = [f"{degrees:g}°" for degrees in np.rad2deg(ANGLES)]
ASK = {TRAINING: "Held-out angle", UNSEEN: "New digits", UPRIGHT: "One upright view"}
BY_NUMBER, BY_ERROR, BY_DIFFERENCE = "digit", "error", "difference"
SORTS = {BY_NUMBER: "Number", BY_ERROR: "Largest error", BY_DIFFERENCE: "Largest difference"}
NAMES = {comparison.ROTATED_VIEW: "geometric rotation"}
Asked = Question | tuple[int, int]  # of objects and films: number of given views, target


@st.cache_resource(max_entries=64, show_spinner=False)
def answered(choice: Choice, asked: Asked) -> Answer | str:
    """Predictions of a model for the subjects, or the reason why there are none."""
    try:
        if isinstance(asked, Question):
            return comparison.answer(choice.load(), asked, choice.classes)
        return comparison.subject_answer(choice.load(), choice.collection, *asked)
    except UserError as error:
        return str(error)


@st.cache_resource(max_entries=64, show_spinner=False)
def references(choice: Choice, asked: Asked) -> dict[str, Answer]:
    """References without a model."""
    if isinstance(asked, Question):
        return comparison.references(asked)
    return comparison.subject_references(choice.collection, *asked)


@st.fragment
def pictures(chosen: list[Choice]) -> None:
    """The same new subjects through every model."""
    words = chosen[0].collection.words if chosen else Digits.words
    with frame.card(
        f"The same {words.many} through every model",
        "Beside each picture is its error: grey where it is right, white where there is too "
        "much ink, black where ink is missing. The number is the mean squared error; the best "
        "model is bold.",
        key="compare.pictures",
    ):
        if not chosen:
            frame.empty(
                "No model chosen",
                "Choose models above to see the same digits through each of them.",
            )
            return
        ask = ask_digits if chosen[0].classes else ask_subjects
        asked, truth, numbers = ask(chosen)
        noun = words.one.split()[-1]
        with st.spinner("Generating", show_time=True):
            found = {choice.name: answered(choice, asked) for choice in chosen}
            given = references(chosen[0], asked)
        columns = [Column(n, each) for n, each in found.items() if isinstance(each, Answer)]
        order = sort(columns) if columns else range(len(numbers))
        columns += [Column(NAMES.get(n, n), each, model=False) for n, each in given.items()]
        matrix = Matrix(truth, noun, numbers, order, columns)
        place = st.container()
        with st.container(horizontal=True, vertical_alignment="bottom"):
            label = f"{words.many.capitalize()} shown"
            counts = [8, 16, 40]
            count = segments(label, counts, "compare.shown", label_visibility="collapsed")
            download(matrix.csv, f"{noun}s.csv")
            download(partial(matrix.png, count), f"{noun}s.png")
        with place:
            st.html(matrix.html(count))
            for name, reason in found.items():
                if isinstance(reason, str):
                    st.caption(frame.plain(f"{name}: {reason}"))


def ask_digits(chosen: list[Choice]) -> tuple[Asked, np.ndarray, Sequence[int]]:
    """Controls for digits: the question, the true pictures and their names."""
    classes = sorted({label for choice in chosen for label in choice.classes})
    left, middle, right = st.columns([3, 3, 1])
    with left:
        kind = segments("Digits", ASK, "compare.ask", default=UNSEEN)
    views, angle = 11, HELD_OUT_INDEX
    if kind == UNSEEN:
        views = middle.select_slider(
            "Views given", comparison.VIEWS, 11, key="compare.given", **KEEP
        )
    elif kind == UPRIGHT:
        at = middle.select_slider(
            "Asked for at", DEGREES[1:], DEGREES[HELD_OUT_INDEX], key="compare.at", **KEEP
        )
        angle = DEGREES.index(at)
    label = comparison.table_label(classes)
    if len(classes) > 1:
        label = right.selectbox("Class", classes, classes.index(label), key="compare.class", **KEEP)
    question = Question(kind, views, angle, label)
    return question, comparison.truth(question), comparison.numbers(question)


def ask_subjects(chosen: list[Choice]) -> tuple[Asked, np.ndarray, Sequence[int]]:
    """The same controls for objects and films."""
    collection = chosen[0].collection
    words, shown = collection.words, labels(collection.track, collection.first().w)
    left, right = st.columns(2, gap="medium")
    counts = [count for count in comparison.GIVEN if count < len(shown)]
    # one frame does not determine the path of a film
    first = 4 if not collection.track.period and 4 in counts else counts[0]
    with left:
        title = f"{words.views.capitalize()} given"
        given = segments(title, counts, "compare.subject_given", default=first)
    view = right.select_slider(
        f"Asked for at {words.place}",
        range(len(shown)),
        len(shown) // 2,
        format_func=shown.__getitem__,
        key=f"compare.subject_at.{collection.name}.{len(shown)}",
        help=f"Each {words.one} is asked for at the nearest {words.place} that it has.",
    )
    truth = comparison.subject_truth(collection, view)
    return (given, view), truth, range(len(truth))


def sort(columns: list[Column]) -> list[int]:
    """The order of the subjects."""
    errors = {column.name: column.answer.errors for column in columns}
    names = list(errors)
    left, first, second = st.columns([3, 2, 2])
    with left:
        by = segments("First comes", SORTS, "compare.sort")
    if by == BY_NUMBER:
        return list(range(len(errors[names[0]])))
    one = first.selectbox("of" if by == BY_ERROR else "between", names, key="compare.one", **KEEP)
    others = [name for name in names if name != one]
    large = errors[one]
    if by != BY_ERROR and others:
        other = second.selectbox("and", others, key="compare.other", **KEEP)
        large = np.abs(large - errors[other])
    return np.argsort(-large, kind="stable").tolist()
