"""How well angle and style are kept apart, measured for every model."""

import time
from html import escape

import streamlit as st

from fgpvae import UserError, latents, metrics
from fgpvae.data import ANGLES
from fgpvae.experiments.disentanglement import swap_error
from ui.catalog import Choice, models
from ui.latents.codes import encoded, shown
from ui.shell import frame

MEASURED = 40  # digits that the figures of disentanglement are of
# figure, name, how to read it, how to write it
READING = (
    (
        "angle_error_local_degrees",
        "Angle from local",
        "How far off one is who reads the angle from the local channels of a digit never met "
        "before. 0° is perfect, 90° is chance.",
        "{:.0f}°",
    ),
    (
        "angle_error_global_degrees",
        "Angle from global",
        "The same from the global channels. They should not know it: near 90° is good.",
        "{:.0f}°",
    ),
    (
        "digit_retrieval_local",
        "Digit from local",
        "How often the most similar view at another angle is of the same digit, by local channels. "
        "They should not know it: near chance is good.",
        "{:.0%}",
    ),
    (
        "digit_retrieval_global",
        "Digit from global",
        "The same by global channels, which should know: 100 % is perfect.",
        "{:.0%}",
    ),
    ("digit_retrieval_chance", "Digit by chance", "What a blind guess would get.", "{:.0%}"),
    (
        "invariance_ratio_local",
        "Movement of local",
        "The share of their variance that is within a digit: 1 if they only turn.",
        "{:.2f}",
    ),
    (
        "invariance_ratio_global",
        "Movement of global",
        "The same for global channels: 0 if the point stands still.",
        "{:.2f}",
    ),
    (
        "dci_disentanglement",
        "Disentanglement (DCI)",
        "1 if each part knows one thing, the angle or the digit; 0 if each knows both equally.",
        "{:.2f}",
    ),
    (
        "dci_completeness",
        "Completeness (DCI)",
        "1 if each thing is known to one part only.",
        "{:.2f}",
    ),
    (
        "dci_informativeness",
        "Informativeness (DCI)",
        "How much of angle and digit the better informed part knows: 1 is all.",
        "{:.2f}",
    ),
    (
        "mig",
        "Information gap (MIG)",
        "How much more the better informed part knows than the other: 1 is all against nothing.",
        "{:.2f}",
    ),
    (
        "swap_error",
        "Swap error",
        "MSE of one digit's style drawn with another's local channels. It is that of plain "
        "reconstruction if the two are kept apart.",
        "{:.4f}",
    ),
    (
        "reconstruction_error",
        "Plain reconstruction",
        "MSE of the same images with the digit's own local channels.",
        "{:.4f}",
    ),
)


@st.cache_data(max_entries=64, show_spinner=False)
def scores(choice: Choice) -> dict[str, float | None]:
    rows = latents.evenly(shown(choice), MEASURED)
    model, views = choice.load(), shown(choice)[rows]
    local, rest = latents.parts(encoded(choice), rows)
    figures = metrics.disentanglement(local, rest, ANGLES)
    if len(encoded(choice).blocks) == 2:
        figures["swap_error"] = swap_error(model, views)
    made = latents.generated(model, views)
    return figures | {"reconstruction_error": metrics.mse(made.numpy(), views.images.numpy())}


def table(measured: dict[Choice, dict[str, float | None]]) -> str:
    """Figures by model, as HTML; every figure with a sentence on how to read it."""
    head = "".join(
        f"<th>{escape(choice.name)}<br><small>{escape(choice.title)}</small></th>"
        for choice in measured
    )
    rows = []
    for name, title, sentence, form in READING:
        values = [each.get(name) for each in measured.values()]
        cells = "".join(
            f"<td>{'–' if value is None else form.format(value)}</td>" for value in values
        )
        rows.append(f"<tr><th>{title}<br><small>{sentence}</small></th>{cells}</tr>")
    return (
        '<div class="reading"><style>.reading{overflow-x:auto}.reading table{border-collapse:'
        "collapse;width:100%}.reading th,.reading td{text-align:left;padding:.5rem .8rem .5rem 0;"
        "border-bottom:1px solid rgba(128,136,152,.25);vertical-align:top;font-weight:400}"
        ".reading th small{opacity:.7}.reading tbody th{min-width:15rem;max-width:34rem}"
        ".reading td{font-variant-numeric:tabular-nums;font-weight:600;white-space:nowrap}"
        ".reading thead th{font-weight:600}</style><table><thead><tr><th></th>"
        f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def measure() -> None:
    st.session_state["z_measured"] = True


@st.fragment
def disentanglement() -> None:
    choices = models.available()
    if not st.session_state.get("z_measured"):
        st.caption(
            f"{len(choices)} models, some seconds each. Each is asked about at most {MEASURED} "
            "digits of its own classes, at sixteen angles: new digits, or training digits if it "
            "takes no others."
        )
        st.button("Measure all models", on_click=measure)
        return
    bar, measured, began = st.empty(), {}, time.monotonic()
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
            measured[choice] = scores(choice)
        except UserError as error:
            st.caption(frame.plain(f"{choice.name}: {error}"))
    bar.empty()
    st.html(table(measured))
