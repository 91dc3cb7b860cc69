"""Screen 2: a Gaussian process at work in a film, and one to click points into."""

import streamlit as st

from ui.catalog import models, subjects
from ui.components import dial
from ui.components.click_gp import click_gp
from ui.how.cards import formulas
from ui.inference import cached, stage
from ui.shell import frame

FILM = "how.film"
LIVING = (
    "The model sees the dotted frames. Between them the thick line is the path that it expects, "
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
            doubt=cached.doubt(seen, subject.w),
        )
    with frame.card("One channel by hand", CLICK, "how.click"):
        click_gp("how.click_gp")
    formulas(POSTERIOR, EVIDENCE)
