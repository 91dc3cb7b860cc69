"""Train a model: choose the settings, start a run, watch it learn."""

from collections.abc import Callable
from hashlib import sha256

import numpy as np
import streamlit as st

from fgpvae import UserError, background, comparison, files, runs
from fgpvae.checkpoints import WEIGHTS
from fgpvae.configs import OBJECTS, RunConfig, network_weights
from fgpvae.data import ANGLES, HELD_OUT
from fgpvae.models import MODELS
from fgpvae.presets import PRESETS
from fgpvae.runs import Run
from ui import colours, curves, estimates, export, figures, frame, models, moving, objects, settings
from ui.models import Choice

LARGEST_LOG = 2**20  # bytes
TICK = 1.0  # seconds between two looks at a run that trains
FIRST = "quick"
SHOWN = 8  # runs in the list before one asks for more
LABELS = [f"{degrees:g}°" for degrees in np.rad2deg(ANGLES)]
STATES = {
    runs.QUEUED: "waiting for its turn",
    runs.PREPARING: "getting ready",
    runs.RUNNING: "training",
    runs.STOPPED: "stopped",
    runs.FINISHED: "finished",
    runs.FAILED: "failed",
    runs.INTERRUPTED: "interrupted",
}
STOPPING = "stopping"
RESUMABLE = (runs.STOPPED, runs.FAILED, runs.INTERRUPTED)
LOST_NOTHING = (
    "Its process ended before the run did. Nothing is lost: it goes on from where it was."
)
CLONE = "Put them into the form above."
USES = {"Rotate": "model", "Compare": "models", "Latents": "model"}  # pages and what they ask for
STYLE = """
[class*="st-key-run-"] button { justify-content: flex-start; text-align: left; width: 100%;
  border-radius: 10px; padding: 0.45rem 0.8rem; min-height: 3.1rem; }
[class*="st-key-run-"] button > * { width: 100%; justify-content: flex-start; text-align: left; }
[class*="st-key-run-"] button p { line-height: 1.35; white-space: normal; }
.bar { height: 6px; border-radius: 3px; background: light-dark(#e6e6e0, #262c39); }
.bar > div { height: 100%; border-radius: 3px; background: #2b7a9e; }
/* a look every second is no reason to flicker */
[data-testid="stStatusWidget"] { visibility: hidden; }
[class*="st-key-card-"] [data-stale="true"] { opacity: 1 !important; transition: none !important; }
"""


# --- a new run ------------------------------------------------------------------------------------


def fill() -> None:
    """Before the form is drawn: fold it after a start, fill it with a run that is cloned."""
    state = st.session_state
    if state.pop("train-begun", False):
        state["train-open"], state["train-name"] = False, ""
    cloned = state.pop("train-clone", None)
    if cloned is not None:
        settings.put(cloned)
        known = cloned.preset if cloned.preset in PRESETS else FIRST
        state["preset"] = state["train-filled"] = known
        state["train-open"] = True


@st.fragment
def new_run() -> None:
    with frame.card("A new run", "Trains beside the app, also when you close the page.", "new"):
        names = sorted(settings.OFFERED, key=lambda name: name != FIRST)
        preset = st.segmented_control(
            "Preset",
            names,
            default=FIRST,
            required=True,
            key="preset",
            label_visibility="collapsed",
            bind="query-params",
            persist_state="session",
        )
        if st.session_state.get("train-filled") != preset:
            settings.put(PRESETS[preset])
            st.session_state["train-filled"] = preset
        st.caption(settings.preset_line(preset))
        place = st.container()
        drawer = st.expander("All settings", key="train-open", on_change="rerun")
        if drawer.open:
            with drawer:
                settings.form()
        with place:
            start(preset)


def start(preset: str) -> None:
    """Name, time and the button; what is wrong with the settings, if anything is."""
    left, middle, right = st.columns([3, 3, 1.4], vertical_alignment="bottom")
    root = background.root()
    name = left.text_input(
        "Name",
        placeholder=background.free_name(root, preset),
        max_chars=60,
        key="train-name",
        live=True,
    )
    config, wrong = None, ""
    try:
        config = settings.build(settings.values(), preset)
        if name:
            background.check_name(name)
    except UserError as error:
        wrong = str(error)
    with middle:
        if wrong:
            st.error(frame.plain(wrong))
        elif config is not None:
            estimate(config)
    if right.button("Start", type="primary", width="stretch", disabled=bool(wrong)) and config:
        begin(name or background.free_name(root, preset), config)


def estimate(config: RunConfig) -> None:
    """The time that a run takes, as soon as it is known."""
    pending = estimates.sentence(config) is None

    def show() -> None:
        said = estimates.sentence(config)
        if said is not None and pending:
            st.rerun()
        active = sum(run.active for run in runs.list_runs(background.root())[0])
        try:
            full = active >= background.slots()
        except UserError as error:
            st.error(frame.plain(error))
            return
        wait = " It waits until another run is done." if full else ""
        st.caption(f"{frame.plain(said)}.{wait}" if said else "Timing a few steps…")

    st.fragment(show, run_every=0.7 if pending else None)()


