"""The card that starts a run: preset, settings, name, time."""

from dataclasses import replace
from typing import Any

import streamlit as st

from fgpvae import UserError, runs
from fgpvae.runs import queue
from fgpvae.runs.estimate import epoch_seconds
from fgpvae.training import presets
from fgpvae.training.configs import OBJECTS, RunConfig
from fgpvae.training.presets import FIRST, PRESETS
from ui.catalog import models
from ui.shell import frame
from ui.shell.query_params import segments
from ui.train import form, uploads
from ui.train.run_state import duration, redraw, redrawn, say, select

NAMES = {"quick": "Quick", "paper": "The paper's", OBJECTS: "Your own data"}
# descriptions of presets, beside those in `models.LINES`
LINES = {
    "quick": "A good first run: learns to turn a new three from one view.",
    "paper": "The paper's model: its networks, data and objective, for a thousand epochs.",
    OBJECTS: "Objects of your own, photographed or drawn from several views.",
    "wide": "The best on the paper's threes: larger networks, deformed digits, many epochs.",
    "best": "The model that the app opens with: all ten digits at all angles. It downloads MNIST "
    "from openml.org first.",
    "cubes-quick": "Cube figures, which no rotation of a picture can turn.",
    "cubes": "Cube figures, with 4,000 random ones: the first part of how the app's model was "
    "trained.",
    "films": "Films of digits that move, of all of MNIST, which is downloaded from openml.org "
    "first.",
    "films-quick": "Films of digits that move: the look stays, the path is a Gaussian process.",
    "cvae": "CVAE for threes: the angle is an input; with the pixel noise that suits it best.",
    "cvae-published": "The CVAE as the paper ran it.",
}


def fill() -> None:
    """Fold the form after a start, or fill it with a cloned run. Call this before it is drawn."""
    state = st.session_state
    state.pop("train.redraw", None)  # a link asked for this run
    if state.pop("train.begun", False):
        state["train.open"], state["train.name"] = False, ""
    cloned: RunConfig | None = state.pop("train.clone", None)
    if cloned is not None:
        groups = {name: group for group, names in presets.grouped().items() for name in names}
        known = cloned.preset if cloned.preset in (*FIRST, *groups) else FIRST[0]
        state["train.preset"] = groups.get(known, known)
        if known in groups:
            state[f"train.preset.{groups[known]}"] = known
        form.fill(replace(cloned, preset=known))
        state["train.filled"], state["train.open"] = (known, None), True


@st.fragment
def new_run() -> None:
    redrawn()
    with frame.card(
        "A new run", "Training continues in the background when you close the page.", "train.new"
    ):
        with st.container():  # keeps its place, so that nothing below moves
            preset = choose_preset()
        st.caption((models.LINES | LINES)[preset])
        with st.container():
            own = uploads.own_objects() if preset == OBJECTS else None
        if st.session_state.get("train.filled") != (preset, own):
            form.fill(own or PRESETS[preset])
            st.session_state["train.filled"] = preset, own
        place = st.container()
        drawer = st.expander("All settings", key="train.open", on_change="rerun")
        if drawer.open:
            with drawer:
                form.form()
                frame.not_in_link("settings that are changed here")
        if preset != OBJECTS or own is not None:
            with place:
                start(preset)
        with st.expander("Upload a run that was downloaded", key="train.bring"):
            uploads.archive()


def choose_preset() -> str:
    """Ask for a preset: three common ones, then groups."""
    groups = presets.grouped()
    titles = {name: NAMES.get(name, name.capitalize()) for name in (*FIRST, *groups)}
    hidden: dict[str, Any] = {"label_visibility": "collapsed"}
    chosen = segments("Preset", titles, "train.preset", **hidden)
    if chosen not in groups:
        return chosen
    return segments(chosen.capitalize(), groups[chosen], f"train.preset.{chosen}", **hidden)


def start(preset: str) -> None:
    """Show name, time and the button, or an error in the settings."""
    left, middle, right = st.columns([3, 3, 1.4], vertical_alignment="bottom")
    root = queue.root()
    typed = left.text_input(
        "Name",
        placeholder=queue.free_name(root, preset),
        max_chars=60,
        key="train.name",
        live=True,
    )
    name, wrong = queue.tidy_name(typed), False
    with middle:
        try:
            config = form.build()
            if name:
                queue.check_free(root, queue.check_name(name))
            takes = estimate(config)
            if name != typed:
                st.caption(f"It will be called {frame.plain(name)}.")
            st.caption(takes)
        except UserError as error:
            wrong = True
            st.error(frame.plain(error))
    right.button("Start", type="primary", width="stretch", disabled=wrong, on_click=begin)


def estimate(config: RunConfig) -> str:
    """Say how long a run takes, and whether it has to wait for another."""
    subjects = len(st.session_state[uploads.OWN].names) if config.data.own else None
    seconds = config.training.epochs * epoch_seconds(config, subjects)
    active = sum(run.active for run in runs.list_runs(queue.root())[0])
    wait = " It starts when the run before it is done." if active >= queue.slots() else ""
    return f"Takes roughly {duration(seconds)}.{wait}"


def begin(config: RunConfig | None = None) -> None:
    """Start a run with a config, or with the form as it is at the click."""
    root, name = queue.root(), ""
    try:
        if config is None:
            config = form.build()
            name = queue.tidy_name(st.session_state.get("train.name", ""))
        own = st.session_state[uploads.OWN] if config.data.own else None
        name = name or queue.free_name(root, config.preset)
        select(queue.start(root, name, config, own).name)
        st.session_state["train.begun"] = True
    except UserError as error:
        say(error)
    redraw()
