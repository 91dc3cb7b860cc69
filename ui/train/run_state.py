"""Which run is chosen, and how far each has come, in words."""

import streamlit as st

from fgpvae import runs
from fgpvae.runs import Run
from ui.shell import query_params
from ui.train import estimates

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


def link() -> None:
    """What the address says is shown; where it says nothing, the run that was chosen before."""
    linked = st.query_params.get("run")
    if linked is None:
        query_params.write(run=st.session_state.get("train.run"))
    else:
        st.session_state["train.run"] = linked


def say(sentence: str) -> None:
    """An error to be shown on top of the page by its next run."""
    st.session_state["train.said"] = sentence


def redraw() -> None:
    """Have the whole page run again.

    Buttons of this page act in callbacks: Streamlit calls these before a run, so that no look at
    the runs, which may interrupt it, makes a click come to nothing.
    """
    st.session_state["train.redraw"] = True


def redrawn() -> None:
    """In a fragment: run the whole page if a callback asked for it."""
    if st.session_state.pop("train.redraw", False):
        st.rerun()


def selected(found: list[Run]) -> Run | None:
    """The run that was chosen, or the newest if none was; None if it is not there."""
    wanted = st.session_state.get("train.run")
    if wanted is None:
        return found[0] if found else None
    return next((run for run in found if run.name == wanted), None)


def live(found: list[Run]) -> bool:
    return any(run.active or run.state == runs.QUEUED for run in found)


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
