"""The card that starts a run: preset, settings, name, time; uploads of runs and own objects."""

import re
from dataclasses import replace
from pathlib import PurePath
from typing import Any

import streamlit as st

from fgpvae import UserError, runs
from fgpvae.data import object_files
from fgpvae.gp.kernels import ON_A_LINE
from fgpvae.runs import archives, queue
from fgpvae.runs.estimate import epoch_seconds
from fgpvae.training import presets
from fgpvae.training.configs import OBJECTS, RunConfig
from ui.catalog import models
from ui.shell import frame
from ui.shell.query_params import segments
from ui.train import form
from ui.train.run_state import act, duration, redrawn, select

LARGEST_MB = archives.LARGEST >> 20
parse = st.cache_resource(max_entries=2, show_spinner="Reading the objects")(object_files.parse)
OWN = "train.own"  # in the session state: the uploaded objects
NAMES = {"quick": "Quick", "paper": "The paper's", OBJECTS: "Your own data"}
# descriptions of presets, beside those in `models.LINES`
LINES = {
    "quick": "A good first run: learns to turn a new three from one view.",
    "paper": "The paper's model: its networks, data and objective, for a thousand epochs.",
    OBJECTS: "Objects of your own, photographed or drawn from several views.",
    "wide": "The best on the paper's threes: larger networks, deformed digits, many epochs.",
    "best": "The model that the app opens with: all ten digits at all angles.",
    "cubes-quick": "Cube figures, which no rotation of a picture can turn.",
    "cubes": "Cube figures, with 4,000 random ones: the first part of how the app's model was "
    "trained.",
    "films": "Films of digits that move, of all of MNIST.",
    "films-quick": "Films of digits that move: the look stays, the path is a Gaussian process.",
    "cvae-published": "The CVAE as the paper ran it.",
}


@st.fragment
def new_run() -> None:
    redrawn()
    with frame.card(
        "A new run", "Training continues in the background when you close the page.", "train.new"
    ):
        with st.container():  # keeps its place, so that nothing below moves
            groups = presets.grouped()
            titles = {
                name: NAMES.get(name, name.capitalize()) for name in (*presets.FIRST, *groups)
            }
            hidden: dict[str, Any] = {"label_visibility": "collapsed"}
            preset = segments("Preset", titles, "train.preset", **hidden)
            if group := groups.get(preset):
                key = f"train.preset.{preset}"
                preset = segments(preset.capitalize(), group, key, **hidden)
        st.caption((models.LINES | LINES)[preset])
        with st.container():
            own = own_objects() if preset == OBJECTS else None
        if st.session_state.get("train.filled") != (preset, own):
            form.fill(own or presets.PRESETS[preset])
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
            upload_run()


def start(preset: str) -> None:
    """Show name, time and the button, or an error in the settings."""
    left, middle, right = st.columns([3, 3, 1.4], vertical_alignment="bottom")
    root = queue.root()
    typed = left.text_input(
        "Name", placeholder=queue.free_name(root, preset), max_chars=60, key="train.name", live=True
    )
    name, wrong = queue.tidy_name(typed), False
    with middle:
        try:
            config = form.build()
            if name:
                queue.check_free(root, name)
            own = len(st.session_state[OWN].names) if config.data.own else None
            seconds = config.training.epochs * epoch_seconds(config, own)
            if name != typed:
                st.caption(f"It will be called {frame.plain(name)}.")
            active = sum(run.active for run in runs.list_runs(root)[0])
            wait = " It starts when the run before it is done." if active >= queue.slots() else ""
            if config.data.source == "openml":
                wait += " MNIST is downloaded from openml.org first."
            st.caption(f"Takes roughly {duration(seconds)}.{wait}")
        except UserError as error:
            wrong = True
            st.error(frame.plain(error))
    right.button(
        "Start", type="primary", width="stretch", disabled=wrong, on_click=act, args=(begin,)
    )


def begin(config: RunConfig | None = None) -> None:
    """Start a run with a config, or with the form as it is at the click; then fold the form."""
    state, root, name = st.session_state, queue.root(), ""
    if config is None:
        config = form.build()
        name = queue.tidy_name(state.get("train.name", ""))
    own = state[OWN] if config.data.own else None
    name = name or queue.free_name(root, config.preset)
    select(queue.start(root, name, config, own).name)
    state["train.open"], state["train.name"] = False, ""


def clone(config: RunConfig) -> None:
    """Fill the form with the settings of a run."""
    state = st.session_state
    groups = {name: group for group, names in presets.grouped().items() for name in names}
    known = config.preset if config.preset in (*presets.FIRST, *groups) else presets.FIRST[0]
    state["train.preset"] = groups.get(known, known)
    if known in groups:
        state[f"train.preset.{groups[known]}"] = known
    form.fill(replace(config, preset=known))
    state["train.filled"], state["train.open"] = (known, None), True


def upload_run() -> None:
    """Ask for the archive of a run."""
    turn = st.session_state.setdefault("train.archives", 0)  # a new key empties the uploader
    key = f"train.archive.{turn}"

    def add() -> None:
        if (file := st.session_state.get(key)) is None:
            return
        st.session_state["train.archives"] = turn + 1
        root, found = queue.root(), archives.unpack(file.getvalue(), file.name)
        words = re.findall(r"[A-Za-z0-9_-]+", PurePath(file.name).stem)
        name = queue.free_name(root, "-".join(words)[:50] or "uploaded")
        select(queue.add(root, name, found).name)

    st.file_uploader(
        "A run that was downloaded here or elsewhere (.zip)",
        type="zip",
        key=key,
        max_upload_size=LARGEST_MB,
        on_change=act,
        args=(add,),
        help="It is checked and listed with the others. It can be used, but not trained further.",
    )


def own_objects() -> RunConfig | None:
    """Ask for own objects, which the session state gets; their config, None until it is valid."""
    file = st.file_uploader(
        "Images of objects, each from several views: a NumPy archive (.npz) with the arrays "
        "images, object and view",
        type="npz",
        key="train.data",
        max_upload_size=LARGEST_MB,
        help="Up to 64 x 64 pixels, grey or colour; docs/own-data.md says more. It is copied "
        "into the run; nothing in it is ever executed.",
    )
    st.session_state.pop(OWN, None)
    if file is None:
        return None
    left, right = st.columns(2)
    with left:
        kind = segments("Views are", ["On a line", "On a circle"], "train.track", linked=False)
    period, kernel = 0.0, None
    if kind == "On a circle":
        period = right.number_input(
            "They repeat after", 1e-6, 1e9, 360.0, key="train.period", help="360 for degrees."
        )
    else:
        kernel = right.selectbox("How they change", list(ON_A_LINE), key="train.kernel")
    try:
        found = parse(file.getvalue(), file.name)
        config = presets.for_objects(found, file.name[:60], period, kernel)
    except UserError as error:
        st.error(frame.plain(error))
        return None
    channels, height, width = found.shape
    st.caption(
        f"{len(found.names):,} objects in {len(found.images):,} images of {height} x {width} "
        f"pixels in {'colour' if channels == 3 else 'grey'}. One in ten is set aside for testing."
    )
    st.session_state[OWN] = found
    return config
