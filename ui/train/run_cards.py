"""The list of runs, one of them in detail with what can be done, and dialogs that ask first."""

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from hashlib import sha256
from typing import Any

import streamlit as st

from fgpvae import UserError, files, runs
from fgpvae.browser.imagined import imagine, remembered
from fgpvae.runs import Run, archives, queue
from fgpvae.runs.checkpoints import WEIGHTS
from fgpvae.training.configs import network_weights
from fgpvae.training.presets import PRESETS
from ui import charts
from ui.catalog import Choice, models, subjects
from ui.inference import strip
from ui.shell import frame, notices, palette, query_params
from ui.train import curves, run_state
from ui.train.new_run import begin, clone
from ui.train.run_state import act, ask, duration, progress, redrawn, select

SHOWN = 8  # runs in the list at first
LARGEST_LOG = 2**20  # bytes
RESUMABLE = (runs.STOPPED, runs.FAILED, runs.INTERRUPTED)
LEARNS = "A run shows its curves and its pictures here, second by second as it learns."
LOST_NOTHING = "The training was interrupted. Nothing is lost: Resume continues it."
CLONE = "Puts them into the form above."
CLONE_OWN = "Upload the own data again above: the preset follows from them."
FIRST_WIDTH = 130  # pixels; the same for Stop, Resume and More epochs
NOT_SET_ASIDE = "No digits were set aside: choose validation digits to see the error on new ones."
NO_VALIDATION = "With this training set there is no validation while it trains; Compare tests it."
UPLOADED = (
    "It was uploaded without what is needed to train further. Clone its settings to train it again."
)


def watch(expected: bool) -> None:
    """Show the runs and one of them; `expected`: whether the page expects a running one."""
    redrawn()
    state, linked = st.session_state, st.query_params.get("run")
    if linked is None:
        query_params.write(run=state.get("train.run"))
    else:
        state["train.run"] = linked
    found, broken = runs.list_runs(queue.root())
    if run_state.live(found) != expected:
        st.rerun()  # start or stop the refresh every second
    wanted = state.get("train.run") or next((run.name for run in found), None)
    if wanted is None:
        with frame.empty("No run yet", LEARNS):
            quick = (begin, PRESETS["quick"])
            st.button("Start a quick run", key="train.quick", on_click=act, args=quick)
        return
    run = next((run for run in found if run.name == wanted), None)
    left, right = st.columns([2, 5])
    with left, frame.card("Runs", key="train.runs"):
        entries(found, run)
        for name, reason in broken.items():
            st.caption(frame.plain(f"{name}: {reason}"))
    with right:
        if run is not None:
            detail(run, found)
            return
        sentence = frame.plain(models.missing(models.OWN + wanted))
        with frame.empty("Not here any more", sentence, "train.gone"):
            st.button("Show the newest run", key="train.newest", on_click=select, args=(None,))


def entries(found: list[Run], chosen: Run | None) -> None:
    """Show a button for each run, filled in proportion to its progress."""
    every = len(found) <= SHOWN or st.session_state.get("train.all", False)
    tint, style = charts.faded(palette.GLOBAL, 0.14), []
    for run in found if every else found[:SHOWN]:
        digest = sha256(run.name.encode()).hexdigest()[:12]
        share = f"{100 * progress(run):.1f}%"
        ring = f"border-color:{palette.GLOBAL};" if run == chosen else ""
        style.append(
            f".st-key-train-entry-{digest} button {{ {ring}background: "
            f"linear-gradient(90deg, {tint} {share}, transparent {share}); }}"
        )
        label = f"**{frame.plain(run.name)}**  \n{run_state.said(run)}"
        key = f"train.entry.{digest}"
        st.button(label, key=key, width="stretch", on_click=select, args=(run.name,))
    st.html(f"<style>{''.join(style)}</style>")
    if not every:
        label, show_all = f"All {len(found)} runs", {"train.all": True}
        update = st.session_state.update
        st.button(label, key="train.more", type="tertiary", on_click=update, args=(show_all,))


