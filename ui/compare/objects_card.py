"""The cards with figures of cubes never trained on: errors by views, and pictures."""

from functools import partial

import streamlit as st

from fgpvae import UserError, comparison
from fgpvae.comparison import Answer, FigureQuestion
from fgpvae.data import cubes
from ui.catalog import Choice, figures, results
from ui.charts import show
from ui.compare import charts, picture_matrix
from ui.compare.evaluation import measured, own_curve
from ui.compare.files import KEEP, command, foot
from ui.compare.picker import choose
from ui.compare.scaling_cards import falling
from ui.compare.tables import curves_csv
from ui.shell import frame, palette
from ui.shell.kept import content, kept, sent

NAMES = {"mean_image": "mean image", "nearest_figure": "most similar training figure"}
STEP = 360 // cubes.ANGLES  # degrees from one side to the next
SIDES = [STEP * side for side in comparison.OTHER_SIDES]
SHOWN = 8


def objects() -> None:
    result = results.load("objects")
    curves = results.committed_curves(result)
    with frame.card(
        "Things that no rotation of a picture can turn",
        "The error on new figures of ten cubes, at all angles that were not given. Dotted "
        "lines need no model and are given one view.",
        key="compare.objects",
    ):
        chosen = choose(figures=True)
        known = measured()
        curves += [own_curve(known[each]) for each in chosen if each in known]
        if not result or not curves:
            command("objects", "compare.objects", "The error on new figures by views given.")
        else:
            every = curves + [
                results.Curve(
                    name,
                    palette.TRUTH,
                    {n: results.Spread((result["references"][key],)) for n in curves[0].points},
                    "dot",
                )
                for key, name in NAMES.items()
            ]
            show(
                partial(charts.error_by_views, every),
                "compare.chart.objects",
                charts.VIEWS_HEIGHT,
                falling(every),
            )
            foot(result, partial(curves_csv, curves), "objects.csv")
    if chosen:
        _pictures(chosen)


@st.fragment
def _pictures(chosen: list[Choice]) -> None:
    with frame.card(
        "The same figures through every model",
        (
            "Beside each picture is its error, as for the digits above. Rotating the nearest "
            "view does not help here."
        ),
        key="compare.figure_pictures",
    ):
        left, right = st.columns(2, gap="medium")
        views = left.segmented_control(
            "Views given, the first at 30°",
            cubes.GIVEN,
            default=1,
            required=True,
            key="compare.figure_given",
            **KEEP,
        )
        degrees = right.select_slider(
            "Asked for at",
            SIDES,
            FigureQuestion().side * STEP,
            format_func=lambda each: f"{each}°",
            key="compare.figure_at",
            **KEEP,
        )
        question = FigureQuestion(views, degrees // STEP)
        with st.spinner("Generating", show_time=True):
            found = {choice.name: _answered(choice, question) for choice in chosen}
        columns, truth = picture_matrix.columns(found), comparison.truth(question)
        columns += [
            picture_matrix.Column(name, each, model=False)
            for name, each in _referred(question).items()
        ]
        numbers = list(range(len(truth)))
        sent(
            content("figures", question, chosen),
            lambda: st.html(
                picture_matrix.html(truth, numbers, numbers[:SHOWN], columns, "figure")
            ),
        )
        picture_matrix.reasons(found)
        with st.container(horizontal=True):
            picture_matrix.save(truth, numbers, numbers, SHOWN, columns, "figure")


@kept(16)
def _referred(question: FigureQuestion) -> dict[str, Answer]:
    """What needs no model."""
    mean = figures.mean_images()[question.side * figures.FRAMES // cubes.ANGLES]
    return comparison.figure_references(question, mean)


@kept(64)
def _answered(choice: Choice, question: FigureQuestion) -> Answer | str:
    """What a model makes of the figures, or why it cannot."""
    try:
        return comparison.figure_answer(choice.load(), question)
    except UserError as error:
        return str(error)
