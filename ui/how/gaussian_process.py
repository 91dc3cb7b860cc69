"""Screen 4: a Gaussian process to click points into."""

import streamlit as st

from ui.components.click_gp import click_gp
from ui.how.cards import card, formula


def a_gaussian_process() -> None:
    st.caption(
        "This is one local channel of one digit. Click to set its value at some angle, drag a "
        "point to move it, double-click a point to remove it. The thick line is what the "
        "process concludes, the band contains 95 % of what it considers possible, and the thin "
        "lines are samples of it."
    )
    click_gp("how.click_gp")
    left, right = st.columns(2, gap="medium")
    with left, card("The posterior", "A closed formula: there is no search and no sampling."):
        formula(
            r"\begin{aligned}\bar z(w)&=\mathbf{k}_w^\top(\mathbf{K}+\mathbf{S})^{-1}"
            r"\boldsymbol{\mu}\\ \operatorname{var} z(w)&=\sigma^2-\mathbf{k}_w^\top"
            r"(\mathbf{K}+\mathbf{S})^{-1}\mathbf{k}_w\end{aligned}",
            "fgpvae.posterior.local_posterior",
        )
    with right, card("The evidence", "One number for how well the points fit together."):
        formula(
            r"\begin{aligned}\log Z=-\tfrac12\big(&\boldsymbol{\mu}^\top"
            r"(\mathbf{K}+\mathbf{S})^{-1}\boldsymbol{\mu}\\ &"
            r"+\log|\mathbf{K}+\mathbf{S}|+Q\log 2\pi\big)\end{aligned}",
            "fgpvae.posterior.LocalPosterior.log_evidence",
        )
    st.caption(
        "In the model nobody clicks: the encoder looks at each view and says where its point "
        "is (μ) and how sure it is (S, a diagonal matrix of variances)."
    )
