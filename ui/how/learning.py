"""Screen 5: the curves of a run, epoch by epoch."""

from __future__ import annotations

import json
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from fgpvae import UserError, background, checkpoints, comparison, runs
from fgpvae.comparison import MEAN_IMAGE, TRAINING, Question
from fgpvae.configs import OBJECTS
from ui import charts
from ui.catalog import models
from ui.how.cards import KEPT, card, formula
from ui.shell import frame, notices, numbers, palette

if TYPE_CHECKING:
    import plotly.graph_objects as go


HEIGHT = 270  # pixels of a chart
UNITS = {"mse": "mean squared error", "kl": "nats a digit", "multiplier": "λ"}


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
        name = st.selectbox("Run", [*shipped, *own], key="how.learning.run", width=220, **KEPT)
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
        if st.session_state.get("how.learning.epoch", 1) > last:
            st.session_state["how.learning.epoch"] = last
        epoch = st.slider(
            "Epoch", 1, last, min(20, last), key="how.learning.epoch", width=420, **KEPT
        )
    line = lines[epoch - 1]
    geco = objective is not None and objective.name == "geco"
    target = objective.kappa_squared if geco and objective is not None else None
    threes = config is not None and config.data.split != OBJECTS and config.data.classes == (3,)

    plots = (
        ("mse", "Error of a pixel", "How far reconstructions are from the truth."),
        ("kl", "KL", "What it knows of a digit beyond the prior, in nats."),
        ("multiplier", "λ", "What an error costs, in nats."),
    )
    columns = st.columns(3, gap="medium")
    for column, (name, title, sentence) in zip(columns, plots, strict=True):
        with column, card(title, sentence, key=f"how.learning.{name}"):
            charts.show(
                partial(history, lines, name, epoch, target),
                f"how.learning.{name}",
                HEIGHT,
                f"{title} over the epochs, from {lines[0][name]:.4g} to {lines[-1][name]:.4g}; "
                f"{line[name]:.4g} at epoch {epoch}",
            )
    if geco and objective is not None:
        st.markdown(moment(line, objective))
    st.html(
        numbers.numbers(
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


def history(lines: list[dict[str, Any]], name: str, epoch: int, target: float | None) -> go.Figure:
    """One quantity over the epochs, with a dot at the chosen one and a line at the target."""
    epochs, values = [each["epoch"] for each in lines], [each[name] for each in lines]
    made = charts.figure(HEIGHT, "epoch", UNITS[name])
    if name == "mse" and target:
        ends = [epochs[0], epochs[-1]]
        hover = "%{y:.4f}, what it aims at"
        made.add_trace(
            charts.line(ends, [target] * 2, "κ²", charts.GREY, hover, dash="dash", width=1.5)
        )
    hover = "epoch %{x}: %{y:.4g}"
    made.add_trace(charts.line(epochs, values, UNITS[name], charts.GREY, hover))
    here: dict[str, Any] = {"mode": "markers", "marker": {"size": 11}, "showlegend": False}
    at = epoch - 1
    made.add_trace(charts.line([epochs[at]], [values[at]], "", palette.GLOBAL, hover, **here))
    if name != "kl":
        made.update_yaxes(
            **charts.log_axis([*values, *([target] if name == "mse" and target else [])])
        )
    return made.update_layout(showlegend=name == "mse" and bool(target))


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
