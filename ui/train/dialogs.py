"""Dialogs before a run is deleted, renamed or trained further."""

from collections.abc import Callable

import streamlit as st

from fgpvae import UserError
from fgpvae.runs import Run, queue
from ui.shell import frame, notices
from ui.train.run_state import act, ask, redrawn, say, select


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
        say()

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
    st.number_input("Epochs in all", done + 1, most, min(2 * done, most), key=key)
    return lambda: queue.resume(run, int(st.session_state[key]))


QUESTIONS: dict[str, tuple[str, str, Callable[[Run], Callable[[], object] | None]]] = {
    "delete": ("Delete this run?", "Delete", _delete),
    "rename": ("Rename this run", "Rename", _rename),
    "more": ("More epochs", "Go on", _more),
}
