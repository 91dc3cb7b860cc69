"""Screen 2: a Gaussian process at work in a film, and one to click points into."""

from typing import Any

import numpy as np
import streamlit as st

from ui.catalog import models, subjects
from ui.components import dial
from ui.components.shared import Component
from ui.how.cards import formulas
from ui.inference import cached, stage
from ui.shell import frame, palette, query_params

_click_gp = Component("click_gp")
MOST = 40  # maximum number of points
REACH = 3.0  # range of the vertical axis
LIMITS = {"sigma": (0.2, 2.0), "r": (0.2, 3.0), "noise": (0.01, 1.0)}  # ranges of the sliders
START: dict[str, Any] = {
    "points": [[40.0, 1.0], [110.0, -0.6]],  # degrees and value
    "sigma": 1.0,
    "r": 1.0,
    "noise": 0.05,
}
NONE = "none"  # in a link, for no points
FILM = "how.film"
LIVING = (
    "The model sees the ringed frames. Between them the thick line is the path that it expects, "
    "the thin lines are other paths that it considers possible. Click a dot on the track to show "
    "it one more frame, and the paths close in on it."
)
ON_DIGITS = (
    "On digits the process has little to do: one view says all, because a turned digit holds no "
    "surprise. In a film no single frame says where the digit went; the process does, with doubt."
)
CLICK = (
    "One local channel of one digit. Click to set its value at some angle, drag a point to move "
    "it, double-click a point to remove it. The thick line is what the process concludes, the "
    "band contains 95 % of what it considers possible, the thin lines are samples. In the model "
    "the encoder sets the points: from each view a value (μ) and its variance (S, diagonal)."
)
POSTERIOR = (
    "The posterior",
    "A closed formula: there is no search and no sampling.",
    r"\begin{aligned}\bar z(w)&=\mathbf{k}_w^\top(\mathbf{K}+\mathbf{S})^{-1}"
    r"\boldsymbol{\mu}\\ \operatorname{var} z(w)&=\sigma^2-\mathbf{k}_w^\top"
    r"(\mathbf{K}+\mathbf{S})^{-1}\mathbf{k}_w\end{aligned}",
    "fgpvae.gp.posterior.local_posterior",
)
EVIDENCE = (
    "The evidence",
    "One number for how well the points fit together.",
    r"\begin{aligned}\log Z=-\tfrac12\big(&\boldsymbol{\mu}^\top"
    r"(\mathbf{K}+\mathbf{S})^{-1}\boldsymbol{\mu}\\ &"
    r"+\log|\mathbf{K}+\mathbf{S}|+Q\log 2\pi\big)\end{aligned}",
    "fgpvae.gp.posterior.LocalPosterior.log_evidence",
)


def a_gaussian_process() -> None:
    if choice := models.find("films"):
        subject = subjects.first(choice)
        given = stage.chosen_views(FILM, subject, {})
        seen = cached.imagined(choice, subject, given)
        left, right = st.columns([1.1, 1], gap="medium")
        with right, frame.card("A film with gaps", LIVING, "how.film"):
            stage.views_slider(FILM, subject, given, choice.collection)
            st.markdown(ON_DIGITS)
            link = {"model": choice.name}
            st.page_link(frame.page("rotate"), label="Play with films", query_params=link)
        dial.dial(
            seen,
            choice.collection,
            (left, right),
            key=FILM,
            model=choice.name,
            angle=50,
            styles=(),
            doubt=cached.doubt(seen, choice.collection.track),
        )
    with frame.card("One channel by hand", CLICK, "how.click"):
        click_gp("how.click_gp")
    formulas(POSTERIOR, EVIDENCE)


def click_gp(key: str) -> None:
    """Show the process; its state is in the link and in the session state."""
    kept, asked = f"{key}.state", st.query_params
    if kept not in st.session_state:
        st.session_state[kept] = from_link(asked.get("points"), asked.get("kernel"))

    def changed(made: dict[str, Any]) -> None:
        st.session_state[kept] = {name: made[name] for name in START}

    state = st.session_state[kept]
    _click_gp(key, state | {"cycle": palette.CYCLE, "warm": palette.LOCAL}, state=changed)
    query_params.write(**to_link(state))


def from_link(points: str | None, kernel: str | None) -> dict[str, Any]:
    """Decode points and kernel from a link; invalid parts are ignored."""
    state = dict(START)
    values = [] if points == NONE else query_params.numbers(points)
    if values is not None and len(values) % 2 == 0 and len(values) <= 2 * MOST:
        state["points"] = np.reshape(values, (-1, 2)).clip((0, -REACH), (360, REACH)).tolist()
    numbers = query_params.numbers(kernel) or []
    if len(numbers) == len(LIMITS):
        low, high = zip(*LIMITS.values(), strict=True)
        state |= zip(LIMITS, np.clip(numbers, low, high).tolist(), strict=True)
    return state


def to_link(state: dict[str, Any]) -> dict[str, str | None]:
    """Encode for `from_link`; None for the defaults."""
    points, kernel = np.ravel(state["points"]).tolist(), [state[name] for name in LIMITS]
    return {
        "points": None if state["points"] == START["points"] else query_params.text(points) or NONE,
        "kernel": query_params.text(kernel) if kernel != [START[name] for name in LIMITS] else None,
    }
