"""One run: its numbers, its pictures, its curves, and what can be done with it."""

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from fgpvae import UserError, archives, background, files, runs
from fgpvae.checkpoints import WEIGHTS
from fgpvae.configs import CUBES, OBJECTS, RunConfig, network_weights
from fgpvae.models import MODELS
from fgpvae.runs import Run
from ui import charts
from ui.catalog import models
from ui.shell import frame, numbers, query_params
from ui.train import curves, estimates
from ui.train.checkpoint_pictures import strip
from ui.train.dialogs import ask
from ui.train.run_state import STOPPING, progress, redraw, say, state

LARGEST_LOG = 2**20  # bytes
RESUMABLE = (runs.STOPPED, runs.FAILED, runs.INTERRUPTED)
LOST_NOTHING = "The training was interrupted. Nothing is lost: Resume goes on from where it was."
CLONE, AGAIN = "Put them into the form above.", "Bring the data again, under your own data."
STOP_FIRST, GO_ON = "Stop it first.", "It goes on from where it was."
FIRST_WIDTH = 130  # pixels, for Stop, Resume and More epochs alike
UPLOADED = (
    "It was uploaded without what is needed to train further. Clone its settings to train it again."
)


def detail(run: Run, others: list[Run]) -> None:
    config, lines = run.config, run.metrics()
    with frame.card(frame.plain(run.name), frame.plain(described(config)), key="train.detail"):
        st.html(numbers.numbers(summary(run, lines)))
        share = f"{100 * progress(run):.1f}"
        st.html(
            f'<div class="bar" role="progressbar" aria-label="Progress of the run" '
            f'aria-valuemin="0" aria-valuemax="100" aria-valuenow="{share}">'
            f'<div style="width:{share}%"></div></div>{STYLE}'
        )
        actions(run)
        with st.container():  # below the buttons, which stay where they are
            if run.state == runs.FAILED:
                st.error(frame.plain(run.message or "The run failed; its log says why."))
            elif run.state == runs.INTERRUPTED:
                st.warning(frame.plain(LOST_NOTHING + last_words(run)))
        strip(run)
        history(run, lines, others)


def history(run: Run, lines: list[dict[str, Any]], others: list[Run]) -> None:
    """The curves of the run and, if asked for, those of another over them."""
    records = [curves.Record(run.name, lines, run.config.training.epochs)]
    names = {other.name: other for other in others if other.name != run.name and other.epoch > 0}
    if names:
        linked = st.query_params.get(curves.OTHER_KEY)
        held = linked if linked in names else None
        # Only where it differs: what is set goes to the browser, over a choice that is on its way.
        if st.session_state.get(curves.OTHER_KEY) != held:
            st.session_state[curves.OTHER_KEY] = held
        name = st.selectbox(
            "Compare with the curves of",
            list(names),
            index=None,
            key=curves.OTHER_KEY,
            placeholder="no other run",
            on_change=choose_other,
        )
        if name is not None:
            other = names[name]
            records.append(curves.Record(other.name, other.metrics(), other.config.training.epochs))
    charts.show(
        partial(curves.chart, records),
        "train.curves",
        curves.height(),
        curves.alt(records),
        live=" / ".join(record.name for record in records),
    )
    if lines and not curves.points(lines, "validation_mse", logarithmic=True):
        st.caption(curves.no_validation(run.config.data))


def choose_other() -> None:
    """Keep the choice in the address, also while a run is shown that cannot have it."""
    query_params.write(**{curves.OTHER_KEY: st.session_state[curves.OTHER_KEY]})


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
    if config.data.split == CUBES:
        digits = "figures of cubes"
    return (
        f"{MODELS[model.name].title} · {config.preset} · {channels} · "
        f"{network_weights(model):,} weights · {digits} · seed {config.seed}"
    )


def summary(run: Run, lines: list[dict[str, Any]]) -> list[tuple[str, str]]:
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
    """What can be done with a run.

    Buttons neither move nor are replaced when the run changes its state, or a click at that moment
    would come to nothing: the first has one width, and all have a help, without which Streamlit
    draws a button in another way.
    """
    busy = run.active or run.state == runs.QUEUED
    with st.container(horizontal=True, vertical_alignment="center", key="train.actions"):
        go_on_or_stop(run, busy)
        own = run.config.data.split == OBJECTS
        clone = AGAIN if own else CLONE
        button("Clone settings", "train.action.clone", copy_settings, run, disabled=own, help=clone)
        rename, delete = (STOP_FIRST, STOP_FIRST) if busy else ("Asks for a name.", "Asks first.")
        button("Rename", "train.action.rename", ask, "rename", run, disabled=busy, help=rename)
        st.download_button(
            "Download",
            lambda: archives.pack(run),
            f"{run.name}.zip",
            "application/zip",
            key="train.action.download",
            on_click="ignore",
            disabled=not (run.path / WEIGHTS).exists(),
            help="Settings, weights and curves in one file, which can be uploaded again above.",
        )
        button("Delete", "train.action.delete", ask, "delete", run, disabled=busy, help=delete)
    if run.epoch > 0:
        with st.container(horizontal=True, vertical_alignment="center", key="train.links"):
            st.caption("See it in", width="content")
            links = uses(run)
            for page in frame.pages():
                if page.title in links:
                    st.page_link(page, label=page.title, query_params=links[page.title])


def go_on_or_stop(run: Run, busy: bool) -> None:
    """The first of the buttons."""
    uploaded = (run.path / WEIGHTS).exists() and not (run.path / runs.STATE).exists()
    options: dict[str, Any] = {"disabled": uploaded, "width": FIRST_WIDTH}
    if busy:
        options |= {"disabled": state(run) == STOPPING, "help": "It can go on later."}
        button("Stop", "train.action.stop", act, background.stop, run, **options)
    elif run.state in RESUMABLE:
        options |= {"type": "primary", "help": UPLOADED if uploaded else GO_ON}
        button("Resume", "train.action.resume", act, background.resume, run, **options)
    else:
        options |= {"help": UPLOADED if uploaded else GO_ON}
        button("More epochs", "train.action.more", ask, "more", run, **options)


def uses(run: Run) -> dict[str, dict[str, Any]]:
    """Pages that can show a run, and what is in the link to each."""
    name, split = models.OWN + run.name, run.config.data.split
    found: dict[str, dict[str, Any]] = {"Rotate": {"model": name}, "Latents": {"model": name}}
    if split == CUBES:
        found["Extrapolate"] = {"model": name}
        found["Compare"] = {"compare.figures": [name, *models.baselines(figures=True)]}
    elif split != OBJECTS:
        found["Compare"] = {"models": [name, *models.baselines()]}
    return found


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
    st.session_state["train.clone"] = run.config
    redraw()


STYLE = """<style>
.bar { height: 6px; border-radius: 3px; background: light-dark(#e6e6e0, #262c39); }
.bar > div { height: 100%; border-radius: 3px; background: #2b7a9e; }
</style>"""
