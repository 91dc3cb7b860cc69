"""Dialogs before a run is deleted, renamed or trained further."""

import streamlit as st

from fgpvae import UserError
from fgpvae.runs import Run, queue
from ui.shell import frame, notices
from ui.train.run_state import act, ask, redrawn, say, select


def questions() -> None:
    """Show the open dialog until it is answered or dismissed."""
    if not (asked := st.session_state.get("train.ask")):
        return
    (title, question), name = QUESTIONS[asked[0]], asked[1]
    try:
        run = queue.find(queue.root(), name)
    except UserError as error:
        st.session_state["train.ask"], st.session_state["train.said"] = None, str(error)
        return

    @st.dialog(title, on_dismiss=ask)
    def dialog() -> None:
        redrawn()
        notices.attempt(lambda: question(run))
        say()

    dialog()


def _delete(run: Run) -> None:
    st.write(
        f"**{frame.plain(run.name)}** with its weights, curves and settings is removed for good. "
        "Download it first if you may want it back."
    )

    def confirm() -> None:
        queue.delete(run)
        select(None)

    with st.container(horizontal=True):
        st.button("Delete", type="primary", key="train.sure.delete", on_click=act, args=(confirm,))
        st.button("Keep it", key="train.sure.keep", on_click=ask)


def _rename(run: Run) -> None:
    key = f"train.new_name.{run.name}"

    def confirm() -> None:
        name = queue.tidy_name(st.session_state[key])
        if name != run.name:
            queue.rename(run, name)
        select(name)

    with st.form("train.rename", border=False):
        st.text_input("New name", run.name, max_chars=60, key=key)
        st.form_submit_button(
            "Rename", type="primary", key="train.sure.rename", on_click=act, args=(confirm,)
        )


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
        queue.resume(run, int(st.session_state[key]))
        select(run.name)

    with st.form("train.more", border=False):
        st.number_input("Epochs in all", done + 1, most, min(2 * done, most), key=key)
        st.form_submit_button(
            "Go on", type="primary", key="train.sure.more", on_click=act, args=(confirm,)
        )


QUESTIONS = {
    "delete": ("Delete this run?", _delete),
    "rename": ("Rename this run", _rename),
    "more": ("More epochs", _more),
}
