"""One run: its numbers, pictures, curves and actions."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import streamlit as st

from fgpvae import UserError, files, runs
from fgpvae.browser.imagined import imagine, remembered
from fgpvae.runs import Run, archives, queue
from fgpvae.runs.checkpoints import WEIGHTS
from fgpvae.training.configs import RunConfig, network_weights
from ui import charts
from ui.catalog import Choice, models, subjects
from ui.inference import strip
from ui.shell import frame
from ui.shell.query_params import KEEP
from ui.train import curves
from ui.train.dialogs import ask
from ui.train.run_state import STOPPING, duration, progress, redraw, say, state

LARGEST_LOG = 2**20  # bytes
RESUMABLE = (runs.STOPPED, runs.FAILED, runs.INTERRUPTED)
LOST_NOTHING = "The training was interrupted. Nothing is lost: Resume continues it."
CLONE, AGAIN = "Put them into the form above.", "Upload the data again, under Your own data."
STOP_FIRST, GO_ON = "Stop it first.", "It continues from the last checkpoint."
FIRST_WIDTH = 130  # pixels; the same for Stop, Resume and More epochs
UPLOADED = (
    "It was uploaded without what is needed to train further. Clone its settings to train it again."
)


def detail(run: Run, others: list[Run]) -> None:
    config, lines = run.config, run.metrics()
    with frame.card(frame.plain(run.name), frame.plain(described(config)), key="train.detail"):
        frame.numbers(summary(run, lines))
        st.progress(progress(run))
        actions(run)
        with st.container():  # below the buttons, so that these do not move
            if run.state == runs.FAILED:
                st.error(frame.plain(run.message or "The run failed; its log says why."))
            elif run.state == runs.INTERRUPTED:
                st.warning(frame.plain(LOST_NOTHING + last_line(run)))
            if isinstance(verdict := (run.findings or {}).get("verdict"), str):
                st.warning(frame.plain(verdict))
        pictures(run)
        history(run, lines, others)


def described(config: RunConfig) -> str:
    model = config.model
    channels = f"L = {model.latents}"
    if "local" in model.blocks:
        channels += f", J = {model.blocks['local'].stop}"
    return (
        f"{config.kind.title} · {config.preset} · {channels} · {network_weights(model):,} weights "
        f"· {config.data.title} · seed {config.seed}"
    )


def summary(run: Run, lines: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [
        (state(run), "state"),
        (f"{int(run.epoch)} / {run.config.training.epochs}", "epochs"),
        ("–" if run.seconds_left is None else duration(run.seconds_left), "left"),
        (duration(lines[-1]["seconds"]) if lines else "–", "trained"),
        (f"{lines[-1]['mse']:.4f}" if lines else "–", "training error"),
        *held_out(run.findings),
    ]


def held_out(findings: Mapping[str, Any] | None) -> list[tuple[str, str]]:
    """Errors of held-out views of own objects, the model's and those of no model."""
    if findings is None or findings["test_mse"] is None:
        return []
    errors = {"held-out views": findings["test_mse"], **findings["references"]["test_mse"]}
    return [(f"{error:.4f}", name.replace("_", " ")) for name, error in errors.items()]


def last_line(run: Run) -> str:
    """Return the last line in the log of a process that has died."""
    try:
        lines = files.read(run.path / runs.LOG, LARGEST_LOG).decode(errors="replace").split("\n")
    except UserError:
        return ""
    said = next((line for line in reversed(lines) if line.strip()), "")
    return f" The last line of its log: {said[:300]}" if said else ""


def pictures(run: Run) -> None:
    """Show views of a subject, true and as predicted by the newest weights."""
    choice = models.of_run(run)
    if choice is None:
        st.caption("The first pictures appear as soon as the run is ready.")
        return
    try:
        html, caption = _redrawn(choice)
    except UserError as error:
        st.caption(frame.plain(f"No pictures: {error}"))
        return
    st.caption(caption)
    st.html(html)


