"""Screen 2: one Gaussian process for everything, or one for each digit, and what each costs."""

import numpy as np
import streamlit as st
import torch

from fgpvae.kernels import Periodic
from ui.charts import Axis, Plot, figures, plot
from ui.how.cards import KEPT, formula
from ui.shell import frame, numbers, palette

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
            key="n_digits",
            width=330,
            **KEPT,
        )
        Q = st.select_slider(
            "Q, views of each",
            [2, 4, 8, 11, 16, 32, 64, 128],
            16,
            key="n_views",
            width=330,
            **KEPT,
        )
    N, M = P * Q, Periodic().rank()
    # a Cholesky factor of an n x n matrix takes n³ / 3 multiplications and additions
    joint, divided, fourier = N**3 / 3, P * Q**3 / 3, P * (Q * M**2 + M**3 / 3)
    p, q = min(P, 6), min(Q, 16)
    at = np.linspace(0, 2 * np.pi, q, endpoint=False)
    gram = Periodic().gram(torch.as_tensor(at), torch.as_tensor(at)).detach().numpy()
    vectors = np.random.default_rng(4).normal(size=(p, 8))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    corner = "" if (p, q) == (P, Q) else f" The corner of {p} digits at {q} angles."
    left, right = st.columns(2, gap="medium")
    with (
        left,
        frame.card(
            "One process for everything",
            f"Every image speaks to every other: a full matrix of {N:,} by {N:,}.{corner}",
            height="stretch",
        ),
    ):
        st.html(
            figures.matrix(np.abs(np.kron(vectors @ vectors.T, gram)), figures.GREY, "joint kernel")
        )
        formula(
            r"k_\theta(\mathbf{x}_i,\mathbf{x}_j)=\Sigma_{d_i,d_j}\,k_r(w_i,w_j)"
            r"\qquad\mathcal{O}(N^3)",
            "fgpvae.models.gpvae.expected_log_prior",
        )
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
            f"Digits do not speak to each other: {P:,} small matrices of {Q} by {Q}.{corner}",
            height="stretch",
        ),
    ):
        st.html(figures.matrix(np.kron(np.eye(p), gram), palette.LOCAL, "factorised kernel"))
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
        f"{joint / divided:,.0f} times less work",
        "The more digits, the wider the gap: P², to be exact. For hundreds of views of a digit "
        f"the {M} Fourier features of the kernel make the cost linear in Q as well.",
    ):
        many = np.geomspace(2, 4000, 40)
        under, over = (18, -14) if divided < fourier else (-14, 18)
        lines = (
            ("one process", (many * Q) ** 3 / 3, joint, figures.GREY, None, -14),
            ("one for each digit", many * Q**3 / 3, divided, palette.LOCAL, None, under),
            ("with Fourier features", many * fourier / P, fourier, palette.LOCAL, "2 4", over),
        )
        least, most = min(lines[1][1].min(), lines[2][1].min()), lines[0][1].max()
        made = Plot(
            "Operations against the number of digits",
            Axis("P, digits", log=True, ticks=[2, 10, 100, 1000, 4000]),
            Axis("operations", log=True, ticks=plot.decades(least, most, 3)),
        )
        for name, cost, here, colour, dash, side in lines:
            tips = [
                f"{name}\nP = {p:.0f}: {engineering(c)}" for p, c in zip(many, cost, strict=True)
            ]
            made.line(many, cost, colour, dash=dash, tips=tips).dots([P], [here], colour, size=10)
            anchor = "end" if P > 50 else "start"
            made.text(name, P, here, palette.INK, anchor=anchor, dy=side)
        plot.show(made, "n_cost")
