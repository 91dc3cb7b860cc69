"""Screen 6: the curves of a run, epoch by epoch."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import plotly.graph_objects as go
import streamlit as st

import fgpvae
from fgpvae import runs
from fgpvae.data.collections import Digits
from fgpvae.evaluation import comparison
from fgpvae.evaluation.comparison import MEAN_IMAGE, TRAINING, Question
from fgpvae.runs import checkpoints, queue
from fgpvae.training.configs import RunConfig
from ui import charts
from ui.catalog import models
from ui.how.cards import card, formulas
from ui.shell import frame, notices, palette
from ui.shell.query_params import KEEP

HEIGHT = 270  # pixels of a chart
NOTES = {  # on the recorded runs
    "within-reach": "κ² = 0.04 is within reach of the paper's networks. λ rises to its bound until "
    "the error is below κ², then comes down; the KL falls with it, and the error comes back to "
    "κ². Dotted: the paper's κ² = 0.02, which is out of reach. Recorded by `python -m fgpvae train "
    "--preset paper --set objective.kappa_squared=0.04 --set training.epochs=160`.",
    "paper": "κ² = 0.02, as the paper has it, is out of reach of its networks on this training "
    "set: λ stays at its bound to the end.",
}
HOVER = "epoch %{x}: %{y:.4g}"
ERROR = "How far the reconstructed pictures are from the true ones."
KL = "How much the model says about a digit beyond the prior, in nats."
PLOTS = (
    ("mse", "Error of a pixel", "mean squared error", ERROR),
    ("kl", "KL", "nats a digit", KL),
    ("multiplier", "λ", "λ", "What an error costs, in nats."),
)
FORMULAS = (
    (
        "The bound",
        "Reconstruct well, and stay close to the prior.",
        r"\begin{aligned}&\log p(\mathbf{Y}|\mathbf{X})\ge\\&\;\;\sum_{p=1}^{P}\mathbb{E}_q"
        r"\bigg[\sum_{q=1}^{Q}\log p_\psi(\mathbf{y}_q|\mathbf{z}_q)-\log\tilde q_\phi("
        r"\mathbf{z}_q|\mathbf{y}_q)\bigg]\\&\qquad+\log Z_{\phi,\theta}(\mathbf{Y}_p,"
        r"\mathbf{X}_p)\end{aligned}",
        "fgpvae.training.objectives.ELBO",
        "The terms of each digit: `fgpvae.models.FGPVAE.terms`",
    ),
    (
        "GECO",
        "Choose an error that is good enough; λ is adjusted to reach it.",
        r"\begin{aligned}&\min_{\phi,\psi}\;\mathrm{KL}+\lambda\big(\text{error}-\kappa^2"
        r"\big)\\ &\lambda\leftarrow\lambda\,\exp\overline{\big(\text{error}-\kappa^2\big)}"
        r"\end{aligned}",
        "fgpvae.training.objectives.GECO",
        "The bar denotes a moving average; λ stays within bounds.",
    ),
)
RECORDED = Path(fgpvae.__file__).parent / "assets" / "recorded"  # runs shipped with the package
Line = dict[str, Any]  # metrics of one epoch


def learning() -> None:
    shipped = {path.stem: path for path in sorted(RECORDED.glob("*.jsonl"), reverse=True)}
    own = {models.OWN + run.name: run for run in runs.list_runs(queue.root())[0] if run.epoch >= 2}
    linked = st.query_params.get("how.learning.run")
    if linked and linked not in shipped and linked not in own:
        notices.problem(models.missing(linked))
    with st.container(horizontal=True, gap="medium"):
        name = st.selectbox("Run", [*shipped, *own], key="how.learning.run", width=220, **KEEP)
        beside: dict[str, list[Line]] = {}  # recorded runs to compare a recorded run with
        if name in own:
            lines, config = own[name].metrics(), own[name].config
            if len(lines) < 2:
                notices.problem(f"'{name}' has no curves: {runs.METRICS} is damaged or gone.")
                st.stop()
        else:
            beside = {
                each: [json.loads(line) for line in path.read_text().splitlines()]
                for each, path in shipped.items()
            }
            lines, file = beside.pop(name), shipped[name].with_suffix(".json")
            if file.exists():
                config = checkpoints.parse_config(file.read_bytes(), file.name)
            else:  # the run of the shipped model of its name
                config = checkpoints.shipped_config(name)
        last, key = len(lines), "how.learning.epoch"
        if st.session_state.get(key, 1) > last:
            st.session_state[key] = last
        epoch = st.slider("Epoch", 1, last, min(40, last), key=key, width=420, **KEEP)
    if name in NOTES:
        st.caption(NOTES[name])
    plots(lines, epoch, config, beside)
    formulas(*FORMULAS)


def plots(lines: list[Line], epoch: int, config: RunConfig, beside: dict[str, list[Line]]) -> None:
    """Error, KL and λ over the epochs, and their values at one epoch."""
    line, geco = lines[epoch - 1], config.objective.name == "geco"
    target = config.objective.kappa_squared if geco else None
    with st.container(key="how.three"):
        columns = st.columns(3, gap="medium")
    for column, (what, title, unit, sentence) in zip(columns, PLOTS, strict=True):
        aim = target if what == "mse" else None
        with column, card(title, sentence, key=f"how.learning.{what}"):
            charts.show(
                partial(history, lines, what, unit, epoch, aim, beside),
                f"how.learning.{what}",
                HEIGHT,
                f"{title} over the epochs, from {lines[0][what]:.4g} to {lines[-1][what]:.4g}; "
                f"{line[what]:.4g} at epoch {epoch}",
            )
    if geco:
        st.markdown(moment(line, config.objective))
    shown = [(f"{line['mse']:.4f}", f"error after epoch {int(line['epoch'])}")]
    if target:
        shown.append((f"{target:.4f}", "κ², what it aims at"))
    if config.data.collection == Digits.name and config.data.classes == (3,):
        mean_image = comparison.references(Question(TRAINING))[MEAN_IMAGE]
        shown.append((f"{mean_image.mse:.4f}", "the mean image at 157.5°"))
    value = line["multiplier"]  # three figures, without an exponent
    weight = f"{float(f'{value:.3g}'):,.0f}" if value >= 1000 else f"{value:.3g}"
    shown += [(f"{line['kl']:.0f}", "KL, nats a digit"), (weight, "λ")]
    frame.numbers(shown)


def history(
    lines: list[Line],
    what: str,
    unit: str,
    epoch: int,
    target: float | None,
    beside: dict[str, list[Line]],
) -> go.Figure:
    """One quantity over the epochs, with a dot at the chosen one; runs `beside` it are dotted."""
    epochs, values = [line["epoch"] for line in lines], [line[what] for line in lines]
    grey = partial(charts.line, colour=charts.GREY, hover=HOVER, width=1.5)
    traces = [grey(epochs[:: len(epochs) - 1], [target] * 2, "κ²", dash="dash")] if target else []
    for name, others in beside.items():
        few = [each for each in others if each["epoch"] <= epochs[-1]]
        x, y = [each["epoch"] for each in few], [each[what] for each in few]
        traces.append(grey(x, y, name, dash="dot"))
    traces.append(charts.line(epochs, values, "this run", palette.GLOBAL, HOVER))
    traces.append(charts.dot(epochs[epoch - 1], values[epoch - 1], "", palette.GLOBAL, HOVER))
    yaxis = None if what == "kl" else charts.log_axis([*values, target or values[0]])
    return charts.figure("epoch", unit, traces, yaxis=yaxis, legend=len(traces) > 2)


def moment(line: Line, objective: Any) -> str:
    """One sentence on what GECO does at this epoch."""
    excess = line["mse"] - objective.kappa_squared
    where = f"At this epoch the error is {abs(excess):.4f} {'above' if excess > 0 else 'below'} κ²"
    if excess <= 0:
        return f"{where}: λ falls, and the model can move closer to the prior."
    if line["multiplier"] < 0.999 * objective.multiplier_max:
        return f"{where}: λ grows, and errors cost more with every step."
    return (
        f"{where} and λ is at its upper bound. Without the bound it would grow forever here, and "
        "the variances of the encoder would vanish."
    )
