"""Screen 3: one Gaussian process for everything, or one for each digit, and what each costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import streamlit as st
import torch

from fgpvae.kernels import Periodic
from fgpvae.models import GPVAEConfig
from ui import charts
from ui.how.cards import KEPT, formula
from ui.shell import frame, numbers, palette

if TYPE_CHECKING:
    import plotly.graph_objects as go

MATRIX, COST = 360, 380  # pixels of charts
SPEED = 1e10  # operations a second, for a sense of scale


def engineering(value: float) -> str:
    """Operations as a number that one can say."""
    for size, name in ((1e18, "10¹⁸"), (1e15, "10¹⁵"), (1e12, "10¹²"), (1e9, "10⁹"), (1e6, "10⁶")):
        if value >= size:
            return f"{value / size:,.1f} · {name}" if value < 1000 * size else f"{value:.0e}"
    return f"{value:,.0f}"


def duration(seconds: float) -> str:
    for size, name in ((86400 * 365, "years"), (86400, "days"), (3600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:,.0f} {name}"
    return f"{seconds:.0f} s" if seconds >= 1 else f"{1000 * seconds:,.2g} ms"


def size(amount: float) -> str:
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if amount >= unit:
            return f"{amount / unit:,.1f} {name}"
    return f"{amount / 1e3:,.1f} KB"


def divide_the_matrix() -> None:
    with st.container(horizontal=True, gap="medium"):
        P = st.select_slider(
            "P, digits",
            [2, 5, 10, 30, 100, 360, 1000, 4000],
            360,
            key="how.cost.digits",
            width=330,
            **KEPT,
        )
        Q = st.select_slider(
            "Q, views of each",
            [2, 4, 8, 11, 16, 32, 64, 128],
            16,
            key="how.cost.views",
            width=330,
            **KEPT,
        )
    N, M = P * Q, Periodic().rank()
    # a Cholesky factor of an n x n matrix takes n³ / 3 multiplications and additions
    joint, divided, fourier = N**3 / 3, P * Q**3 / 3, P * (Q * M**2 + M**3 / 3)
    m = GPVAEConfig().digit_rank
    p, q = min(P, 6), min(Q, 16)
    at = np.linspace(0, 2 * np.pi, q, endpoint=False)
    gram = Periodic().gram(torch.as_tensor(at), torch.as_tensor(at)).detach().numpy()
    vectors = np.random.default_rng(4).normal(size=(p, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = [f"digit {d + 1}, view {v + 1}" for d in range(p) for v in range(q)]
    corner = "" if (p, q) == (P, Q) else f" Shown here: {p} digits at {q} angles."
    left, right = st.columns(2, gap="medium")
    with (
        left,
        frame.card(
            "One process for everything",
            f"Every image is tied to every other: a full matrix of {N:,} by {N:,}.{corner}",
            height="stretch",
        ),
    ):
        full = np.abs(np.kron(vectors @ vectors.T, gram))
        charts.show(
            partial(charts.heatmap, full, names, charts.GREY, MATRIX),
            "how.cost.joint",
            MATRIX,
            f"The joint kernel of {p} digits at {q} angles: no block is empty",
        )
        formula(
            r"k_\theta(\mathbf{x}_i,\mathbf{x}_j)=\Sigma_{d_i,d_j}\,k_r(w_i,w_j)"
            r"\qquad\mathcal{O}(N^3)",
            "fgpvae.models.joint.expected_log_prior",
        )
        st.caption("With the low rank of Σ, as Casale does it: O(PQ³m²), see below.")
        st.html(
            numbers.numbers(
                [
                    (engineering(joint), "operations for a Cholesky factor"),
                    (duration(joint / SPEED), "at 10¹⁰ a second"),
                    (size(8 * N**2), "of memory"),
                ]
            )
        )
    with (
        right,
        frame.card(
            "One process for each digit",
            f"Digits are independent: {P:,} small matrices of {Q} by {Q}.{corner}",
            height="stretch",
        ),
    ):
        blocks = np.kron(np.eye(p), gram)
        charts.show(
            partial(charts.heatmap, blocks, names, palette.LOCAL, MATRIX),
            "how.cost.blocks",
            MATRIX,
            f"The factorised kernel of {p} digits at {q} angles: {p} blocks, all else is empty",
        )
        formula(
            r"k^1_\theta(\mathbf{x}_i,\mathbf{x}_j)=\delta_{d_i,d_j}\,\sigma^2 k_r(w_i,w_j)"
            r"\qquad\mathcal{O}(PQ^3)",
            "fgpvae.posterior.local_posterior",
        )
        st.html(
            numbers.numbers(
                [
                    (engineering(divided), "operations for all the factors"),
                    (duration(divided / SPEED), "at 10¹⁰ a second"),
                    (size(8 * P * Q**2), "of memory"),
                ]
            )
        )
    with frame.card(
        f"{joint / divided:,.0f} times less work than O(N³)",
        "That is P² times less than the plain way, a Cholesky factor of the full matrix. "
        "Casale's GP-VAE does better than the plain way: Σ = DDᵀ has rank m, so its kernel "
        "has rank mQ and costs O(PQ³m²). Compared with that, the factorised kernel saves a "
        f"factor of m², here with m = {m} a factor of {m**2}. For hundreds of views of a "
        f"digit, its {M} Fourier features make the cost linear in Q as well.",
    ):
        lines = (
            ("one process, plain", lambda n: (n * Q) ** 3 / 3, charts.GREY, "solid"),
            ("one process, Casale", lambda n: n * Q**3 * m**2 / 3, charts.GREY, "dot"),
            ("one for each digit", lambda n: n * Q**3 / 3, palette.LOCAL, "solid"),
            ("with Fourier features", lambda n: n * fourier / P, palette.LOCAL, "dot"),
        )
        said = ", ".join(f"{name} {engineering(cost(P))}" for name, cost, *_ in lines)
        charts.show(
            lambda: operations(P, lines),
            "how.cost.operations",
            COST,
            f"Operations for {P:,} digits: {said}",
        )


def operations(P: int, lines: Sequence[tuple[str, Callable[..., Any], str, str]]) -> go.Figure:
    """The cost of each way against the number of digits, with a dot at P."""
    many = np.unique(np.append(np.geomspace(2, 4000, 40), P))
    made = charts.figure(COST, "P, digits", "operations")
    for name, cost, colour, dash in lines:
        made.add_trace(
            charts.line(many, cost(many), name, colour, "P = %{x:.0f}: %{y:.3s}", dash=dash)
        )
        here: dict[str, Any] = {"mode": "markers", "marker": {"size": 11}, "showlegend": False}
        made.add_trace(charts.line([P], [cost(P)], name, colour, "P = %{x}: %{y:.3s}", **here))
    ticks = [2, 10, 100, 1000, 4000]
    made.update_xaxes(type="log", tickvals=ticks, ticktext=[f"{n:,}" for n in ticks])
    made.update_yaxes(
        **charts.log_axis([float(cost(n)) for _, cost, *_ in lines for n in (2, 4000)])
    )
    return made.update_layout(showlegend=True)
