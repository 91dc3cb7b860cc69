"""How well angle and style are kept apart, measured for every model."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import streamlit as st

from fgpvae import UserError, latents, metrics
from fgpvae.data import ANGLES
from fgpvae.disentanglement import disentanglement_scores
from fgpvae.experiments.disentanglement import swap_error
from ui.catalog import Choice, models
from ui.latents.codes import encoded, shown
from ui.shell import frame
from ui.shell.kept import kept

MEASURED = 40  # digits that the figures of disentanglement are of
CHANCE = "digit_retrieval_chance"
MARK = "background-color: rgba(43, 122, 158, 0.18); font-weight: 700"


@dataclass(frozen=True)
class Figure:
    """A figure of disentanglement and how to read it."""

    key: str
    title: str
    best: str  # which value would be best, in words
    badness: Callable[[float, dict[str, float | None]], float] | None  # of a value in its column
    form: str
    sentence: str


def low(value: float, _: dict[str, float | None]) -> float:
    return value


def high(value: float, _: dict[str, float | None]) -> float:
    return -value


def from_right_angle(value: float, _: dict[str, float | None]) -> float:
    return abs(value - 90)


def from_chance(value: float, column: dict[str, float | None]) -> float:
    return abs(value - (column.get(CHANCE) or 0.0))


READING = (
    Figure(
        "angle_error_local_degrees",
        "Angle from local",
        "low, 0°",
        low,
        "{:.0f}°",
        "Average error when the angle of a new digit is read from its local channels; 90° is "
        "chance.",
    ),
    Figure(
        "angle_error_global_degrees",
        "Angle from global",
        "near 90°",
        from_right_angle,
        "{:.0f}°",
        "The same from the global channels, which should not contain the angle.",
    ),
    Figure(
        "digit_retrieval_local",
        "Digit from local",
        "near chance",
        from_chance,
        "{:.0%}",
        "How often the most similar view at another angle belongs to the same digit, judged by "
        "local channels, which should not know it.",
    ),
    Figure(
        "digit_retrieval_global",
        "Digit from global",
        "high, 100%",
        high,
        "{:.0%}",
        "The same judged by global channels, which should know it.",
    ),
    Figure(CHANCE, "Digit by chance", "", None, "{:.0%}", "What guessing would achieve."),
    Figure(
        "invariance_ratio_local",
        "Movement of local",
        "high, 1",
        high,
        "{:.2f}",
        (
            "The share of their variance that is within one digit: 1 if they only change with "
            "the angle."
        ),
    ),
    Figure(
        "invariance_ratio_global",
        "Movement of global",
        "low, 0",
        low,
        "{:.2f}",
        "The same for global channels: 0 if they do not change as the digit turns.",
    ),
    Figure(
        "dci_disentanglement",
        "Disentanglement (DCI)",
        "high, 1",
        high,
        "{:.2f}",
        "1 if each part knows one thing, the angle or the digit; 0 if each knows both equally.",
    ),
    Figure(
        "dci_completeness",
        "Completeness (DCI)",
        "high, 1",
        high,
        "{:.2f}",
        "1 if each thing is known to one part only.",
    ),
    Figure(
        "dci_informativeness",
        "Informativeness (DCI)",
        "high, 1",
        high,
        "{:.2f}",
        "How much the better informed part knows about the angle and the digit: 1 is everything.",
    ),
    Figure(
        "mig",
        "Information gap (MIG)",
        "high, 1",
        high,
        "{:.2f}",
        (
            "How much more the better informed part knows than the other: 1 means everything "
            "against nothing."
        ),
    ),
    Figure(
        "swap_error",
        "Swap error",
        "low",
        low,
        "{:.4f}",
        "MSE of pictures with the style of one digit and the local channels of another. If "
        "both are kept apart, it equals that of plain reconstruction.",
    ),
    Figure(
        "reconstruction_error",
        "Plain reconstruction",
        "low",
        low,
        "{:.4f}",
        "MSE of the same images with the digit's own local channels.",
    ),
)


@kept(64)
def scores(choice: Choice) -> dict[str, float | None]:
    rows = latents.evenly(shown(choice), MEASURED)
    model, views = choice.load(), shown(choice)[rows]
    local, rest = latents.parts(encoded(choice), rows)
    figures = disentanglement_scores(local, rest, ANGLES)
    if model.divides_channels:
        figures["swap_error"] = swap_error(model, views)
    made = latents.generated(model, views)
    return figures | {"reconstruction_error": metrics.mse(made.numpy(), views.images.numpy())}


def table(measured: dict[str, dict[str, float | None]]) -> Any:
    """A row a figure and a column a model, the best of each row marked (a pandas Styler)."""
    import pandas as pd

    columns: dict[str, list[str]] = {
        "Figure": [figure.title for figure in READING],
        "Best": [figure.best for figure in READING],
    }
    for name, found in measured.items():
        columns[name] = [
            "–" if (value := found.get(figure.key)) is None else figure.form.format(value)
            for figure in READING
        ]
    marks = pd.DataFrame("", index=range(len(READING)), columns=list(columns))
    for row, figure in enumerate(READING):
        for name in winners(figure, measured):
            marks.loc[row, name] = MARK
    return pd.DataFrame(columns).style.apply(lambda _: marks, axis=None)


def winners(figure: Figure, measured: dict[str, dict[str, float | None]]) -> list[str]:
    """The models with the best value, which may be several."""
    if figure.badness is None:
        return []
    found = {
        name: figure.badness(value, column)
        for name, column in measured.items()
        if (value := column.get(figure.key)) is not None
    }
    return [name for name, bad in found.items() if bad == min(found.values())]


def show(measured: dict[str, dict[str, float | None]]) -> None:
    """The table with its files, and a sentence on each figure."""
    made = table(measured)
    height = 380  # its header stays in sight while its rows move
    pinned = {name: st.column_config.TextColumn(pinned=True) for name in ("Figure",)}
    st.dataframe(
        made,
        hide_index=True,
        height=height,
        key="latents.disentanglement",
        placeholder="–",
        column_config=pinned,
        alt="Figures of disentanglement of every model",
    )
    st.download_button(
        "CSV",
        lambda: made.data.to_csv(index=False),
        "fgpvae-disentanglement.csv",
        "text/csv",
        key="latents.table_download",
        on_click="ignore",
    )
    st.caption("The best of each row is marked; the second column says what would be best.")
    with st.expander("What each figure means", expanded=True):
        st.markdown(
            "\n".join(
                f"- **{each.title}** ({each.best or 'for comparison'}). {each.sentence}"
                for each in READING
            )
        )


def measure() -> None:
    st.session_state["latents.measured"] = True


@st.fragment
def disentanglement() -> None:
    choices = models.available()
    if not st.session_state.get("latents.measured"):
        st.caption(
            f"{len(choices)} models, a few seconds each, tested on at most {MEASURED} digits "
            "of their own classes at sixteen angles: new digits, or training digits if a "
            "model takes no others."
        )
        st.button("Measure all models", on_click=measure)
        return
    bar, began = st.empty(), time.monotonic()
    measured: dict[str, dict[str, float | None]] = {}
    for done, choice in enumerate(choices):
        spent = time.monotonic() - began
        if spent > 0.5:  # otherwise all is remembered
            left = spent / done * (len(choices) - done)
            bar.progress(
                done / len(choices), f"{frame.plain(choice.name)}, about {left:.0f} s left"
            )
        elif done == 0:
            bar.progress(0.0, frame.plain(choice.name))
        try:
            measured[choice.name] = scores(choice)
        except UserError as error:
            st.caption(frame.plain(f"{choice.name}: {error}"))
    bar.empty()
    show(measured)
