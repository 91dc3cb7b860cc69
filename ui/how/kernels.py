"""Screen 2: the two kernels, and what they expect of the views of a digit."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import streamlit as st
import torch

from fgpvae.data import ANGLES
from fgpvae.kernels import Periodic
from fgpvae.posterior import local_posterior
from ui import charts
from ui.components import pictures
from ui.how.cards import FINE, KEPT, LABELS, a_three, card, formula
from ui.shell import frame, palette
from ui.shell.kept import kept

if TYPE_CHECKING:
    import plotly.graph_objects as go

HEIGHT = 270  # pixels of a chart
DEGREES = np.rad2deg(FINE)
VIEWS = [f"digit {p + 1} at {label}" for p in range(3) for label in LABELS]
PERIODS = {"2π": 2 * np.pi, "π": np.pi}


@kept(256)
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


def covariance(curve: np.ndarray, sigma: float) -> go.Figure:
    """The kernel from 0 over a turn."""
    made = charts.figure(HEIGHT, "angle between the views", "covariance")
    made.add_trace(charts.line(DEGREES, curve, "", palette.LOCAL, "%{x:.0f}°: %{y:.2f}", width=2.5))
    made.update_xaxes(**charts.TURN)
    made.update_yaxes(range=[0, max(1.05, 1.05 * sigma**2)])
    return made


def functions(drawn: np.ndarray) -> go.Figure:
    """Functions [S, 5] from the prior."""
    made = charts.figure(HEIGHT, "angle", "channel")
    for index, each in enumerate(drawn.T):
        hue = charts.faded(palette.LOCAL, 1 - 0.15 * index)
        name = f"function {index + 1}"
        made.add_trace(charts.line(DEGREES, each, name, hue, "%{x:.0f}°: %{y:.2f}"))
    made.update_xaxes(**charts.TURN)
    made.update_yaxes(range=[-5, 5])
    return made


def global_matrix() -> go.Figure:
    return charts.heatmap(np.kron(np.eye(3), np.ones((16, 16))), VIEWS, palette.GLOBAL, 160)


def local_matrix(gram: np.ndarray) -> go.Figure:
    return charts.heatmap(np.kron(np.eye(3), gram), VIEWS, palette.LOCAL, HEIGHT)


def two_kernels() -> None:
    with frame.card(
        "The data", ("Digits, each seen at several angles. Every angle has its own colour here.")
    ):
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
        sigma = first.slider(
            "σ, how far it swings", 0.2, 2.0, 1.0, 0.1, key="how.kernels.sigma", **KEPT
        )
        r = second.slider("r, how smooth it is", 0.2, 3.0, 1.0, 0.1, key="how.kernels.r", **KEPT)
        name = third.segmented_control(
            "Period", list(PERIODS), default="2π", required=True, key="how.kernels.period", **KEPT
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
        charts.show(
            global_matrix,
            "how.kernels.global",
            160,
            "The global kernel of three digits at sixteen angles: three full blocks",
        )

    made = kernel_pictures(sigma, r, PERIODS[name])
    with st.container(key="how.three"):
        curve, drawn, gram = st.columns(3, gap="medium")
    with curve, card("How alike?", "Two views of one digit, by their angle."):
        charts.show(
            partial(covariance, made["curve"], sigma),
            "how.kernels.curve",
            HEIGHT,
            f"Covariance of two views by the angle between them: {sigma**2:.2f} at 0°, "
            f"{made['curve'][len(FINE) // 2]:.2f} at 180°",
        )
    with drawn, card("What it can become", "Five channels drawn from the prior."):
        charts.show(
            partial(functions, made["drawn"]),
            "how.kernels.drawn",
            HEIGHT,
            "Five functions of the angle drawn from the prior, from "
            f"{made['drawn'].min():.1f} to {made['drawn'].max():.1f}",
        )
    with gram, card("As a matrix", "Three digits at sixteen angles."):
        charts.show(
            partial(local_matrix, made["gram"] / sigma**2),
            "how.kernels.gram",
            HEIGHT,
            "The local kernel of three digits at sixteen angles: three blocks, one a digit",
        )

    alike = made["gram"][0] / sigma**2
    with frame.card(
        "Why the period matters",
        "How strongly each view is related to the upright one, according to the kernel.",
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
                "Their local channels are then equal, and so are the global ones, so the model "
                "cannot tell a digit from its upside-down copy and draws a mixture of the two. "
                "This is the kernel as it is printed in the paper, with sin²(|w - w'|)."
            )
        else:
            st.markdown(
                "With period 2π the view at 180° is least like the upright one "
                f"(**{alike[8]:.2f}**), and only a full turn leads back to it. Choose π above "
                "to see the kernel as it is printed in the paper."
            )
