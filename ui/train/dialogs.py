"""Questions before a run is deleted, renamed or trained further."""

from collections.abc import Callable

import streamlit as st

from fgpvae import UserError, background
from fgpvae.runs import Run
from ui.shell import frame
from ui.train.run_state import redraw, redrawn, select


def ask(what: str, run: Run) -> None:
    """Open a dialog, from the page itself: a tick of the runs would close one of theirs."""
    st.session_state["train.ask"] = what, run.name
    redraw()


def forget() -> None:
    st.session_state.pop("train.ask", None)


def questions() -> None:
    """The dialog that is open, until it is answered or dismissed."""
    what, name = st.session_state.get("train.ask", (None, None))
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
        st.button(
            "Delete",
            type="primary",
            key="train.sure.delete",
            on_click=attempt,
            args=(lambda: background.delete(run), None),
        )
        st.button("Keep it", key="train.sure.keep", on_click=close)
    answered()


@st.dialog("Rename this run", on_dismiss=forget)
def rename(run: Run) -> None:
    key = f"train.new_name.{run.name}"

    def submit() -> None:
        name = background.tidy_name(st.session_state[key])
        attempt(lambda: name == run.name or background.rename(run, name), name)

    with st.form("train.rename", border=False):
        st.text_input("New name", run.name, max_chars=60, key=key)
        st.form_submit_button("Rename", type="primary", key="train.sure.rename", on_click=submit)
    answered()


@st.dialog("More epochs", on_dismiss=forget)
def more(run: Run) -> None:
    done = run.config.training.epochs
    st.write(
        "Training continues from the last weights. A cosine schedule is stretched to the new end."
    )
    try:
        most = background.most_epochs()
    except UserError as error:
        st.error(frame.plain(error))
        return
    if done >= most:
        st.write(f"It has {done} epochs, and a run started here has at most {most}.")
        return
    key = f"train.new_epochs.{run.name}"

    def submit() -> None:
        attempt(lambda: background.resume(run, int(st.session_state[key])), run.name)

    with st.form("train.more", border=False):
        st.number_input("Epochs in all", done + 1, most, min(2 * done, most), key=key)
        st.form_submit_button("Go on", type="primary", key="train.sure.more", on_click=submit)
    answered()


def attempt(action: Callable[[], object], then: str | None) -> None:
    """Do what was confirmed; a dialog that failed stays open and says why."""
    try:
        action()
    except UserError as error:
        st.session_state["train.refused"] = str(error)
        return
    select(then)
    close()


def close() -> None:
    forget()
    redraw()


def answered() -> None:
    """Last in a dialog: close it, or say why it could not be done."""
    redrawn()
    if refused := st.session_state.pop("train.refused", None):
        st.error(frame.plain(refused))
