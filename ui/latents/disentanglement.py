"""Disentanglement of angle and style, measured for all models."""

from functools import partial
from typing import Any

import streamlit as st

from fgpvae import UserError
from fgpvae.data.collections import views_of
from fgpvae.evaluation import metrics
from fgpvae.evaluation.disentanglement import model_scores
from ui import charts
from ui.catalog import Choice, models
from ui.catalog.subjects import some
from ui.shell import frame

MEASURED = 40  # maximum number of digits that are measured
CHANCE = "digit_retrieval_chance"
Scores = dict[str, float | None]
# title, the best value in words and as a number or another figure, how it is written
FIGURES: dict[str, tuple[str, str, float | str | None, str]] = {
    "angle_error_local_degrees": ("Angle from local", "low, 0°", 0, "{:.0f}°"),
    "angle_error_global_degrees": ("Angle from global", "near 90°", 90, "{:.0f}°"),
    "digit_retrieval_local": ("Digit from local", "near chance", CHANCE, "{:.0%}"),
    "digit_retrieval_global": ("Digit from global", "high, 100%", 1, "{:.0%}"),
    CHANCE: ("Digit by chance", "", None, "{:.0%}"),
    "invariance_ratio_local": ("Movement of local", "high, 1", 1, "{:.2f}"),
    "invariance_ratio_global": ("Movement of global", "low, 0", 0, "{:.2f}"),
    "dci_disentanglement": ("Disentanglement (DCI)", "high, 1", 1, "{:.2f}"),
    "dci_completeness": ("Completeness (DCI)", "high, 1", 1, "{:.2f}"),
    "dci_informativeness": ("Informativeness (DCI)", "high, 1", 1, "{:.2f}"),
    "mig": ("Information gap (MIG)", "high, 1", 1, "{:.2f}"),
    "swap_error": ("Swap error", "low", 0, "{:.4f}"),
    "reconstruction_error": ("Plain reconstruction", "low", 0, "{:.4f}"),
}
MEANING = {
    "angle_error_local_degrees": "Mean error of the angle read from local channels; 90° is chance.",
    "angle_error_global_degrees": "The same from global channels, which should not contain it.",
    "digit_retrieval_local": "How often the view most similar in the local channels is of the same "
    "digit, which they should not know.",
    "digit_retrieval_global": "The same by global channels, which should know it.",
    CHANCE: "What guessing would achieve.",
    "invariance_ratio_local": "The share of their variance within one digit: 1 if only the angle "
    "changes them.",
    "invariance_ratio_global": "The same for global channels: 0 if turning does not change them.",
    "dci_disentanglement": "1 if each part knows one thing, the angle or the digit, 0 if both.",
    "dci_completeness": "1 if each thing is known to one part only.",
    "dci_informativeness": "How much the better informed part knows of each: 1 is everything.",
    "mig": "How much more the better informed part knows than the other, from 0 to 1.",
    "swap_error": "MSE of pictures with the style of one digit and the local channels of another. "
    "If both are separated, it equals that of plain reconstruction.",
    "reconstruction_error": "MSE of the same images with the digit's own local channels.",
}


@st.cache_resource(max_entries=32, show_spinner=False)
def scores(choice: Choice) -> Scores:
    """The scores of a model, on new digits if it takes them, else on training digits."""
    model = choice.load()
    found = views_of(some(choice.collection, choice.kind.takes_new_digits, MEASURED))
    made = model.generate(found.images, found.angles, found.angles, found.observed, ids=found.ids)
    error = metrics.mse(made.numpy(), found.images.numpy())
    return model_scores(model, found) | {"reconstruction_error": error}


@st.fragment
def card() -> None:
    """The scores of all models, after a click."""
    choices = models.available("Digits")
    if not st.session_state.get("latents.measured"):
        st.caption(
            f"{len(choices)} models, a few seconds each, tested on at most {MEASURED} digits "
            "of their own classes at sixteen angles: new digits, or training digits if a "
            "model takes no others."
        )
        asked = {"latents.measured": True}
        st.button("Measure all models", on_click=st.session_state.update, args=(asked,))
        return
    bar, measured = st.empty(), {}
    for done, choice in enumerate(choices):
        bar.progress(done / len(choices), frame.plain(choice.name))
        try:
            measured[choice.name] = scores(choice)
        except UserError as error:
            st.caption(frame.plain(f"{choice.name}: {error}"))
    bar.empty()
    alt = "Figures of disentanglement of every model"
    charts.table(partial(table, measured), "latents.disentanglement", len(FIGURES), alt, "Figure")
    frame.download(
        "CSV",
        lambda: table(measured).data.to_csv(index=False),
        "fgpvae-disentanglement.csv",
        "latents.table_download",
    )
    st.caption("The best of each row is marked; the second column has the best possible value.")
    with st.expander("What each figure means", expanded=True):
        lines = [
            f"- **{title}** ({best or 'for comparison'}). {MEANING[key]}"
            for key, (title, best, *_) in FIGURES.items()
        ]
        st.markdown("\n".join(lines))


def table(measured: dict[str, Scores]) -> Any:
    """One row per score and one column per model, with the best marked (a pandas Styler)."""
    import pandas as pd

    data = pd.DataFrame([each[:2] for each in FIGURES.values()], columns=["Figure", "Best"])
    marks = data.astype(object).assign(Figure="", Best="")
    best = []  # names of the models whose score is nearest to the best value
    for key, (_, _, aim, _) in FIGURES.items():
        apart = {}
        for name, found in measured.items():
            goal, value = found.get(aim) if isinstance(aim, str) else aim, found.get(key)
            if goal is not None and value is not None:
                apart[name] = abs(value - goal)
        best.append([name for name, each in apart.items() if each == min(apart.values())])
    for name, found in measured.items():
        values = [(form, found.get(key)) for key, (*_, form) in FIGURES.items()]
        data[name] = ["–" if value is None else form.format(value) for form, value in values]
        marks[name] = [charts.BEST if name in names else "" for names in best]
    return data.style.apply(lambda _: marks, axis=None)
