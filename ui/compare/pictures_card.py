"""The card with the same subjects through every model: pictures, error maps and errors."""

import io
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import numpy as np
import streamlit as st
from PIL import Image, ImageDraw, ImageFont

from fgpvae import UserError, images
from fgpvae.data import ANGLES, HELD_OUT_INDEX
from fgpvae.data.collections import Digits
from fgpvae.evaluation import comparison
from fgpvae.evaluation.comparison import TRAINING, UNSEEN, UPRIGHT, Answer, Question
from ui.catalog import Choice
from ui.compare.files import download, to_csv
from ui.components.pictures import address
from ui.inference.places import labels
from ui.shell import frame
from ui.shell.query_params import KEEP, segments

DEGREES = [f"{degrees:g}°" for degrees in np.rad2deg(ANGLES)]
ASK = {TRAINING: "Held-out angle", UNSEEN: "New digits", UPRIGHT: "One upright view"}
BY_NUMBER, BY_ERROR, BY_DIFFERENCE = "digit", "error", "difference"
SORTS = {BY_NUMBER: "Number", BY_ERROR: "Largest error", BY_DIFFERENCE: "Largest difference"}
NAMES = {comparison.ROTATED_VIEW: "geometric rotation"}
SCALE, GREY = 3, "#6e6e6e"  # enlargement and colour of minor words in the file
GAP, HEAD, FOOT = 10, 46, 30  # pixels in the file
STYLE = """<style>
.scroll { overflow-x: auto; }
.matrix { display: grid; gap: 0.75rem 1rem; font-size: 0.8rem; padding-bottom: 0.4rem; }
.matrix > div { text-align: center; }
.matrix .head { line-height: 1.35; overflow: hidden; text-overflow: ellipsis; align-self: end; }
.matrix .quiet, .matrix .first .text { opacity: 0.7; font-weight: 400; }
.matrix .first, .matrix .head:first-child {
  position: sticky; left: 0; z-index: 1; padding-right: 0.5rem;
  background: light-dark(#ffffff, #171b24);
}
.matrix .pair { display: flex; gap: 4px; justify-content: center; }
.matrix img {
  width: 60px; height: 60px; object-fit: contain; border-radius: 6px; image-rendering: pixelated;
}
.matrix .text { font-variant-numeric: tabular-nums; }
</style>"""
Cell = tuple[dict[str, np.ndarray], str, bool]  # pictures by description, text, is it the best?
Asked = Question | tuple[int, int]  # of objects and films: number of given views, target


