"""The card with the same digits through every model."""

import numpy as np
import streamlit as st

from fgpvae import UserError, comparison
from fgpvae.comparison import TRAINING, UNSEEN, UPRIGHT, Answer, Question
from fgpvae.data import ANGLES, HELD_OUT_INDEX
from ui.catalog import Choice
from ui.compare import picture_matrix
from ui.compare.files import KEEP
from ui.shell import frame
from ui.shell.kept import content, kept, sent

DEGREES = [f"{degrees:g}°" for degrees in np.rad2deg(ANGLES)]
ASK = {TRAINING: "Held-out angle", UNSEEN: "New digits", UPRIGHT: "One upright view"}
BY_NUMBER, BY_ERROR, BY_DIFFERENCE = "digit", "error", "difference"
SORTS = {BY_NUMBER: "Number", BY_ERROR: "Largest error", BY_DIFFERENCE: "Largest difference"}


@kept(64)
def answered(choice: Choice, question: Question) -> Answer | str:
    """What a model makes of the digits, or why it cannot."""
    try:
        return comparison.answer(choice.load(), question, choice.classes)
    except UserError as error:
        return str(error)


@kept(64)
def referred(question: Question) -> dict[str, Answer]:
    return comparison.references(question)


def ask(classes: list[int]) -> Question:
    """The controls above the pictures."""
    left, middle, right = st.columns([3, 3, 1])
    kind = left.segmented_control(
        "Digits",
        list(ASK),
        default=UNSEEN,
        required=True,
        format_func=ASK.__getitem__,
        key="compare.ask",
        wrap=True,
        **KEEP,
    )
    views, angle = 11, HELD_OUT_INDEX
    if kind == UNSEEN:
        views = middle.select_slider(
            "Views given", comparison.VIEWS, 11, key="compare.given", **KEEP
        )
    elif kind == UPRIGHT:
        angle = 1 + DEGREES[1:].index(
            middle.select_slider(
                "Asked for at", DEGREES[1:], DEGREES[HELD_OUT_INDEX], key="compare.at", **KEEP
            )
        )
    label = 3 if 3 in classes else classes[0]
    if len(classes) > 1:
        label = right.selectbox("Class", classes, classes.index(label), key="compare.class", **KEEP)
    return Question(kind, views, angle, label)


def sort(columns: list[picture_matrix.Column]) -> np.ndarray:
    """The order of the digits."""
    errors = {column.name: column.answer.errors for column in columns}
    names = list(errors)
    left, first, second = st.columns([3, 2, 2])
    by = left.segmented_control(
        "First comes",
        list(SORTS),
        default=BY_NUMBER,
        required=True,
        format_func=SORTS.__getitem__,
        key="compare.sort",
        wrap=True,
        **KEEP,
    )
    if by == BY_NUMBER:
        return np.arange(len(errors[names[0]]))
    one = first.selectbox("of" if by == BY_ERROR else "between", names, key="compare.one", **KEEP)
    others = [name for name in names if name != one]
    if by == BY_ERROR or not others:
        return comparison.by_error(errors[one])
    other = second.selectbox("and", others, key="compare.other", **KEEP)
    return comparison.by_difference(errors[one], errors[other])


@st.fragment
def pictures(chosen: list[Choice]) -> None:
    with frame.card(
        "The same digits through every model",
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
        question = ask(sorted({label for choice in chosen for label in choice.classes}))
        with st.spinner("Generating", show_time=True):
            found = {choice.name: answered(choice, question) for choice in chosen}
            given = referred(question)
        columns, truth = picture_matrix.columns(found), comparison.truth(question)
        numbers = comparison.numbers(question)
        order = sort(columns) if columns else np.arange(len(numbers))
        names = {comparison.MEAN_IMAGE: "mean image", comparison.ROTATED_VIEW: "geometric rotation"}
        columns += [picture_matrix.Column(names[n], each, model=False) for n, each in given.items()]
        place = st.container()
        with st.container(horizontal=True, vertical_alignment="bottom"):
            count = st.segmented_control(
                "Digits shown",
                [8, 16, 40],
                default=8,
                required=True,
                key="compare.shown",
                label_visibility="collapsed",
                **KEEP,
            )
            every = order.tolist()
            picture_matrix.save(truth, numbers, every, count, columns)
        with place:
            shown = every[:count]
            sent(
                content("digits", question, chosen, shown),
                lambda: st.html(picture_matrix.html(truth, numbers, shown, columns)),
            )
            picture_matrix.reasons(found)
