"""Screens 3 and 4: the two kernels, and the cost of one process for everything or one a digit."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
import torch

from fgpvae.data import ANGLES
from fgpvae.gp.kernels import Periodic
from fgpvae.gp.posterior import local_posterior
from fgpvae.models import GPVAEConfig
from ui import charts
from ui.components import pictures
from ui.how.cards import LABELS, a_three, card, formula
from ui.shell import frame, palette
from ui.shell.query_params import KEEP, segments

HEIGHT, SMALL = 270, 160  # pixels of charts
FINE = np.linspace(0, 2 * np.pi, 121)
DEGREES = np.rad2deg(FINE)
LOCAL = (
    "Views of one digit at similar angles are alike; views of different digits have nothing in "
    "common."
)
GLOBAL = "All views of one digit share one value, whatever the angle: its style."
WHY = {  # what a period does to a digit and its upside-down copy
    "π": "With period π the view at 180° has correlation **{:.2f}** with the upright one. Their "
    "local channels are then equal, and so are the global ones, so the model cannot tell a digit "
    "from its upside-down copy and draws a mixture of the two. This is the kernel as it is "
    "printed in the paper, with sin²(|w - w'|).",
    "2π": "With period 2π the view at 180° is least like the upright one (**{:.2f}**), and only a "
    "full turn leads back to it. Choose π above to see the kernel as it is printed in the paper.",
}
PERIODS = {"2π": 2 * np.pi, "π": np.pi}
MATRIX, COST = 360, 380  # pixels of charts
SPEED = 1e10  # operations a second, for a sense of scale
OPERATIONS = {1e15: "· 10¹⁵", 1e12: "· 10¹²", 1e9: "· 10⁹", 1e6: "· 10⁶", 1e3: "· 10³", 1: ""}
TIME = {86400: "days", 3600: "hours", 60: "minutes", 1: "s", 1e-3: "ms", 1e-6: "µs", 1e-9: "ns"}
MEMORY = {1e12: "TB", 1e9: "GB", 1e6: "MB", 1e3: "KB", 1: "bytes"}
RANK, FEATURES = GPVAEConfig().digit_rank, Periodic().rank()
SIDES = {  # title, sentence, description, formula and implementation for each prior
    "joint": (
        "One process for everything",
        "Every image is tied to every other: a full matrix of {N:,} by {N:,}.",
        "The joint kernel of {p} digits at {q} angles: no block is empty",
        r"k_\theta(\mathbf{x}_i,\mathbf{x}_j)=\Sigma_{d_i,d_j}\,k_r(w_i,w_j)"
        r"\qquad\mathcal{O}(N^3)",
        "fgpvae.models.gpvae.expected_log_prior",
    ),
    "blocks": (
        "One process for each digit",
        "Digits are independent: {P:,} small matrices of {Q} by {Q}.",
        "The factorised kernel of {p} digits at {q} angles: {p} blocks, all else is empty",
        r"k^1_\theta(\mathbf{x}_i,\mathbf{x}_j)=\delta_{d_i,d_j}\,\sigma^2 k_r(w_i,w_j)"
        r"\qquad\mathcal{O}(PQ^3)",
        "fgpvae.gp.posterior.local_posterior",
    ),
}


def curves(values: np.ndarray, title: str, low: float, high: float) -> go.Figure:
    """Curves [S, n] of the angle."""
    traces = [
        charts.line(
            DEGREES,
            each,
            f"function {index + 1}" if values.shape[1] > 1 else "",
            charts.faded(palette.LOCAL, 1 - 0.15 * index),
            "%{x:.0f}°: %{y:.2f}",
        )
        for index, each in enumerate(values.T)
    ]
    return charts.figure("angle", title, traces, xaxis=charts.TURN, yaxis={"range": [low, high]})


def matrix(digits: np.ndarray, views: np.ndarray, colour: str) -> go.Figure:
    """A kernel as the product of one over digits [P, P] and one over their angles [Q, Q]."""
    P, Q = len(digits), len(views)
    names = [f"digit {p + 1} at {360 * q / Q:g}°" for p in range(P) for q in range(Q)]
    return charts.heatmap(np.abs(np.kron(digits, views)), names, colour)


def two_kernels() -> None:
    sentence = "Digits, each seen at several angles. Every angle has its own colour here."
    hues = palette.angle_colours(ANGLES)
    with frame.card("The data", sentence):
        st.html(pictures.grid([("", a_three())], LABELS, hues, alt="a three"))
    local, style = st.columns([3, 2], gap="medium")
    with local, card("Local channels", LOCAL):
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
    with style, card("Global channels", GLOBAL):
        formula(
            r"k^2_\theta(\mathbf{x}_i,\mathbf{x}_j)=\delta_{d_i,d_j}",
            "fgpvae.gp.posterior.global_posterior",
        )
        alt = "The global kernel of three digits at sixteen angles: three full blocks"
        make = partial(matrix, np.eye(3), np.ones((16, 16)), palette.GLOBAL)
        charts.show(make, "how.kernels.global", SMALL, alt)
    kernel, at = Periodic(sigma, r, PERIODS[period]), torch.as_tensor(ANGLES)
    alike = kernel.gram(at, at).detach().numpy() / sigma**2  # [16, 16]
    consequences(kernel, alike)
    with frame.card(
        "Why the period matters",
        "How strongly each view is related to the upright one, according to the kernel.",
    ):
        labels, alt = [f"{value:.2f}" for value in alike[0]], "views by their correlation"
        st.html(pictures.grid([("", a_three())], labels, hues, marked=8, alt=alt))
        st.markdown(WHY[period].format(alike[0, 8]))


def consequences(kernel: Periodic, alike: np.ndarray) -> None:
    """The local kernel as a curve, as functions from its prior and as a matrix."""
    fine, none = torch.as_tensor(FINE), torch.zeros(1, 1, dtype=torch.bool)
    curve = kernel.gram(fine, fine[:1]).detach().numpy()  # [S, 1]
    blank = torch.zeros(1, 1, 5, dtype=torch.float64)
    prior = local_posterior(kernel, none.double(), blank, blank + 1, none)
    sampled = prior.sample(fine[None], torch.Generator().manual_seed(3))[0]  # [S, 5]
    drawn, (top, below) = sampled.detach().numpy(), curve[[0, len(FINE) // 2], 0]
    with st.container(key="how.three"):
        first, second, third = st.columns(3, gap="medium")
    with first, card("How alike?", "By the angle between two views of a digit."):
        make = partial(curves, curve, "covariance", 0, 1.05 * max(1, top))
        alt = f"Covariance of two views: {top:.2f} at 0°, {below:.2f} at 180° between them"
        charts.show(make, "how.kernels.curve", HEIGHT, alt)
    with second, card("What it can become", "Five channels drawn from the prior."):
        alt = f"Functions drawn from the prior, from {drawn.min():.1f} to {drawn.max():.1f}"
        charts.show(partial(curves, drawn, "channel", -5, 5), "how.kernels.drawn", HEIGHT, alt)
    with third, card("As a matrix", "Three digits at sixteen angles."):
        make = partial(matrix, np.eye(3), alike, palette.LOCAL)
        alt = "The local kernel of three digits at sixteen angles: three blocks, one a digit"
        charts.show(make, "how.kernels.gram", HEIGHT, alt)


def said(value: float, units: dict[float, str]) -> str:
    """Format a value in the largest unit that is not larger than it."""
    size = next(size for size in units if value >= size)
    return f"{value / size:,.1f} {units[size]}".strip()


def divide_the_matrix() -> None:
    with st.container(horizontal=True, gap="medium"):
        many, views = [2, 5, 10, 30, 100, 360, 1000, 4000], [2, 4, 8, 11, 16, 32, 64, 128]
        key = "how.cost.digits"
        P = st.select_slider("P, digits", many, 360, key=key, width=330, **KEEP)
        key = "how.cost.views"
        Q = st.select_slider("Q, views of each", views, 16, key=key, width=330, **KEEP)
    N, p, q = P * Q, min(P, 6), min(Q, 16)
    at = torch.as_tensor(np.linspace(0, 2 * np.pi, q, endpoint=False))
    gram = Periodic().gram(at, at).detach().numpy()
    vectors = np.random.default_rng(4).normal(size=(p, RANK))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    digits = {"joint": vectors @ vectors.T, "blocks": np.eye(p)}
    colour = {"joint": charts.GREY, "blocks": palette.LOCAL}
    sizes = {"N": N, "P": P, "Q": Q, "p": p, "q": q}
    corner = "" if (p, q) == (P, Q) else f" Shown here: {p} digits at {q} angles."
    for column, (name, side) in zip(st.columns(2, gap="medium"), SIDES.items(), strict=True):
        title, sentence, alt, latex, function = side
        n, count = (N, 1) if name == "joint" else (Q, P)
        with column, card(title, sentence.format(**sizes) + corner):
            make = partial(matrix, digits[name], gram, colour[name])
            charts.show(make, f"how.cost.{name}", MATRIX, alt.format(**sizes))
            formula(latex, function)
            work = count * n**3 / 3  # of the Cholesky factors
            frame.numbers(
                [
                    (said(work, OPERATIONS), "operations for the Cholesky factors"),
                    (said(work / SPEED, TIME), "at 10¹⁰ a second"),
                    (said(8 * count * n**2, MEMORY), "of memory"),
                ]
            )
    with frame.card(
        f"{P**2:,} times less work than O(N³)",
        "That is P² times less than a Cholesky factor of the full matrix. The GP-VAE of Casale and "
        f"others (2018) gives every digit a vector of m = {RANK} numbers, which costs O(PQ³m²): "
        f"the factorised kernel saves a factor of m² = {RANK**2}. For hundreds of views of a "
        f"digit, its {FEATURES} Fourier features make the cost linear in Q as well.",
    ):
        costs = [f"{name} {said(cost, OPERATIONS)}" for name, (cost, *_) in ways(P, Q).items()]
        alt = f"Operations for {P:,} digits: {', '.join(costs)}"
        charts.show(partial(operations, P, Q), "how.cost.operations", COST, alt)


def ways(P: Any, Q: int) -> dict[str, tuple[Any, str, str]]:
    """Four ways to compute the same: operations for P digits, colour and dash of each."""
    return {
        "one process, plain": ((P * Q) ** 3 / 3, charts.GREY, "solid"),
        "one process, low rank": (P * Q**3 * RANK**2 / 3, charts.GREY, "dot"),
        "one for each digit": (P * Q**3 / 3, palette.LOCAL, "solid"),
        "Fourier features": (P * (Q * FEATURES**2 + FEATURES**3 / 3), palette.LOCAL, "dot"),
    }


def operations(P: int, Q: int) -> go.Figure:
    """The cost of each way against the number of digits, with a dot at P."""
    many, traces = np.unique(np.append(np.geomspace(2, 4000, 40), P)), []
    hover = "P = %{x:.0f}: %{y:.3s}"
    for name, (costs, colour, dash) in ways(many, Q).items():
        traces.append(charts.line(many, costs, name, colour, hover, dash=dash))
        traces.append(charts.dot(P, costs[many == P][0], name, colour, hover))
    xaxis, yaxis = charts.sizes_axis([2, 10, 100, 1000, 4000]), charts.POWERS
    return charts.figure("P, digits", "operations", traces, xaxis=xaxis, yaxis=yaxis, legend=True)
