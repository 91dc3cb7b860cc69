"""The paper in five screens."""

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st
import torch

from fgpvae import UserError, background, checkpoints, comparison, data, latents, runs
from fgpvae.comparison import MEAN_IMAGE, TRAINING, Question
from fgpvae.configs import OBJECTS
from fgpvae.data import ANGLES
from fgpvae.kernels import Periodic
from fgpvae.posterior import local_posterior
from ui import colours, figures, frame, links, models, notices, plot
from ui.clickgp import clickgp
from ui.models import Choice
from ui.plot import Axis, Plot

SCREENS = {
    1: "Two kernels",
    2: "Divide the matrix",
    3: "A Gaussian process",
    4: "Many views, one style",
    5: "Learning",
}
DEGREES = np.rad2deg(ANGLES)
LABELS = [f"{degrees:g}°" for degrees in DEGREES]
FINE = np.linspace(0, 2 * np.pi, 121)
KEPT = {"bind": "query-params", "persist_state": "session"}
PERIODS = {"2π": 2 * np.pi, "π": np.pi}
SPEED = 1e10  # operations a second, for a sense of scale


def card(*texts: str, **options: Any) -> Any:
    """A card as tall as those beside it."""
    return frame.card(*texts, height="stretch", **options)


def formula(latex: str, function: str) -> None:
    """A formula of the paper and what implements it."""
    st.latex(latex)
    st.caption(f"`{function}`")


@st.cache_data(show_spinner=False)
def a_three() -> np.ndarray:
    """One digit at sixteen angles [16, 28, 28]."""
    return data.rotate(data.embedded((3,)).images[361:362], ANGLES)[0]


