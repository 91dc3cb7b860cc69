"""Screen 3: the two kernels, and what they expect of the views of a digit."""

from __future__ import annotations

from functools import partial

import numpy as np
import plotly.graph_objects as go
import streamlit as st
import torch

from fgpvae.data import ANGLES
from fgpvae.gp.kernels import Periodic
from fgpvae.gp.posterior import local_posterior
from ui import charts
from ui.components import pictures
from ui.how.cards import LABELS, a_three, card, formula
from ui.shell import frame, palette
from ui.shell.query_params import KEEP, segments

HEIGHT, SMALL = 270, 160  # pixels of charts
FINE = np.linspace(0, 2 * np.pi, 121)
DEGREES = np.rad2deg(FINE)
VIEWS = [f"digit {p + 1} at {label}" for p in range(3) for label in LABELS]
PERIODS = {"2π": 2 * np.pi, "π": np.pi}


def covariance(curve: np.ndarray) -> go.Figure:
    """The kernel from 0 over a turn."""
    made = charts.figure("angle between the views", "covariance")
    made.add_trace(charts.line(DEGREES, curve, "", palette.LOCAL, "%{x:.0f}°: %{y:.2f}", width=2.5))
    made.update_xaxes(**charts.TURN)
    return made.update_yaxes(range=[0, 1.05 * max(1, curve[0])])


def functions(drawn: np.ndarray) -> go.Figure:
    """Functions [S, 5] from the prior."""
    made = charts.figure("angle", "channel")
    for index, each in enumerate(drawn.T):
        hue = charts.faded(palette.LOCAL, 1 - 0.15 * index)
        name = f"function {index + 1}"
        made.add_trace(charts.line(DEGREES, each, name, hue, "%{x:.0f}°: %{y:.2f}"))
    made.update_xaxes(**charts.TURN)
    return made.update_yaxes(range=[-5, 5])


def blocks(gram: np.ndarray, colour: str) -> go.Figure:
    """The kernel of three digits at sixteen angles."""
    return charts.heatmap(np.kron(np.eye(3), gram), VIEWS, colour)


def two_kernels() -> None:
    sentence = "Digits, each seen at several angles. Every angle has its own colour here."
    hues = palette.angle_colours(ANGLES)
    with frame.card("The data", sentence):
        st.html(pictures.grid([("", a_three())], LABELS, hues, alt="a three"))
    local, style = st.columns([3, 2], gap="medium")
    with local:
        sigma, r, period = local_kernel()
    sentence = "All views of one digit share one value, whatever the angle: its style."
    with style, card("Global channels", sentence):
        formula(
            r"k^2_\theta(\mathbf{x}_i,\mathbf{x}_j)=\delta_{d_i,d_j}",
            "fgpvae.gp.posterior.global_posterior",
        )
        charts.show(
            partial(blocks, np.ones((16, 16)), palette.GLOBAL),
            "how.kernels.global",
            SMALL,
            "The global kernel of three digits at sixteen angles: three full blocks",
        )
    kernel, at = Periodic(sigma, r, PERIODS[period]), torch.as_tensor(ANGLES)
    alike = kernel.gram(at, at).detach().numpy() / sigma**2  # [16, 16]
    consequences(kernel, alike)
    why_the_period(alike[0], period)


def local_kernel() -> tuple[float, float, str]:
    """The kernel of local channels and its settings: σ, r and the name of the period."""
    with card(
        "Local channels",
        "Views of one digit at similar angles are alike; views of different digits have "
        "nothing in common.",
    ):
        formula(
            r"k^1_\theta(\mathbf{x}_i,\mathbf{x}_j)=\delta_{d_i,d_j}\;\sigma^2\exp\!\bigg("
            r"\!-\frac{2\sin^2\!\big(\pi|w_i-w_j|/\text{period}\big)}{r^2}\bigg)",
            "fgpvae.gp.kernels.Periodic",
        )
        first, second, third = st.columns([2, 2, 1.3], gap="medium")
        key = "how.kernels.sigma"
        sigma = first.slider("σ, how far it swings", 0.2, 2.0, 1.0, 0.1, key=key, **KEEP)
        r = second.slider("r, how smooth it is", 0.2, 3.0, 1.0, 0.1, key="how.kernels.r", **KEEP)
        with third:
            period = segments("Period", list(PERIODS), "how.kernels.period")
    return sigma, r, period


def consequences(kernel: Periodic, alike: np.ndarray) -> None:
    """The local kernel as a curve, as functions from its prior and as a matrix."""
    fine, none = torch.as_tensor(FINE), torch.zeros(1, 1, dtype=torch.bool)
    curve = kernel.gram(fine[:1], fine)[0].detach().numpy()
    blank = torch.zeros(1, 1, 5, dtype=torch.float64)
    prior = local_posterior(kernel, none.double(), blank, blank + 1, none)
    sampled = prior.sample(fine[None], torch.Generator().manual_seed(3))[0]  # [S, 5]
    drawn = sampled.detach().numpy()
    with st.container(key="how.three"):
        first, second, third = st.columns(3, gap="medium")
    with first, card("How alike?", "Two views of one digit, by their angle."):
        charts.show(
            partial(covariance, curve),
            "how.kernels.curve",
            HEIGHT,
            f"Covariance of two views by the angle between them: {curve[0]:.2f} at 0°, "
            f"{curve[len(FINE) // 2]:.2f} at 180°",
        )
    with second, card("What it can become", "Five channels drawn from the prior."):
        charts.show(
            partial(functions, drawn),
            "how.kernels.drawn",
            HEIGHT,
            "Five functions of the angle drawn from the prior, from "
            f"{drawn.min():.1f} to {drawn.max():.1f}",
        )
    with third, card("As a matrix", "Three digits at sixteen angles."):
        charts.show(
            partial(blocks, alike, palette.LOCAL),
            "how.kernels.gram",
            HEIGHT,
            "The local kernel of three digits at sixteen angles: three blocks, one a digit",
        )


def why_the_period(alike: np.ndarray, period: str) -> None:
    """What a period of π does: a digit and its upside-down copy become equal."""
    with frame.card(
        "Why the period matters",
        "How strongly each view is related to the upright one, according to the kernel.",
    ):
        labels, hues = [f"{value:.2f}" for value in alike], palette.angle_colours(ANGLES)
        alt = "correlation of each view with the upright one"
        st.html(pictures.grid([("", a_three())], labels, hues, marked=8, alt=alt))
        if period == "π":
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
