"""A generated picture beside the one it should be, with the errors that belong beside it."""

from collections.abc import Hashable, Sequence
from html import escape
from urllib.parse import quote

import numpy as np
import streamlit as st

from fgpvae.data import ANGLES
from fgpvae.digit_view import DigitView, Verdict
from fgpvae.metrics import mse
from ui.catalog import digits, models
from ui.catalog.digits import Digit
from ui.catalog.models import Choice
from ui.components import pictures
from ui.components.truth import truth

SPREADS = 24  # angles at which the spread of pixels is measured; lines between are 0.0002 off

HINTS = {
    "MSE here": "Mean squared error of a pixel between the model's picture and the true one.",
    "geometric rotation": "The same for the nearest view the model sees, turned as a picture. "
    "It knows what a rotation is; the model had to learn it.",
    "mean image": "The same for the mean of all training digits of this class at this angle: "
    "what one gets without looking at the digit.",
    "pixel sd": "How much a pixel varies between pictures that the model considers possible "
    "(root of the mean variance over posterior samples).",
    "all sixteen": "The error averaged over the sixteen angles.",
    "not turned": "The error of the picture left as it is: what one gets without turning.",
}


WHY = (
    "The geometric rotation wins here because it knows what a rotation is. The model learned "
    "it from pictures, so it also works for changes that nobody has a formula for."
)
LINK = "Objects that it cannot turn"
SILENT = "This style is not the digit's own, so there is no true picture to compare with."


def follow(turning: DigitView, choice: Choice, digit: Digit, key: str, subject: Hashable) -> None:
    """Against the true picture while the dial `key` turns, as long as the style is the digit's."""
    observed = tuple(np.flatnonzero(turning.observed).tolist())
    truth(
        digit.image,
        digits.mean_image(digit.label, 0.0),
        np.rad2deg(turning.angles[turning.observed]).round(4).tolist(),
        _all_round(choice, digit, observed, turning),
        key=key,
        subject=subject,
        texts={"why": WHY, "silent": SILENT} | _elsewhere(),
        hints=HINTS,
    )


def _elsewhere() -> dict[str, str]:
    """A link to what a geometric rotation cannot turn, if there is a model of it."""
    found = [each.name for each in models.available(figures=True) if each.figures]
    return {"link": LINK, "address": f"rotate?model={quote(found[0])}"} if found else {}


@st.cache_data(max_entries=256, show_spinner=False)
def _all_round(
    choice: Choice, digit: Digit, observed: tuple[int, ...], _turning: DigitView
) -> list[float] | None:
    """The standard deviation of a pixel all round."""
    around = np.linspace(0, 2 * np.pi, SPREADS, endpoint=False)
    found = _turning.pixel_sds(around)
    return None if found is None else found.tolist()


def show(verdict: Verdict) -> None:
    """Against the true picture, where only the server can draw the digit."""
    numbers = {"MSE here": _error(verdict.mse), "geometric rotation": _error(verdict.geometric)}
    if verdict.mean_image is not None:
        numbers["mean image"] = _error(verdict.mean_image)
    numbers["pixel sd"] = _spread(verdict.pixel_sd)
    _show(verdict.true, "true", verdict.generated, numbers)
    if verdict.geometric < verdict.mse:
        st.caption(WHY)


def show_reference(turning: DigitView, w: float, style: Sequence[float] | None) -> None:
    """Against the digit's own picture, turned geometrically, where there is no truth."""
    around = np.array([w, *ANGLES])
    made, turned = turning.images(around, style), turning.geometric(around)
    first = turning.views[np.flatnonzero(turning.observed)[0]]
    numbers = {
        "MSE here": _error(mse(made[0], turned[0])),
        "all sixteen": _error(mse(made[1:], turned[1:])),
        "not turned": _error(mse(first, turned[0])),
        "pixel sd": _spread(turning.pixel_sd(w, style)),
    }
    _show(turned[0], "turned", made[0], numbers)


def _error(value: float) -> str:
    return f"{value:.4f}"


def _spread(value: float | None) -> str:
    return "unknown" if value is None else f"± {value:.3f}"


def _show(right: np.ndarray, name: str, made: np.ndarray, numbers: dict[str, str]) -> None:
    """Three pictures and the numbers, in one row where there is room."""
    parts = pictures.row(
        pictures.framed(right, name, hint="What it should look like at this angle"),
        pictures.framed(made, "model", hint="What the model draws at this angle"),
        pictures.framed(np.abs(made - right), "difference", hint="Where the two differ"),
        size=66,
    )
    each = "".join(
        f'<div title="{escape(HINTS[key])}"><b>{escape(value)}</b><span>{escape(key)}</span></div>'
        for key, value in numbers.items()
    )
    st.html(f'<div class="verdict">{parts}<div class="figures">{each}</div></div>{STYLE}')


STYLE = """<style>
.verdict { display: flex; flex-wrap: wrap; gap: 14px 26px; align-items: center; }
.verdict .figures {
  flex: 1; display: grid; grid-template-columns: auto auto; gap: 10px 18px; min-width: 200px;
}
.verdict b {
  display: block; font-size: 1.3rem; line-height: 1.15; font-variant-numeric: tabular-nums;
}
.verdict span { font-size: 0.85rem; opacity: 0.72; white-space: nowrap; }
</style>"""