def begin(name: str, config: RunConfig) -> None:
    try:
        run = background.start(background.root(), name, config)
    except UserError as error:
        st.error(frame.plain(error))
        return
    select(run.name)
    st.session_state["train-begun"] = True
    st.rerun()


# --- the runs -------------------------------------------------------------------------------------


def select(name: str | None) -> None:
    st.session_state["train-run"] = name
    if name is None:
        st.query_params.pop("run", None)
    else:
        st.query_params["run"] = name


def selected(found: list[Run]) -> Run | None:
    """The run that was chosen, or else the newest."""
    wanted = st.session_state.get("train-run") or st.query_params.get("run")
    return next((run for run in found if run.name == wanted), found[0] if found else None)


def live(found: list[Run]) -> bool:
    return any(run.active or run.state == runs.QUEUED for run in found)


def watch(expected: bool) -> None:
    """The list of runs and one of them; again every second while something is being trained."""
    try:
        background.advance_queue(background.root())
    except UserError as error:
        st.error(frame.plain(error))
    found, broken = runs.list_runs(background.root())
    if live(found) != expected:
        st.rerun()  # begin to look every second, or stop
    run = selected(found)
    if run is None:
        nothing()
        return
    left, right = st.columns([2, 5])
    with left, frame.card("Runs", key="runs"):
        entries(found, run)
        for name, reason in broken.items():
            st.caption(frame.plain(f"{name}: {reason}"))
    with right:
        detail(run)


def nothing() -> None:
    with frame.empty(
        "No run yet",
        "Here a run shows its curves and the digits it can turn, second by second as it learns.",
    ):
        if st.button("Start a quick run", key="train-quick"):
            begin(background.free_name(background.root(), FIRST), PRESETS[FIRST])


def entries(found: list[Run], chosen: Run) -> None:
    """A button a run, filled as far as the run has come."""
    every = len(found) <= SHOWN or st.session_state.get("train-all", False)
    style = []
    for run in found if every else found[:SHOWN]:
        key = f"run-{sha256(run.name.encode()).hexdigest()[:12]}"
        share = f"{100 * progress(run):.1f}%"
        tint = figures.faded(colours.GLOBAL, 0.14)
        ring = f"border-color:{colours.GLOBAL};" if run.name == chosen.name else ""
        style.append(
            f".st-key-{key} button {{ {ring}background: linear-gradient(90deg, {tint} {share}, "
            f"transparent {share}); }}"
        )
        label = f"**{frame.plain(run.name)}**  \n{said(run)}"
        if st.button(label, key=key, width="stretch"):
            select(run.name)
            st.rerun()
    st.html(f"<style>{''.join(style)}</style>")
    if not every and st.button(f"All {len(found)} runs", key="train-more", type="tertiary"):
        st.session_state["train-all"] = True
        st.rerun()


def progress(run: Run) -> float:
    return min(run.epoch / run.config.training.epochs, 1.0)


def state(run: Run) -> str:
    asked = run.active and (run.path / runs.STOP).exists()
    return STOPPING if asked else STATES[run.state]


def said(run: Run) -> str:
    """State and progress in a few words."""
    words = [state(run)]
    if run.state != runs.QUEUED:
        words.append(f"epoch {int(run.epoch)} of {run.config.training.epochs}")
    if run.state == runs.RUNNING and run.seconds_left is not None:
        words.append(f"{estimates.in_words(run.seconds_left)} left")
    return " · ".join(words)


def detail(run: Run) -> None:
    config, lines = run.config, run.metrics()
    with frame.card(frame.plain(run.name), frame.plain(described(config)), key="detail"):
        st.html(figures.numbers(summary(run, lines)))
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
    if model.name == "fgpvae":
        channels += f", J = {model.local}"
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


@st.cache_data(max_entries=8, show_spinner=False)
def turned(choice: Choice) -> str:
    """What a checkpoint makes of two digits, all around."""
    rows = []
    for true, made in zip(*comparison.turned(choice.load(), choice.classes), strict=True):
        rows += [("truth", true), ("model", made)]
    bars = colours.angle_colours(ANGLES)
    return figures.grid(rows, LABELS, bars, marked=HELD_OUT, alt="generated digits")


@st.cache_data(max_entries=8, show_spinner=False)
def moved(choice: Choice) -> str:
    """What a checkpoint makes of an object that it was not trained on."""
    found, model = objects.opened(choice), choice.load()
    number = found.split.unseen[0]
    images, w = found.pixels(number), found.w(number)
    observed = np.isin(np.arange(len(w)), found.given(number))
    few = found.strip(number, len(ANGLES))
    made = moving.draw(model, export.scene(model, images, w, observed), w[few])
    labels = [found.text(view) for view in found.views(number)[few]]
    bars = [found.colour(float(w[i])) if observed[i] else "transparent" for i in few]
    rows = [("truth", images[few]), ("model", made)]
    return figures.grid(rows, labels, bars, alt="an object at its views, true and generated")