def detail(run: Run, others: list[Run]) -> None:
    config, model, lines, state = run.config, run.config.model, run.metrics(), run_state.state(run)
    channels = f"L = {model.latents}"
    if "local" in model.blocks:
        channels += f", J = {model.blocks['local'].stop}"
    described = (
        f"{config.kind.title} · {config.preset} · {channels} · {network_weights(model):,} weights "
        f"· {config.data.title} · seed {config.seed}"
    )
    numbers = [
        (state, "state"),
        (f"{int(run.epoch)} / {config.training.epochs}", "epochs"),
        ("–" if run.seconds_left is None else duration(run.seconds_left), "left"),
        (duration(lines[-1]["seconds"]) if lines else "–", "trained"),
        (f"{lines[-1]['mse']:.4f}" if lines else "–", "training error"),
    ]
    findings = run.findings or {}
    if (error := findings.get("test_mse")) is not None:  # of own objects
        errors = {"held-out views": error, **findings["references"]["test_mse"]}
        numbers += [(f"{error:.4f}", name.replace("_", " ")) for name, error in errors.items()]
    with frame.card(frame.plain(run.name), frame.plain(described), key="train.detail"):
        frame.numbers(numbers)
        st.progress(progress(run))
        actions(run, state)
        with st.container():  # below the buttons, so that these do not move
            if run.state == runs.FAILED:
                st.error(frame.plain(run.message or "The run failed; its log says why."))
            elif run.state == runs.INTERRUPTED:
                lost = LOST_NOTHING
                with suppress(UserError):
                    log = files.read(run.path / runs.LOG, LARGEST_LOG).decode(errors="replace")
                    for last in log.strip().splitlines()[-1:]:
                        lost += f" The last line of its log: {last[:300]}"
                st.warning(frame.plain(lost))
            if isinstance(verdict := findings.get("verdict"), str):
                st.warning(frame.plain(verdict))
        pictures(run)
        history(run, lines, others)


def pictures(run: Run) -> None:
    """Show views of a subject, true and as predicted by the newest weights."""
    html, caption = "", "The first pictures appear as soon as the run is ready."
    try:
        if choice := models.of_run(run):
            html, caption = _redrawn(choice)
    except UserError as error:
        caption = frame.plain(f"No pictures: {error}")
    st.caption(caption)
    if html:
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
            **query_params.KEEP,
        )
        if name is not None:
            shown.append(names[name])
    records = [curves.record(each) for each in shown]
    charts.show(
        partial(curves.chart, records),
        "train.curves",
        curves.HEIGHT,
        curves.alt(records),
        live=" / ".join(record.name for record in records),
    )
    if lines and not any("validation_mse" in line for line in lines):
        st.caption(NOT_SET_ASIDE if run.config.data.can_validate else NO_VALIDATION)


