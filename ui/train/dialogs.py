"""Dialogs before a run is deleted, renamed or trained further."""

from collections.abc import Callable

import streamlit as st

from fgpvae import UserError
from fgpvae.runs import Run, queue
from ui.shell import frame
from ui.train.run_state import redraw, redrawn, select


def ask(what: str, run: Run) -> None:
    """Open a dialog from the page itself, because a rerun of the fragment would close it."""
    st.session_state["train.ask"] = what, run.name
    redraw()


def close() -> None:
    st.session_state.pop("train.ask", None)
    redraw()


def questions() -> None:
    """Show the open dialog until it is answered or dismissed."""
    if "train.ask" not in st.session_state:
        return
    what, name = st.session_state["train.ask"]
    try:
        run = queue.find(queue.root(), name)
    except UserError as error:
        del st.session_state["train.ask"]
        st.error(frame.plain(error))
        return
    title, question = QUESTIONS[what]

    def dialog() -> None:
        try:
            question(run)
        except UserError as error:
            st.error(frame.plain(error))
        redrawn()
        if refused := st.session_state.pop("train.refused", None):
            st.error(frame.plain(refused))

    st.dialog(title, on_dismiss=close)(dialog)()


def _delete(run: Run) -> None:
    st.write(
        f"**{frame.plain(run.name)}** with its weights, curves and settings is removed for good. "
        "Download it first if you may want it back."
    )

    def confirm() -> None:
        _attempt(lambda: queue.delete(run), None)

    with st.container(horizontal=True):
        st.button("Delete", type="primary", key="train.sure.delete", on_click=confirm)
        st.button("Keep it", key="train.sure.keep", on_click=close)


def _rename(run: Run) -> None:
    key = f"train.new_name.{run.name}"

    def confirm() -> None:
        name = queue.tidy_name(st.session_state[key])
        _attempt(lambda: name == run.name or queue.rename(run, name), name)

    with st.form("train.rename", border=False):
        st.text_input("New name", run.name, max_chars=60, key=key)
        st.form_submit_button("Rename", type="primary", key="train.sure.rename", on_click=confirm)


def _more(run: Run) -> None:
    st.write(
        "Training continues from the last weights. A cosine schedule is stretched to the new end."
    )
    done, most = run.config.training.epochs, queue.most_epochs()
    if done >= most:
        st.write(f"It has {done} epochs, and a run started here has at most {most}.")
        return
    key = f"train.new_epochs.{run.name}"

    def confirm() -> None:
        _attempt(lambda: queue.resume(run, int(st.session_state[key])), run.name)

    with st.form("train.more", border=False):
        st.number_input("Epochs in all", done + 1, most, min(2 * done, most), key=key)
        st.form_submit_button("Go on", type="primary", key="train.sure.more", on_click=confirm)


QUESTIONS: dict[str, tuple[str, Callable[[Run], None]]] = {
    "delete": ("Delete this run?", _delete),
    "rename": ("Rename this run", _rename),
    "more": ("More epochs", _more),
}


def _attempt(action: Callable[[], object], then: str | None) -> None:
    """Run the confirmed action; if it fails, the dialog stays open and says why."""
    try:
        action()
    except UserError as error:
        st.session_state["train.refused"] = str(error)
    else:
        select(then)
        close()
