"""The chosen run, actions of buttons, and texts on the progress of runs."""

from collections.abc import Callable

import streamlit as st

from fgpvae import UserError, runs
from fgpvae.runs import Run
from ui.shell import frame, query_params

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


def select(name: str | None) -> None:
    """Show a run from now on, or none in particular; in a callback."""
    st.session_state["train.run"] = name
    query_params.write(run=name)


def act(action: Callable[..., object], *args: object) -> None:
    """Call `action`, which may answer a dialog, and rerun the whole page; in a callback.

    Streamlit calls callbacks before a run, so a refresh that interrupts the run cannot lose a
    click. A UserError is shown in the dialog, which stays open, or on top of the page.
    """
    try:
        action(*args)
        st.session_state["train.ask"] = None
    except UserError as error:
        st.session_state["train.said"] = str(error)
    st.session_state["train.redraw"] = True


def ask(question: str | None = None, run: str = "") -> None:
    """Open a dialog about a run from the page itself, or close it; in a callback.

    A rerun of the fragment would close a dialog that the fragment opens.
    """
    st.session_state["train.ask"] = question and (question, run)
    st.session_state["train.redraw"] = True


def redrawn() -> None:
    """In a fragment, rerun the whole page if a callback requested it."""
    if st.session_state.pop("train.redraw", False):
        st.rerun()


def say() -> None:
    """Show the error of the last action."""
    if message := st.session_state.pop("train.said", None):
        st.error(frame.plain(message))


def live(found: list[Run]) -> bool:
    return any(run.active or run.state == runs.QUEUED for run in found)


def progress(run: Run) -> float:
    return min(run.epoch / run.config.training.epochs, 1.0)


def state(run: Run) -> str:
    return STOPPING if run.active and (run.path / runs.STOP).exists() else STATES[run.state]


def said(run: Run) -> str:
    words = [state(run)]
    if run.state != runs.QUEUED:
        words.append(f"epoch {int(run.epoch)} of {run.config.training.epochs}")
    if run.state == runs.RUNNING and run.seconds_left is not None:
        words.append(f"{duration(run.seconds_left)} left")
    return " · ".join(words)


def duration(seconds: float) -> str:
    """Format a duration with a precision that fits: 25 s, 5 min, 2.2 h."""
    if seconds < 60:
        return f"{max(round(seconds), 1)} s"
    return f"{seconds / 60:.0f} min" if seconds < 3570 else f"{seconds / 3600:.1f} h"