@dataclass(frozen=True)
class Matrix:
    """One row per subject; columns for the truth, each model, and each reference without one."""

    truth: np.ndarray  # [P, H, W]
    noun: str  # names of the subjects
    numbers: Sequence[int]  # indices of the P subjects
    order: Sequence[int]  # order of the subjects
    models: dict[str, Answer]
    references: dict[str, Answer]

    def columns(self, count: int) -> list[tuple[str, str, list[Cell]]]:
        """Name, mean error and cells of each column; the best model of a row is bold."""
        few = {p: f"{self.noun} {self.numbers[p]}" for p in self.order[:count]}
        true = [({f"{name}, truth": self.truth[p]}, name, False) for p, name in few.items()]
        columns = [("truth", "", true)]
        best = np.min([each.errors for each in self.models.values()] or [np.zeros(0)], axis=0)
        for title, each in (self.models | self.references).items():
            # grey for none, white for too much ink, black for too little
            errors = np.clip(0.5 + 0.5 * each.differences, 0, 1)
            cells = [
                (
                    {f"{name}, {title}": each.images[p], f"{name}, {title}, error": errors[p]},
                    f"{each.errors[p]:.4f}",
                    title in self.models and each.errors[p] == best[p],
                )
                for p, name in few.items()
            ]
            columns.append((title, f"mean {each.mse:.4f}", cells))
        return columns

    def html(self, count: int) -> str:
        """The first subjects."""
        columns = self.columns(count)
        parts = [
            f'<div class="head"><b>{escape(name)}</b><br><span class="quiet">{mean}</span></div>'
            for name, mean, _ in columns
        ]
        for row in zip(*(cells for *_, cells in columns), strict=True):
            for number, (shown, text, best) in enumerate(row):
                tags = "".join(
                    f'<img src="{address(image)}" alt="{escape(alt)}">'
                    for alt, image in shown.items()
                )
                text = f"<b>{text}</b>" if best else text
                parts.append(
                    f'<div class="{"" if number else "first"}"><div class="pair">{tags}</div>'
                    f'<div class="text">{text}</div></div>'
                )
        layout = f"max-content repeat({len(columns) - 1}, minmax(128px, 1fr))"
        return (
            f'<div class="scroll"><div class="matrix" style="grid-template-columns:{layout}">'
            f"{''.join(parts)}</div></div>{STYLE}"
        )

    def png(self, count: int) -> bytes:
        """The matrix as a picture, black on white."""
        height, width = (SCALE * size for size in self.truth.shape[-2:])
        columns, down, right = self.columns(count), height + FOOT, width + 4
        pair = 2 * right + 2 * GAP
        size = GAP + right + 2 * GAP + pair * (len(columns) - 1), HEAD + down * len(columns[0][-1])
        page = Image.new("RGB", size, "white")
        pen, font, small = ImageDraw.Draw(page), *map(ImageFont.load_default, (14, 12))
        left = GAP
        for name, mean, cells in columns:
            while len(name) > 1 and pen.textlength(name, font) > pair - 2 * GAP:
                name = name[:-2] + "…"
            pen.text((left, 6), name, "black", font)
            pen.text((left, 25), mean, GREY, small)
            for row, (shown, text, _) in enumerate(cells):
                top = HEAD + row * down
                for number, image in enumerate(shown.values()):
                    page.paste(images.picture(image, SCALE), (left + number * right, top))
                pen.text((left, top + height + 3), text, "black", small)
            left += pair if mean else right + 2 * GAP
        file = io.BytesIO()
        page.save(file, "PNG")
        return file.getvalue()

    def csv(self) -> str:
        """Every subject with its error by each model."""
        answers = self.models | self.references
        errors = [each.errors for each in answers.values()]
        lines = ([self.numbers[p], *(e[p] for e in errors)] for p in self.order)
        return to_csv([self.noun, *answers], lines)


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
    """Predictions without a model."""
    if isinstance(asked, Question):
        found = comparison.references(asked)
    else:
        found = comparison.subject_references(choice.collection, *asked)
    return {NAMES.get(name, name): each for name, each in found.items()}


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
            frame.empty("No model chosen", "Choose models above to see digits through each.")
            return
        asked, truth, numbers = ask_digits(chosen) if chosen[0].classes else ask_subjects(chosen[0])
        with st.spinner("Generating", show_time=True):
            found = {choice.name: answered(choice, asked) for choice in chosen}
            given = references(chosen[0], asked)
        models = {name: each for name, each in found.items() if isinstance(each, Answer)}
        order, noun = sort(models, len(numbers)), words.one.split()[-1]
        matrix = Matrix(truth, noun, numbers, order, models, given)
        place = st.container()
        with st.container(horizontal=True, vertical_alignment="bottom"):
            label = f"{words.many.capitalize()} shown"
            count = segments(label, [8, 16, 40], "compare.shown", label_visibility="collapsed")
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
    views, at, label = 11, DEGREES[HELD_OUT_INDEX], comparison.table_label(classes)
    if kind == UNSEEN:
        key = "compare.given"
        views = middle.select_slider("Views given", comparison.VIEWS, views, key=key, **KEEP)
    elif kind == UPRIGHT:
        key = "compare.at"
        at = middle.select_slider("Asked for at", DEGREES[1:], at, key=key, **KEEP)
    if len(classes) > 1:
        label = right.selectbox("Class", classes, classes.index(label), key="compare.class", **KEEP)
    question = Question(kind, views, DEGREES.index(at), label)
    return question, comparison.truth(question), comparison.numbers(question)


def ask_subjects(choice: Choice) -> tuple[Asked, np.ndarray, Sequence[int]]:
    """The same controls for objects and films."""
    collection = choice.collection
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


def sort(answers: dict[str, Answer], count: int) -> Sequence[int]:
    """Controls for the order of the subjects, if there are models: the order."""
    if not answers:
        return range(count)
    left, first, second = st.columns([3, 2, 2])
    with left:
        by = segments("First comes", SORTS, "compare.sort")
    if by == BY_NUMBER:
        return range(count)
    one = first.selectbox(
        "of" if by == BY_ERROR else "between", list(answers), key="compare.one", **KEEP
    )
    large, others = answers[one].errors, [name for name in answers if name != one]
    if by == BY_DIFFERENCE and others:
        other = second.selectbox("and", others, key="compare.other", **KEEP)
        large = np.abs(large - answers[other].errors)
    return np.argsort(-large, kind="stable").tolist()