def actions(run: Run, state: str) -> None:
    """Show what can be done with a run.

    Buttons neither move nor are replaced when the run changes its state; otherwise a click at that
    moment would be lost. So the first has a fixed width, and all have a help, without which
    Streamlit uses another element.
    """
    busy, trained = run.active or run.state == runs.QUEUED, (run.path / WEIGHTS).exists()

    def button(label: str, help: str, action: Callable[..., None], *args: Any, **more: Any) -> None:
        key = f"train.action.{label.split()[0].lower()}"
        st.button(label, key=key, help=help, on_click=action, args=args, **more)

    with st.container(horizontal=True, vertical_alignment="center", key="train.actions"):
        uploaded = not busy and trained and not (run.path / runs.STATE).exists()
        first = {"disabled": uploaded or state == run_state.STOPPING, "width": FIRST_WIDTH}
        help = UPLOADED if uploaded else "It continues from the last checkpoint."
        if busy:
            button("Stop", "It can be resumed later.", act, queue.stop, run, **first)
        elif run.state in RESUMABLE:
            button("Resume", help, act, queue.resume, run, type="primary", **first)
        else:
            button("More epochs", help, ask, "more", run.name, **first)
        help = CLONE_OWN if run.config.data.own else CLONE
        button("Clone settings", help, act, clone, run.config, disabled=run.config.data.own)
        help = "Not while it trains." if busy else "Give it another name."
        button("Rename", help, ask, "rename", run.name, disabled=busy)
        frame.download(
            "Download",
            lambda: archives.pack(run),
            f"{run.name}.zip",
            "train.action.download",
            disabled=not trained,
            help="Settings, weights and curves in one file, which can be uploaded again above.",
        )
        help = "Not while it trains." if busy else "Remove it; you are asked first."
        button("Delete", help, ask, "delete", run.name, disabled=busy)
    choice = models.of_run(run)
    if choice is not None and run.epoch > 0:
        with st.container(horizontal=True, vertical_alignment="center", key="train.links"):
            st.caption("See it in", width="content")
            for page, link in uses(choice).items():
                st.page_link(frame.page(page), label=page.capitalize(), query_params=link)


def uses(choice: Choice) -> dict[str, dict[str, Any]]:
    """Return the pages that can show a model, and what is in the link to each."""
    link = {"model": choice.name}
    found: dict[str, dict[str, Any]] = {"rotate": link}
    if not choice.config.data.own:
        found["extrapolate"] = link
    beside = {f"compare.{choice.group.lower()}": models.beside(choice)}
    return found | {"compare": link | beside, "latents": link}


def questions() -> None:
    """Show the open dialog until it is answered or dismissed. Call this before any fragment."""
    st.session_state.pop("train.redraw", None)  # the whole page runs
    if not (asked := st.session_state.get("train.ask")):
        return
    what, name = asked
    try:
        run = queue.find(queue.root(), name)
    except UserError as error:
        st.session_state["train.ask"], st.session_state["train.said"] = None, str(error)
        return
    title, label, question = QUESTIONS[what]

    @st.dialog(title, on_dismiss=ask)
    def dialog() -> None:
        redrawn()
        with st.form("train.question", border=False):
            confirm = notices.attempt(lambda: question(run))
            with st.container(horizontal=True):
                if confirm is not None:
                    sure = f"train.sure.{what}"
                    st.form_submit_button(
                        label, type="primary", key=sure, on_click=act, args=(confirm,)
                    )
                st.form_submit_button("Cancel", key="train.sure.keep", on_click=ask)
        run_state.say()

    dialog()


def _delete(run: Run) -> Callable[[], None]:
    st.write(
        f"**{frame.plain(run.name)}** with its weights, curves and settings is removed for good. "
        "Download it first if you may want it back."
    )

    def confirm() -> None:
        queue.delete(run)
        select(None)

    return confirm


def _rename(run: Run) -> Callable[[], None]:
    key = f"train.new_name.{run.name}"
    st.text_input("New name", run.name, max_chars=60, key=key)

    def confirm() -> None:
        name = queue.tidy_name(st.session_state[key])
        if name != run.name:
            queue.rename(run, name)
        select(name)

    return confirm


def _more(run: Run) -> Callable[[], object] | None:
    st.write(
        "Training continues from the last weights. A cosine schedule is stretched to the new end."
    )
    done, most = run.config.training.epochs, queue.most_epochs()
    if done >= most:
        st.write(f"It has {done} epochs, and a run started here has at most {most}.")
        return None
    key = f"train.new_epochs.{run.name}"
    st.number_input("Epochs in all", value=min(2 * done, most), key=key)  # a bound blocks Cancel
    return lambda: queue.resume(run, int(st.session_state[key]))


QUESTIONS: dict[str, tuple[str, str, Callable[[Run], Callable[[], object] | None]]] = {
    "delete": ("Delete this run?", "Delete", _delete),
    "rename": ("Rename this run", "Rename", _rename),
    "more": ("More epochs", "Go on", _more),
}