def strip(run: Run) -> None:
    """The pictures of the newest checkpoint."""
    choice = models.find(models.OWN + run.name)
    if choice is None:
        st.caption("The first pictures appear as soon as the run is ready.")
        return
    new = MODELS[run.config.model.name].takes_new_digits
    try:
        pictures = moved(choice) if choice.objects else turned(choice)
    except UserError as error:
        st.caption(frame.plain(f"No pictures: {error}"))
        return
    if choice.objects:
        st.caption("A new object from the views with a bar, by the newest checkpoint.")
    else:
        st.caption(
            f"Two {'new' if new else 'training'} digits from eleven views, by the newest "
            "checkpoint; 157.5° is never among the views."
        )
    st.html(pictures)


def actions(run: Run) -> None:
    busy = run.active or run.state == runs.QUEUED
    with st.container(horizontal=True, vertical_alignment="center", key="actions"):
        if busy:
            if st.button("Stop", key="do-stop", disabled=state(run) == STOPPING):
                act(lambda: background.stop(run))
        elif run.state in RESUMABLE:
            if st.button("Resume", key="do-resume", type="primary"):
                act(lambda: background.resume(run))
        elif st.button("More epochs", key="do-more"):
            ask("more", run)
        own = run.config.data.split == OBJECTS
        clone = "Own objects are trained from the command line." if own else CLONE
        if st.button("Clone settings", key="do-clone", disabled=own, help=clone):
            st.session_state["train-clone"] = run.config
            st.rerun()
        why = "Stop it first." if busy else None
        if st.button("Rename", key="do-rename", disabled=busy, help=why):
            ask("rename", run)
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
        if st.button("Delete", key="do-delete", disabled=busy, help=why):
            ask("delete", run)
    if run.epoch > 0:
        with st.container(horizontal=True, vertical_alignment="center", key="links"):
            st.caption("See it in", width="content")
            for page in frame.pages():
                if page.title in USES and not (own and page.title == "Compare"):
                    name = {USES[page.title]: models.OWN + run.name}
                    st.page_link(page, label=page.title, query_params=name)


def act(action: Callable[[], object]) -> None:
    try:
        action()
    except UserError as error:
        st.session_state["train-said"] = str(error)
    st.rerun()


# --- questions ------------------------------------------------------------------------------------


def ask(what: str, run: Run) -> None:
    """Open a dialog, from the page itself: a tick of the runs would close one of theirs."""
    st.session_state["train-ask"] = what, run.name
    st.rerun()


def forget() -> None:
    st.session_state.pop("train-ask", None)


def questions() -> None:
    """The dialog that is open, until it is answered or dismissed."""
    what, name = st.session_state.get("train-ask", (None, None))
    if what is None:
        return
    try:
        run = background.find(background.root(), name)
    except UserError as error:
        forget()
        st.error(frame.plain(error))
        return
    {"delete": delete, "rename": rename, "more": more}[what](run)


@st.dialog("Delete this run?", on_dismiss=forget)
def delete(run: Run) -> None:
    st.write(
        f"**{frame.plain(run.name)}** with its weights, curves and settings is removed for good. "
        "Download it first if you may want it back."
    )
    with st.container(horizontal=True):
        if st.button("Delete", type="primary", key="sure-delete"):
            attempt(lambda: background.delete(run), None)
        if st.button("Keep it", key="sure-keep"):
            forget()
            st.rerun()


@st.dialog("Rename this run", on_dismiss=forget)
def rename(run: Run) -> None:
    name = st.text_input("New name", run.name, max_chars=60, key=f"rename-{run.name}")
    if st.button("Rename", type="primary", key="sure-rename", disabled=name == run.name):
        attempt(lambda: background.rename(run, name), name)


@st.dialog("More epochs", on_dismiss=forget)
def more(run: Run) -> None:
    done = run.config.training.epochs
    st.write(
        "The run goes on from its last weights. A cosine schedule is stretched to the new end."
    )
    try:
        most = background.most_epochs()
    except UserError as error:
        st.error(frame.plain(error))
        return
    if done >= most:
        st.write(f"It has {done} epochs, and a run started here has at most {most}.")
        return
    epochs = st.number_input("Epochs in all", done + 1, most, min(2 * done, most))
    if st.button("Go on", type="primary", key="sure-more"):
        attempt(lambda: background.resume(run, int(epochs)), run.name)


def attempt(action: Callable[[], object], then: str | None) -> None:
    """Do what was confirmed; a dialog that failed stays open and says why."""
    try:
        action()
    except UserError as error:
        st.error(frame.plain(error))
        return
    forget()
    select(then)
    st.rerun()


frame.guard()
frame.heading("Train", "Choose the settings, start a run and watch it learn.")
st.html(f"<style>{STYLE}{curves.STYLE}</style>")
questions()
if message := st.session_state.pop("train-said", None):
    st.error(frame.plain(message))
fill()
new_run()
training = live(runs.list_runs(background.root())[0])
st.fragment(watch, run_every=TICK if training else None)(training)