@st.cache_data(max_entries=32, show_spinner=False)
def _redrawn(choice: Choice) -> tuple[str, str]:
    model, collection, subject = choice.load(), choice.collection, subjects.first(choice)
    seen = imagine(model, subject, remembered(model, subject) or subject.first_views)
    kind, words = "training" if subject.new is False else "new", collection.words
    return strip.redrawn(seen, collection, next(iter(subject.held_out), None)), (
        f"A {kind} {words.one}, given the {words.views} with a bar; drawn by the newest weights."
    )


def history(run: Run, lines: list[dict[str, Any]], others: list[Run]) -> None:
    """Show the curves of the run and, on request, those of another run."""
    shown = [run]
    names = {other.name: other for other in others if other.name != run.name and other.epoch > 0}
    if names:
        name = st.selectbox(
            "Compare with the curves of",
            names,
            index=None,
            key="train.other",
            placeholder="no other run",
            **KEEP,
        )
        if name is not None:
            shown.append(names[name])
    records = [curves.Record(r.name, r.metrics(), r.config.training.epochs) for r in shown]
    charts.show(
        partial(curves.chart, records),
        "train.curves",
        curves.HEIGHT,
        curves.alt(records),
        live=" / ".join(record.name for record in records),
    )
    if lines and not any("validation_mse" in line for line in lines):
        st.caption(curves.no_validation(run.config.data))


def actions(run: Run) -> None:
    """Show what can be done with a run.

    Buttons neither move nor are replaced when the run changes its state; otherwise a click at that
    moment would be lost. So the first has a fixed width, and all have a help, without which
    Streamlit uses another element.
    """
    busy, own = run.active or run.state == runs.QUEUED, run.config.data.own
    with st.container(horizontal=True, vertical_alignment="center", key="train.actions"):
        go_on_or_stop(run, busy)
        button("Clone settings", copy_settings, run, disabled=own, help=AGAIN if own else CLONE)
        asks = STOP_FIRST if busy else "Asks for a name."
        button("Rename", ask, "rename", run, disabled=busy, help=asks)
        frame.download(
            "Download",
            lambda: archives.pack(run),
            f"{run.name}.zip",
            "train.action.download",
            disabled=not (run.path / WEIGHTS).exists(),
            help="Settings, weights and curves in one file, which can be uploaded again above.",
        )
        asks = STOP_FIRST if busy else "Asks first."
        button("Delete", ask, "delete", run, disabled=busy, help=asks)
    choice = models.of_run(run)
    if choice is not None and run.epoch > 0:
        with st.container(horizontal=True, vertical_alignment="center", key="train.links"):
            st.caption("See it in", width="content")
            for page, link in uses(choice).items():
                st.page_link(frame.page(page), label=page.capitalize(), query_params=link)


def go_on_or_stop(run: Run, busy: bool) -> None:
    if busy:
        stopping = state(run) == STOPPING
        help = "It can be resumed later."
        button("Stop", act, queue.stop, run, help=help, disabled=stopping, width=FIRST_WIDTH)
        return
    uploaded = (run.path / WEIGHTS).exists() and not (run.path / runs.STATE).exists()
    options: dict[str, Any] = {"disabled": uploaded, "width": FIRST_WIDTH}
    options["help"] = UPLOADED if uploaded else GO_ON
    if run.state in RESUMABLE:
        button("Resume", act, queue.resume, run, type="primary", **options)
    else:
        button("More epochs", ask, "more", run, **options)


def uses(choice: Choice) -> dict[str, dict[str, Any]]:
    """Return the pages that can show a model, and what is in the link to each."""
    link = {"model": choice.name}
    found: dict[str, dict[str, Any]] = {"rotate": link}
    if not choice.config.data.own:
        found["extrapolate"] = link
    beside = {f"compare.{choice.group.lower()}": models.beside(choice)}
    return found | {"compare": link | beside, "latents": link}


def button(label: str, action: Callable[..., None], *args: object, **options: Any) -> None:
    name = label.split()[0].lower()
    st.button(label, key=f"train.action.{name}", on_click=action, args=args, **options)


def act(action: Callable[[Run], object], run: Run) -> None:
    try:
        action(run)
    except UserError as error:
        say(error)
    redraw()


def copy_settings(run: Run) -> None:
    st.session_state["train.clone"] = run.config
    redraw()
