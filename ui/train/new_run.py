"""The card that starts a run: preset, settings, name, time."""

import streamlit as st

from fgpvae import UserError, background, runs
from fgpvae.configs import OBJECTS, RunConfig
from fgpvae.presets import PRESETS
from ui.shell import frame
from ui.train import estimates, form, labels, settings, uploads
from ui.train.run_state import redraw, redrawn, say, select

FIRST = "quick"


def fill() -> None:
    """Before the form is drawn: fold it after a start, fill it with a run that is cloned."""
    state = st.session_state
    state.pop("train.redraw", None)  # this is the run that was asked for
    if state.pop("train.begun", False):
        state["train.open"], state["train.name"] = False, ""
    cloned = state.pop("train.clone", None)
    if cloned is not None:
        form.put(cloned)
        known = cloned.preset if cloned.preset in PRESETS else FIRST
        state["train.preset"], state["train.filled"] = known, (known, None)
        state["train.open"] = True


@st.fragment
def new_run() -> None:
    redrawn()
    with frame.card(
        "A new run",
        ("Training runs in the background and goes on when you close the page."),
        "train.new",
    ):
        names = [*sorted(settings.OFFERED, key=lambda name: name != FIRST), OBJECTS]
        preset = st.segmented_control(
            "Preset",
            names,
            format_func=lambda name: "your own data" if name == OBJECTS else name,
            default=FIRST,
            required=True,
            key="train.preset",
            label_visibility="collapsed",
            bind="query-params",
            persist_state="session",
        )
        st.caption(labels.preset_line(preset))
        base = PRESETS[preset]
        if preset == OBJECTS:
            brought = uploads.own_objects()
            base = base if brought is None else brought.config
        filled = preset, base if preset == OBJECTS else None
        if st.session_state.get("train.filled") != filled:
            form.put(base)
            st.session_state["train.filled"] = filled
        place = st.container()
        drawer = st.expander("All settings", key="train.open", on_change="rerun")
        if drawer.open:
            with drawer:
                form.form()
        with place:
            if preset != OBJECTS or brought is not None:
                start(preset)
        with st.expander("Upload a run that was downloaded", key="train.bring"):
            uploads.archive()


def start(preset: str) -> None:
    """Name, time and the button; what is wrong with the settings, if anything is."""
    left, middle, right = st.columns([3, 3, 1.4], vertical_alignment="bottom")
    root = background.root()
    typed = left.text_input(
        "Name",
        placeholder=background.free_name(root, preset),
        max_chars=60,
        key="train.name",
        live=True,
    )
    config, wrong, name = None, "", background.tidy_name(typed)
    try:
        config = form.build(form.values(), preset, derived())
        if name:
            background.check_free(root, background.check_name(name))
    except UserError as error:
        wrong = str(error)
    with middle:
        if wrong:
            st.error(frame.plain(wrong))
        elif config is not None:
            if name != typed:
                st.caption(f"It will be called {frame.plain(name)}.")
            estimate(config)
    right.button(
        "Start",
        type="primary",
        width="stretch",
        disabled=bool(wrong),
        on_click=begin_typed,
        args=(preset,),
    )


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
        wait = " It starts when the run before it is done." if full else ""
        st.caption(f"{frame.plain(said)}.{wait}" if said else "Timing a few steps…")

    st.fragment(show, run_every=0.7 if pending else None)()


def begin_typed(preset: str) -> None:
    """Start what the form holds at the moment of the click."""
    try:
        config = form.build(form.typed(), preset, derived())
    except UserError as error:
        say(str(error))
        redraw()
        return
    begin(background.tidy_name(st.session_state.get("train.name", "")), config)


def derived() -> RunConfig | None:
    """The config that suits own objects, where such are to be trained on."""
    own = st.session_state.get(uploads.OWN)
    return own.config if own is not None and form.values()["data.split"] == OBJECTS else None


def begin(name: str, config: RunConfig) -> None:
    """Start a run, with a free name if it is given none; a callback."""
    root = background.root()
    try:
        own = st.session_state[uploads.OWN].objects if config.data.split == OBJECTS else None
        name = name or background.free_name(root, config.preset)
        run = background.start(root, name, config, own)
    except UserError as error:
        say(str(error))
    else:
        select(run.name)
        st.session_state["train.begun"] = True
    redraw()