# --- 1 ----------------------------------------------------------------------------------------


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
            figures.grid([("", a_three())], LABELS, colours.angle_colours(ANGLES), alt="a three")
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
        st.html(figures.matrix(block, colours.GLOBAL, "global kernel", 110))

    made = kernel_pictures(sigma, r, PERIODS[name])
    curve, drawn, gram = st.columns(3, gap="medium")
    with curve, card("How alike?", "Two views of one digit, by their angle."):
        degrees = np.rad2deg(FINE)
        y = Axis("covariance", 0, max(1.05, 1.05 * sigma**2))
        made_curve = Plot("Covariance by the angle between two views", figures.TURN, y, 250)
        tips = [f"{d:.0f}°: {k:.2f}" for d, k in zip(degrees, made["curve"], strict=True)]
        made_curve.line(degrees, made["curve"], colours.LOCAL, width=2.5, tips=tips)
        plot.show(made_curve, "k_curve")
    with drawn, card("What it can become", "Five channels drawn from the prior."):
        functions = Plot("Five functions from the prior", figures.TURN, Axis("", -5, 5), 250)
        for each, shade in zip(made["drawn"].T, np.linspace(1, 0.35, 5), strict=True):
            functions.line(degrees, each, colours.LOCAL, width=1.8, alpha=shade)
        plot.show(functions, "k_drawn")
    with gram, card("As a matrix", "Three digits at sixteen angles."):
        st.html(
            figures.matrix(
                np.kron(np.eye(3), made["gram"] / sigma**2), colours.LOCAL, "local kernel", 250
            )
        )

    alike = made["gram"][0] / sigma**2
    with frame.card(
        "Why the period matters",
        "The upright view against the others: what the kernel thinks they have in common.",
    ):
        st.html(
            figures.grid(
                [("", a_three())],
                [f"{value:.2f}" for value in alike],
                colours.angle_colours(ANGLES),
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


# --- 2 ----------------------------------------------------------------------------------------


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
            figures.numbers(
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
        st.html(figures.matrix(np.kron(np.eye(p), gram), colours.LOCAL, "factorised kernel"))
        formula(
            r"k^1_\theta(\mathbf{x}_i,\mathbf{x}_j)=\delta_{d_i,d_j}\,\sigma^2 k_r(w_i,w_j)"
            r"\qquad\mathcal{O}(PQ^3)",
            "fgpvae.posterior.local_posterior",
        )
        st.html(
            figures.numbers(
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
            ("one for each digit", many * Q**3 / 3, divided, colours.LOCAL, None, under),
            ("with Fourier features", many * fourier / P, fourier, colours.LOCAL, "2 4", over),
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
            made.text(name, P, here, plot.INK, anchor=anchor, dy=side)
        plot.show(made, "n_cost")


# --- 3 ----------------------------------------------------------------------------------------


def a_gaussian_process() -> None:
    st.caption(
        "This is one local channel of one digit. Click to say what it is at some angle, drag a "
        "point, double-click to take it away. The line is what the process concludes, the band "
        "holds 95 % of what it thinks possible, the thin lines are functions that it could be."
    )
    clickgp("how_gp")
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


# --- 4 ----------------------------------------------------------------------------------------


@st.cache_resource(max_entries=8, show_spinner="Looking at every digit from sixteen angles")
def encoded(choice: Choice) -> latents.Latents:
    return latents.latents(choice.load(), shown(choice.classes))


@st.cache_resource(max_entries=4, show_spinner=False)
def shown(classes: tuple[int, ...]) -> data.Views:
    return latents.digits(classes)


def divided(choice: Choice) -> bool:
    return choice.config.model.divides_channels


def many_views_one_style() -> None:
    picker, which, one, some = st.columns([2, 2, 1.3, 3], gap="medium")
    with picker:
        choice = models.pick(only=divided)
    model, found = notices.attempt(lambda: (choice.load(), encoded(choice)))
    views = shown(choice.classes)
    first = int((views.labels == 3).int().argmax())
    if st.session_state.get("g_digit", 0) >= len(views):
        st.session_state["g_digit"] = first
    channels = list(range(1, model.config.latents - model.config.local + 1))
    digit = which.slider("Digit", 0, len(views) - 1, first, key="g_digit", **KEPT)
    channel = one.selectbox("Global channel", channels, key="g_channel", **KEPT)
    count = some.slider("Views given", 0, 16, 3, key="g_views", **KEPT)

    j = model.config.local + channel - 1
    order = np.argsort(np.arange(16) * 7 % 16)  # views from all around, not one after the other
    mu, sd = found.mu[digit][order, j], np.sqrt(found.var[digit][order, j])
    mean, spread = (each[:, 0] for each in latents.product(mu[:, None], sd[:, None] ** 2))
    given = np.isin(np.arange(16), order[:count])
    images = np.where(given[:, None, None], 1, 0.25) * views.images[digit].numpy()
    with frame.card("The views that the model has", "The bright ones; the others it has not seen."):
        st.html(
            figures.grid([("", images)], LABELS, colours.angle_colours(ANGLES), alt="views given")
        )
    left, right = st.columns([3, 2], gap="medium")
    with (
        left,
        frame.card(
            "What each view says, and what they say together",
            "Thin: one view each, in the colour of its angle. Dashed: the prior. Bold: together.",
            height="stretch",
        ),
    ):
        z = np.linspace(-3.2, 3.2, 801)

        def bell(m: float, s: float) -> np.ndarray:
            return np.exp(-0.5 * ((z - m) / s) ** 2)

        made = Plot(
            "What each view says, and what they say together",
            Axis(f"global channel {channel}", -3.2, 3.2),
            Axis("density, peaks at one height", 0, 1.08, ticks=()),
        )
        made.line(z, bell(0, 1), figures.GREY, width=1.5, dash="6 5")
        for view in range(count):
            hue = colours.angle_colour(ANGLES[order[view]])
            made.line(z, bell(mu[view], sd[view]), hue, width=1.3)
        made.line(z, bell(mean[count], spread[count]), colours.GLOBAL, width=3, fill=0.15)
        plot.show(made, "g_bells")
    with right, card("Surer with each view", "Mean and two standard deviations."):
        steps = np.arange(17)
        made = Plot("Mean and spread by views", Axis("views given", ticks=[0, 4, 8, 12, 16]))
        made.band(steps, mean - 2 * spread, mean + 2 * spread, colours.GLOBAL)
        tips = [f"{n} views: {mean[n]:.2f} ± {spread[n]:.2f}" for n in steps]
        made.line(steps, mean, colours.GLOBAL, width=2.5, tips=tips)
        made.dots([count], [mean[count]], colours.GLOBAL, size=12, outline=plot.INK)
        plot.show(made, "g_surer")
    with frame.card("The product of Gaussians", "Precisions add up; the prior counts as one."):
        formula(
            r"\bar\sigma^2=\Big(1+\sum_{q=1}^{Q}\frac{1}{\sigma_q^2}\Big)^{-1},\qquad"
            r"\bar\mu=\bar\sigma^2\sum_{q=1}^{Q}\frac{\mu_q}{\sigma_q^2}",
            "fgpvae.posterior.global_posterior",
        )
        st.html(
            figures.numbers(
                [
                    (f"{mean[count]:+.2f} ± {spread[count]:.3f}", f"given {count} views"),
                    ("+0.00 ± 1.000", "the prior, without any"),
                    (f"{mean[16]:+.2f} ± {spread[16]:.3f}", "given all sixteen"),
                ]
            )
        )


# --- 5 ----------------------------------------------------------------------------------------


def recorded() -> dict[str, Path]:
    """Runs that come with the package, by name."""
    folder = Path(str(files("fgpvae"))) / "assets" / "recorded"
    return {path.stem: path for path in sorted(folder.glob("*.jsonl"))}


@st.cache_data(max_entries=8, show_spinner=False)
def record(path: Path, version: float) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def curves(run: runs.Run) -> list[dict[str, Any]]:
    """The lines of one's own run."""
    lines = run.metrics()
    if len(lines) < 2:
        raise UserError(f"'{run.name}' has no curves: {runs.METRICS} is damaged or gone.")
    return lines


@st.cache_data(show_spinner=False)
def mean_image_error() -> float:
    """Of the benchmark's threes at the held-out angle."""
    return comparison.references(Question(TRAINING))[MEAN_IMAGE].mse


def learning() -> None:
    shipped = recorded()
    own = {
        models.OWN + run.name: run for run in runs.list_runs(background.root())[0] if run.epoch >= 2
    }
    if not shipped and not own:
        with frame.empty(
            "No recorded run", "Once a model has been trained, its curves are shown here."
        ):
            st.page_link(frame.page("train"), label="Train a model")
        return
    with st.container(horizontal=True, gap="medium"):
        name = st.selectbox("Run", [*shipped, *own], key="r_run", width=220, **KEPT)
        if name in shipped:
            lines = record(shipped[name], shipped[name].stat().st_mtime)
        else:
            lines = notices.attempt(lambda: curves(own[name]))
        try:
            config = checkpoints.shipped_config(name) if name in shipped else own[name].config
        except UserError:
            config = None
        objective = None if config is None else config.objective
        last = len(lines)
        if st.session_state.get("r_epoch", 1) > last:
            st.session_state["r_epoch"] = last
        epoch = st.slider("Epoch", 1, last, min(20, last), key="r_epoch", width=420, **KEPT)
    line = lines[epoch - 1]
    geco = objective is not None and objective.name == "geco"
    target = objective.kappa_squared if geco else None
    threes = config is not None and config.data.split != OBJECTS and config.data.classes == (3,)

    plots = (
        ("mse", "Error of a pixel", "How far reconstructions are from the truth."),
        ("kl", "KL", "What it knows of a digit beyond the prior, in nats."),
        ("multiplier", "λ", "What an error costs, in nats."),
    )
    columns = st.columns(3, gap="medium")
    for column, (name, title, sentence) in zip(columns, plots, strict=True):
        with column, card(title, sentence, key=f"record-{name}"):
            plot.show(history(lines, name, epoch, target), f"r_{name}")
    if geco and objective is not None:
        st.markdown(moment(line, objective))
    st.html(
        figures.numbers(
            [
                (f"{line['mse']:.4f}", f"error after epoch {int(line['epoch'])}"),
                *([(f"{target:.4f}", "κ², what it aims at")] if target else []),
                *([(f"{mean_image_error():.4f}", "the mean image at 157.5°")] if threes else []),
                (f"{line['kl']:.0f}", "KL, nats a digit"),
                (f"{line['multiplier']:.3g}", "λ"),
            ]
        )
    )
    left, right = st.columns(2, gap="medium")
    with left, card("The bound", "Reconstruct well, and stay close to the prior."):
        formula(
            r"\begin{aligned}&\log p(\mathbf{Y}|\mathbf{X})\ge\\&\;\;\sum_{p=1}^{P}\mathbb{E}_q"
            r"\bigg[\sum_{q=1}^{Q}\log p_\psi(\mathbf{y}_q|\mathbf{z}_q)-\log\tilde q_\phi("
            r"\mathbf{z}_q|\mathbf{y}_q)\bigg]\\&\qquad+\log Z_{\phi,\theta}(\mathbf{Y}_p,"
            r"\mathbf{X}_p)\end{aligned}",
            "fgpvae.objectives.ELBO",
        )
        st.caption("The terms of each digit: `fgpvae.models.FGPVAE.terms`")
    with right, card("GECO", "Name the error that is good enough; λ sees to it."):
        formula(
            r"\begin{aligned}&\min_{\phi,\psi}\;\mathrm{KL}+\lambda\big(\text{error}-\kappa^2"
            r"\big)\\ &\lambda\leftarrow\lambda\,\exp\overline{\big(\text{error}-\kappa^2\big)}"
            r"\end{aligned}",
            "fgpvae.objectives.GECO",
        )
        st.caption("The bar is a moving average; λ stays within bounds.")


def history(lines: list[dict[str, Any]], name: str, epoch: int, target: float | None) -> Plot:
    """One quantity over the epochs, with a dot at the chosen one and a line at the target."""
    epochs, values = [each["epoch"] for each in lines], [each[name] for each in lines]
    y = Axis()
    if name == "multiplier":
        low, high = np.floor(np.log10(min(values))), np.ceil(np.log10(max(values)) + 0.01)
        y = Axis("", 10**low, 10**high, log=True)
    elif name == "mse":
        shown = [*values, target or values[-1]]
        ticks = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
        y = Axis("", 0.75 * min(shown), 1.2 * max(shown), log=True, ticks=ticks)
    made = Plot(f"{name} over the epochs", Axis("epoch"), y, height=230)
    if name == "mse" and target:
        made.rule(figures.GREY, y=target, dash="6 5").text(
            "κ²", epochs[-1], target, dy=10, anchor="end"
        )
    tips = [f"epoch {e}: {value:.4g}" for e, value in zip(epochs, values, strict=True)]
    made.line(epochs, values, plot.INK, width=1.6, tips=tips)
    return made.dots([epochs[epoch - 1]], [values[epoch - 1]], colours.GLOBAL, size=11)


def moment(line: dict[str, Any], objective: Any) -> str:
    """What GECO does at this epoch, in a sentence."""
    excess = line["mse"] - objective.kappa_squared
    if excess > 0 and line["multiplier"] >= 0.999 * objective.multiplier_max:
        return (
            f"At this epoch the error is {excess:.4f} above κ² and λ is at its upper bound: it can "
            "ask no more, and the network learns as fast as it can. Without the bound λ would "
            "grow for ever here, and the encoder's variances would vanish."
        )
    if excess > 0:
        return (
            f"At this epoch the error is {excess:.4f} above κ²: λ grows, and errors cost more from "
            "step to step."
        )
    return (
        f"At this epoch the error is {-excess:.4f} below κ², good enough: λ falls, and the model "
        "may use its freedom to come closer to the prior."
    )


# ----------------------------------------------------------------------------------------------

frame.guard()
frame.heading("How it works", "The paper in five screens, each with something to move.")

asked = st.query_params.get("screen", "")
if "how_screen" not in st.session_state and asked in map(str, SCREENS):
    st.session_state["how_screen"] = int(asked)
st.session_state.setdefault("how_screen", 1)
screen = st.segmented_control(
    "Screen",
    list(SCREENS),
    format_func=lambda number: f"{number} · {SCREENS[number]}",
    required=True,
    key="how_screen",
    persist_state="session",
    label_visibility="collapsed",
)
st.query_params["screen"] = str(screen)

{
    1: two_kernels,
    2: divide_the_matrix,
    3: a_gaussian_process,
    4: many_views_one_style,
    5: learning,
}[screen]()
if screen != 3:  # only there they mean something
    links.write(points=None, kernel=None)


def go_to(number: int) -> None:
    st.session_state["how_screen"] = number


with st.container(horizontal=True, horizontal_alignment="right"):
    if screen > 1:
        st.button(f"Back: {SCREENS[screen - 1]}", on_click=go_to, args=(screen - 1,))
    if screen < len(SCREENS):
        st.button(
            f"Next: {SCREENS[screen + 1]}", on_click=go_to, args=(screen + 1,), type="primary"
        )
