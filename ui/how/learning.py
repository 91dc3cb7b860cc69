"""Screen 6: the curves of a run, epoch by epoch."""

from __future__ import annotations

import json
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import streamlit as st

from fgpvae import UserError, background, checkpoints, comparison, runs
from fgpvae.comparison import MEAN_IMAGE, TRAINING, Question
from fgpvae.configs import CUBES, OBJECTS, RunConfig
from ui import charts
from ui.catalog import models
from ui.how.cards import KEPT, card, formula
from ui.shell import frame, notices, numbers, palette
from ui.shell.kept import kept

if TYPE_CHECKING:
    import plotly.graph_objects as go


HEIGHT = 270  # pixels of a chart
TOLD = {  # what the recorded runs show
    "within-reach": "κ² = 0.04 is within reach of the paper's networks. λ rises to its bound until "
    "the error is below κ², then comes down from 10⁶ to 4,300; the KL falls with it, and the "
    "error comes back to κ² and stays there. Dotted: the paper's κ² = 0.02, which is out of "
    "reach. Recorded by `python -m fgpvae train --preset paper --set "
    "objective.kappa_squared=0.04 --set training.epochs=160`.",
    "paper": "κ² = 0.02, as the paper has it, is out of reach of its networks on this training "
    "set: λ stays at its bound to the end.",
}
UNITS = {"mse": "mean squared error", "kl": "nats a digit", "multiplier": "λ"}


def recorded() -> dict[str, Path]:
    """Runs that come with the package, by name."""
    folder = Path(str(files("fgpvae"))) / "assets" / "recorded"
    return {path.stem: path for path in sorted(folder.glob("*.jsonl"), reverse=True)}


def config_of(path: Path) -> RunConfig:
    """Of a recorded run: beside it, or that of the shipped model of its name."""
    beside = path.with_suffix(".json")
    if beside.exists():
        return checkpoints.parse_config(beside.read_bytes(), beside.name)
    return checkpoints.shipped_config(path.stem)


@kept(8)
def record(path: Path, version: float) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def curves(run: runs.Run) -> list[dict[str, Any]]:
    """The lines of one's own run."""
    lines = run.metrics()
    if len(lines) < 2:
        raise UserError(f"'{run.name}' has no curves: {runs.METRICS} is damaged or gone.")
    return lines


@kept(1)
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
    linked = st.query_params.get("how.learning.run")
    if linked and linked not in shipped and linked not in own:
        notices.problem(models.missing(linked))
    with st.container(horizontal=True, gap="medium"):
        name = st.selectbox("Run", [*shipped, *own], key="how.learning.run", width=220, **KEPT)
        if name in shipped:
            lines = record(shipped[name], shipped[name].stat().st_mtime)
        else:
            lines = notices.attempt(lambda: curves(own[name]))
        try:
            config = config_of(shipped[name]) if name in shipped else own[name].config
        except UserError:
            config = None
        objective = None if config is None else config.objective
        last = len(lines)
        if st.session_state.get("how.learning.epoch", 1) > last:
            st.session_state["how.learning.epoch"] = last
        epoch = st.slider(
            "Epoch", 1, last, min(40, last), key="how.learning.epoch", width=420, **KEPT
        )
    if name in TOLD:
        st.caption(TOLD[name])
    line = lines[epoch - 1]
    geco = objective is not None and objective.name == "geco"
    target = objective.kappa_squared if geco and objective is not None else None
    threes = (
        config is not None
        and config.data.split not in (CUBES, OBJECTS)
        and config.data.classes == (3,)
    )

    other = next((each for each in shipped if name in shipped and each != name), None)
    beside = (other, record(shipped[other], shipped[other].stat().st_mtime)) if other else None
    plots = (
        ("mse", "Error of a pixel", "How far the reconstructed pictures are from the true ones."),
        ("kl", "KL", "How much the model says about a digit beyond the prior, in nats."),
        ("multiplier", "λ", "What an error costs, in nats."),
    )
    with st.container(key="how.three"):
        columns = st.columns(3, gap="medium")
    for column, (what, title, sentence) in zip(columns, plots, strict=True):
        with column, card(title, sentence, key=f"how.learning.{what}"):
            charts.show(
                partial(history, lines, what, epoch, target, beside),
                f"how.learning.{what}",
                HEIGHT,
                f"{title} over the epochs, from {lines[0][what]:.4g} to {lines[-1][what]:.4g}; "
                f"{line[what]:.4g} at epoch {epoch}",
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
                (multiplier(line["multiplier"]), "λ"),
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
    with right, card("GECO", "Choose an error that is good enough; λ is adjusted to reach it."):
        formula(
            r"\begin{aligned}&\min_{\phi,\psi}\;\mathrm{KL}+\lambda\big(\text{error}-\kappa^2"
            r"\big)\\ &\lambda\leftarrow\lambda\,\exp\overline{\big(\text{error}-\kappa^2\big)}"
            r"\end{aligned}",
            "fgpvae.objectives.GECO",
        )
        st.caption("The bar denotes a moving average; λ is kept within bounds.")


def multiplier(value: float) -> str:
    """λ to three figures, without an exponent."""
    return f"{float(f'{value:.3g}'):,.0f}" if value >= 1000 else f"{value:.3g}"


def history(
    lines: list[dict[str, Any]],
    name: str,
    epoch: int,
    target: float | None,
    beside: tuple[str, list[dict[str, Any]]] | None = None,
) -> go.Figure:
    """One quantity over the epochs, with a dot at the chosen one and a line at the target.

    `beside` is another run with its name, dotted, as far as this one goes.
    """
    epochs, values = [each["epoch"] for each in lines], [each[name] for each in lines]
    every = list(values)
    made = charts.figure(HEIGHT, "epoch", UNITS[name])
    if name == "mse" and target:
        every.append(target)
        hover = "%{y:.4f}, what it aims at"
        ends = [epochs[0], epochs[-1]]
        made.add_trace(
            charts.line(ends, [target] * 2, "κ²", charts.GREY, hover, dash="dash", width=1.5)
        )
    hover = "epoch %{x}: %{y:.4g}"
    if beside is not None:
        others = [each for each in beside[1] if each["epoch"] <= epochs[-1]]
        x, y = [each["epoch"] for each in others], [each[name] for each in others]
        every += y
        made.add_trace(charts.line(x, y, beside[0], charts.GREY, hover, dash="dot", width=1.5))
    made.add_trace(charts.line(epochs, values, "this run", palette.GLOBAL, hover))
    here: dict[str, Any] = {"mode": "markers", "marker": {"size": 11}, "showlegend": False}
    at = epoch - 1
    made.add_trace(charts.line([epochs[at]], [values[at]], "", palette.GLOBAL, hover, **here))
    if name != "kl":
        made.update_yaxes(**charts.log_axis(every))
    return made.update_layout(showlegend=beside is not None or (name == "mse" and bool(target)))


def moment(line: dict[str, Any], objective: Any) -> str:
    """What GECO does at this epoch, in a sentence."""
    excess = line["mse"] - objective.kappa_squared
    if excess > 0 and line["multiplier"] >= 0.999 * objective.multiplier_max:
        return (
            f"At this epoch the error is {excess:.4f} above κ² and λ is at its upper bound, so "
            "it cannot push harder. Without the bound λ would grow forever here, and the "
            "variances of the encoder would vanish."
        )
    if excess > 0:
        return (
            f"At this epoch the error is {excess:.4f} above κ²: λ grows, and errors cost more "
            "with every step."
        )
    return (
        f"At this epoch the error is {-excess:.4f} below κ², which is good enough: λ falls, "
        "and the model can move closer to the prior."
    )
