"""One run: its numbers, its pictures, its curves, and what can be done with it."""

from collections.abc import Callable
from typing import Any

import streamlit as st

from fgpvae import UserError, background, files, runs
from fgpvae.checkpoints import WEIGHTS
from fgpvae.configs import OBJECTS, RunConfig, network_weights
from fgpvae.models import MODELS
from fgpvae.runs import Run
from ui.catalog import models
from ui.shell import frame, numbers
from ui.train import curves, estimates
from ui.train.checkpoint_pictures import strip
from ui.train.dialogs import ask
from ui.train.run_state import STOPPING, progress, redraw, say, state

LARGEST_LOG = 2**20  # bytes
RESUMABLE = (runs.STOPPED, runs.FAILED, runs.INTERRUPTED)
LOST_NOTHING = (
    "Its process ended before the run did. Nothing is lost: it goes on from where it was."
)
CLONE = "Put them into the form above."
USES = {"Rotate": "model", "Compare": "models", "Latents": "model"}  # pages and what they ask for


def detail(run: Run) -> None:
    config, lines = run.config, run.metrics()
    with frame.card(frame.plain(run.name), frame.plain(described(config)), key="detail"):
        st.html(numbers.numbers(summary(run, lines)))
        width = f"{100 * progress(run):.1f}%"
        st.html(f'<div class="bar" role="progressbar"><div style="width:{width}"></div></div>')
        if run.state == runs.FAILED:
            st.error(frame.plain(run.message or "The run failed; its log says why."))
        elif run.state == runs.INTERRUPTED:
            st.warning(frame.plain(LOST_NOTHING + last_words(run)))
        actions(run)
        strip(run)
        # st.html would take the drawings out
        st.markdown(curves.html(lines, config.training.epochs), unsafe_allow_html=True)


def last_words(run: Run) -> str:
    """What a process that died had to say, if anything."""
    try:
        lines = files.read(run.path / runs.LOG, LARGEST_LOG).decode(errors="replace").split("\n")
    except UserError:
        return ""
    said = next((line for line in reversed(lines) if line.strip()), "")
    return f" Its last words: {said[:300]}" if said else ""


def described(config: RunConfig) -> str:
    model = config.model
    channels = f"L = {model.latents}"
    if "local" in model.blocks:
        channels += f", J = {model.blocks['local'].stop}"
    every = len(config.data.classes) == 10
    digits = "all digits" if every else f"digit {', '.join(map(str, config.data.classes))}"
    if config.data.split == OBJECTS:
        digits = f"objects of {config.data.source[:60]}"
    return (
        f"{MODELS[model.name].title} · {config.preset} · {channels} · "
        f"{network_weights(model):,} weights · {digits} · seed {config.seed}"
    )


def summary(run: Run, lines: list[dict]) -> list[tuple[str, str]]:
    epochs = run.config.training.epochs
    left = "–" if run.seconds_left is None else estimates.in_words(run.seconds_left)
    spent = estimates.in_words(lines[-1]["seconds"]) if lines else "–"
    error = f"{lines[-1]['mse']:.4f}" if lines else "–"
    return [
        (state(run), "state"),
        (f"{int(run.epoch)} / {epochs}", "epochs"),
        (left, "left"),
        (spent, "trained"),
        (error, "training error"),
    ]


def actions(run: Run) -> None:
    busy = run.active or run.state == runs.QUEUED
    with st.container(horizontal=True, vertical_alignment="center", key="actions"):
        if busy:
            stopping = state(run) == STOPPING
            button("Stop", "do-stop", act, background.stop, run, disabled=stopping)
        elif run.state in RESUMABLE:
            button("Resume", "do-resume", act, background.resume, run, type="primary")
        else:
            button("More epochs", "do-more", ask, "more", run)
        own = run.config.data.split == OBJECTS
        clone = "Own objects are trained from the command line." if own else CLONE
        button("Clone settings", "do-clone", copy_settings, run, disabled=own, help=clone)
        why = "Stop it first." if busy else None
        button("Rename", "do-rename", ask, "rename", run, disabled=busy, help=why)
        if (run.path / WEIGHTS).exists():
            st.download_button(
                "Download",
                lambda: background.zip_run(run),
                f"{run.name}.zip",
                "application/zip",
                key="do-download",
                on_click="ignore",
                help="Settings, weights and curves; load_pretrained takes the file.",
            )
        button("Delete", "do-delete", ask, "delete", run, disabled=busy, help=why)
    if run.epoch > 0:
        with st.container(horizontal=True, vertical_alignment="center", key="links"):
            st.caption("See it in", width="content")
            for page in frame.pages():
                if page.title in USES and not (own and page.title == "Compare"):
                    name = {USES[page.title]: models.OWN + run.name}
                    st.page_link(page, label=page.title, query_params=name)


def button(
    label: str, key: str, action: Callable[..., None], *given: object, **options: Any
) -> None:
    """A button whose action is a callback."""
    st.button(label, key=key, on_click=action, args=given, **options)


def act(action: Callable[[Run], object], run: Run) -> None:
    try:
        action(run)
    except UserError as error:
        say(str(error))
    redraw()


def copy_settings(run: Run) -> None:
    st.session_state["train-clone"] = run.config
    redraw()
