"""Screen 4: the cost of one Gaussian process for everything and of one for each digit."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
import torch

from fgpvae.gp.kernels import Periodic
from fgpvae.models import GPVAEConfig
from ui import charts
from ui.how.cards import card, formula
from ui.shell import frame, palette
from ui.shell.query_params import KEEP

MATRIX, COST = 360, 380  # pixels of charts
SPEED = 1e10  # operations a second, for a sense of scale
OPERATIONS = {1e15: "· 10¹⁵", 1e12: "· 10¹²", 1e9: "· 10⁹", 1e6: "· 10⁶", 1e3: "· 10³", 1: ""}
TIME = {86400: "days", 3600: "hours", 60: "minutes", 1: "s", 1e-3: "ms", 1e-6: "µs", 1e-9: "ns"}
MEMORY = {1e12: "TB", 1e9: "GB", 1e6: "MB", 1e3: "KB", 1: "bytes"}


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
    corner = "" if (p, q) == (P, Q) else f" Shown here: {p} digits at {q} angles."
    left, right = st.columns(2, gap="medium")
    sentence = f"Every image is tied to every other: a full matrix of {N:,} by {N:,}.{corner}"
    with left, card("One process for everything", sentence):
        charts.show(
            partial(matrix, p, q, joint=True),
            "how.cost.joint",
            MATRIX,
            f"The joint kernel of {p} digits at {q} angles: no block is empty",
        )
        formula(
            r"k_\theta(\mathbf{x}_i,\mathbf{x}_j)=\Sigma_{d_i,d_j}\,k_r(w_i,w_j)"
            r"\qquad\mathcal{O}(N^3)",
            "fgpvae.models.gpvae.expected_log_prior",
        )
        price(N**3 / 3, 8 * N**2)
    sentence = f"Digits are independent: {P:,} small matrices of {Q} by {Q}.{corner}"
    with right, card("One process for each digit", sentence):
        charts.show(
            partial(matrix, p, q, joint=False),
            "how.cost.blocks",
            MATRIX,
            f"The factorised kernel of {p} digits at {q} angles: {p} blocks, all else is empty",
        )
        formula(
            r"k^1_\theta(\mathbf{x}_i,\mathbf{x}_j)=\delta_{d_i,d_j}\,\sigma^2 k_r(w_i,w_j)"
            r"\qquad\mathcal{O}(PQ^3)",
            "fgpvae.gp.posterior.local_posterior",
        )
        price(P * Q**3 / 3, 8 * P * Q**2)
    compared(P, Q)


def matrix(p: int, q: int, joint: bool) -> go.Figure:
    """The kernel matrix of p digits at q angles, for one process or one process per digit."""
    at = torch.as_tensor(np.linspace(0, 2 * np.pi, q, endpoint=False))
    gram = Periodic().gram(at, at).detach().numpy()
    vectors = np.random.default_rng(4).normal(size=(p, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    values = np.abs(np.kron(vectors @ vectors.T if joint else np.eye(p), gram))
    names = [f"digit {d + 1}, view {v + 1}" for d in range(p) for v in range(q)]
    return charts.heatmap(values, names, charts.GREY if joint else palette.LOCAL)


def price(work: float, memory: float) -> None:
    """Operations, time and memory of a Cholesky factor: n³ / 3 operations for an n x n matrix."""
    frame.numbers(
        [
            (said(work, OPERATIONS), "operations for the Cholesky factors"),
            (said(work / SPEED, TIME), "at 10¹⁰ a second"),
            (said(memory, MEMORY), "of memory"),
        ]
    )


def ways(Q: int) -> dict[str, tuple[Callable[[Any], Any], str, str]]:
    """Four ways to compute the same: operations for P digits, colour and dash of each."""
    m, M = GPVAEConfig().digit_rank, Periodic().rank()
    return {
        "one process, plain": (lambda P: (P * Q) ** 3 / 3, charts.GREY, "solid"),
        "one process, low rank": (lambda P: P * Q**3 * m**2 / 3, charts.GREY, "dot"),
        "one for each digit": (lambda P: P * Q**3 / 3, palette.LOCAL, "solid"),
        "Fourier features": (lambda P: P * (Q * M**2 + M**3 / 3), palette.LOCAL, "dot"),
    }


def compared(P: int, Q: int) -> None:
    """The ways against the number of digits."""
    m, M = GPVAEConfig().digit_rank, Periodic().rank()
    with frame.card(
        f"{P**2:,} times less work than O(N³)",
        "That is P² times less than the plain way, a Cholesky factor of the full matrix. An "
        "earlier model, the GP-VAE of Casale and others (2018), gives every digit a vector of m "
        "numbers, so that its kernel has rank mQ and costs O(PQ³m²). Compared with that, the "
        f"factorised kernel saves a factor of m², here with m = {m} a factor of {m**2}. For "
        f"hundreds of views of a digit, its {M} Fourier features make the cost linear in Q as "
        "well.",
    ):
        costs = [f"{name} {said(cost(P), OPERATIONS)}" for name, (cost, *_) in ways(Q).items()]
        charts.show(
            partial(operations, P, Q),
            "how.cost.operations",
            COST,
            f"Operations for {P:,} digits: {', '.join(costs)}",
        )


def operations(P: int, Q: int) -> go.Figure:
    """The cost of each way against the number of digits, with a dot at P."""
    many = np.unique(np.append(np.geomspace(2, 4000, 40), P))
    made = charts.figure("P, digits", "operations")
    for name, (cost, colour, dash) in ways(Q).items():
        hover = "P = %{x:.0f}: %{y:.3s}"
        made.add_trace(charts.line(many, cost(many), name, colour, hover, dash=dash))
        made.add_trace(charts.dot(P, cost(P), name, colour, hover))
    ticks = [2, 10, 100, 1000, 4000]
    made.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{n:,}" for n in ticks])
    made.update_yaxes(type="log", exponentformat="power")
    return made.update_layout(showlegend=True)
