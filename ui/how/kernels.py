"""Screen 1: the two kernels, and what they expect of the views of a digit."""

import numpy as np
import streamlit as st
import torch

from fgpvae.data import ANGLES
from fgpvae.kernels import Periodic
from fgpvae.posterior import local_posterior
from ui.charts import Axis, Plot, figures, plot
from ui.components import pictures
from ui.how.cards import FINE, KEPT, LABELS, a_three, card, formula
from ui.shell import frame, palette

PERIODS = {"2π": 2 * np.pi, "π": np.pi}


@st.cache_data(max_entries=256, show_spinner=False)
def kernel_pictures(sigma: float, r: float, period: float) -> dict[str, np.ndarray]:
    """The kernel from 0, its gram matrix at the sixteen angles, and functions from the prior."""
    kernel = Periodic(sigma, r, period)
    w, fine = torch.as_tensor(ANGLES), torch.as_tensor(FINE)
    none = torch.zeros(1, 1, dtype=torch.bool)
    blank = torch.zeros(1, 1, 5, dtype=torch.float64)
    prior = local_posterior(kernel, none.double(), blank, blank + 1, none)
    drawn = prior.sample(fine[None], torch.Generator().manual_seed(3))[0]  # [S, 5]
    return {
        "curve": kernel.gram(fine[:1], fine)[0].detach().numpy(),
        "gram": kernel.gram(w, w).detach().numpy(),
        "drawn": drawn.detach().numpy(),
    }


def two_kernels() -> None:
    with frame.card("The data", "Digits, each seen at several angles. An angle has a colour here."):
        st.html(
            pictures.grid([("", a_three())], LABELS, palette.angle_colours(ANGLES), alt="a three")
        )
    local, style = st.columns([3, 2], gap="medium")
    with (
        local,
        frame.card(
            "Local channels",
            "Views of one digit at similar angles are alike; views of different digits have "
            "nothing in common.",
            height="stretch",
        ),
    ):
        formula(
            r"k^1_\theta(\mathbf{x}_i,\mathbf{x}_j)=\delta_{d_i,d_j}\;\sigma^2\exp\!\bigg("
            r"\!-\frac{2\sin^2\!\big(\pi|w_i-w_j|/\text{period}\big)}{r^2}\bigg)",
            "fgpvae.kernels.Periodic",
        )
        first, second, third = st.columns([2, 2, 1.3], gap="medium")
        sigma = first.slider("σ, how far it swings", 0.2, 2.0, 1.0, 0.1, key="k_sigma", **KEPT)
        r = second.slider("r, how smooth it is", 0.2, 3.0, 1.0, 0.1, key="k_r", **KEPT)
        name = third.segmented_control(
            "Period", list(PERIODS), default="2π", required=True, key="k_period", **KEPT
        )
    with (
        style,
        frame.card(
            "Global channels",
            "All views of one digit share one value, whatever the angle: its style.",
            height="stretch",
        ),
    ):
        formula(
            r"k^2_\theta(\mathbf{x}_i,\mathbf{x}_j)=\delta_{d_i,d_j}",
            "fgpvae.posterior.global_posterior",
        )
        block = np.kron(np.eye(3), np.ones((16, 16)))
        st.html(figures.matrix(block, palette.GLOBAL, "global kernel", 110))

    made = kernel_pictures(sigma, r, PERIODS[name])
    curve, drawn, gram = st.columns(3, gap="medium")
    with curve, card("How alike?", "Two views of one digit, by their angle."):
        degrees = np.rad2deg(FINE)
        y = Axis("covariance", 0, max(1.05, 1.05 * sigma**2))
        made_curve = Plot("Covariance by the angle between two views", figures.TURN, y, 250)
        tips = [f"{d:.0f}°: {k:.2f}" for d, k in zip(degrees, made["curve"], strict=True)]
        made_curve.line(degrees, made["curve"], palette.LOCAL, width=2.5, tips=tips)
        plot.show(made_curve, "k_curve")
    with drawn, card("What it can become", "Five channels drawn from the prior."):
        functions = Plot("Five functions from the prior", figures.TURN, Axis("", -5, 5), 250)
        for each, shade in zip(made["drawn"].T, np.linspace(1, 0.35, 5), strict=True):
            functions.line(degrees, each, palette.LOCAL, width=1.8, alpha=shade)
        plot.show(functions, "k_drawn")
    with gram, card("As a matrix", "Three digits at sixteen angles."):
        st.html(
            figures.matrix(
                np.kron(np.eye(3), made["gram"] / sigma**2), palette.LOCAL, "local kernel", 250
            )
        )

    alike = made["gram"][0] / sigma**2
    with frame.card(
        "Why the period matters",
        "The upright view against the others: what the kernel thinks they have in common.",
    ):
        st.html(
            pictures.grid(
                [("", a_three())],
                [f"{value:.2f}" for value in alike],
                palette.angle_colours(ANGLES),
                marked=8,
                alt="correlation of each view with the upright one",
            )
        )
        if name == "π":
            st.markdown(
                "With period π the view at 180° has correlation **1.00** with the upright one. "
                "Their local channels are then equal, and so are their global ones: the model "
                "cannot tell a digit from its upside-down copy, and draws a mixture of the two. "
                "This is what the kernel says as the paper prints it, with sin²(|w - w'|)."
            )
        else:
            st.markdown(
                f"With period 2π the view at 180° is the one least like the upright view "
                f"(**{alike[8]:.2f}**), and only a full turn leads back to it. Choose π above to "
                "see what the kernel does as the paper prints it."
            )
