"""Screen 4: a Gaussian process to click points into."""

import streamlit as st

from ui.components.click_gp import click_gp
from ui.how.cards import card, formula


def a_gaussian_process() -> None:
    st.caption(
        "This is one local channel of one digit. Click to say what it is at some angle, drag a "
        "point, double-click to take it away. The line is what the process concludes, the band "
        "holds 95 % of what it thinks possible, the thin lines are functions that it could be."
    )
    click_gp("how.click_gp")
    left, right = st.columns(2, gap="medium")
    with left, card("The posterior", "In closed form: nothing is searched for or sampled."):
        formula(
            r"\begin{aligned}\bar z(w)&=\mathbf{k}_w^\top(\mathbf{K}+\mathbf{S})^{-1}"
            r"\boldsymbol{\mu}\\ \operatorname{var} z(w)&=\sigma^2-\mathbf{k}_w^\top"
            r"(\mathbf{K}+\mathbf{S})^{-1}\mathbf{k}_w\end{aligned}",
            "fgpvae.posterior.local_posterior",
        )
    with right, card("The evidence", "How well the points fit together, as a number."):
        formula(
            r"\begin{aligned}\log Z=-\tfrac12\big(&\boldsymbol{\mu}^\top"
            r"(\mathbf{K}+\mathbf{S})^{-1}\boldsymbol{\mu}\\ &"
            r"+\log|\mathbf{K}+\mathbf{S}|+Q\log 2\pi\big)\end{aligned}",
            "fgpvae.posterior.LocalPosterior.log_evidence",
        )
    st.caption(
        "In the model nobody clicks: the encoder looks at each view and says where the point is "
        "(μ) and how sure it is (S, the diagonal of its variances)."
    )
