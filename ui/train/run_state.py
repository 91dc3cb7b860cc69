"""The chosen run, and texts on the progress of runs."""

import math

import streamlit as st

from fgpvae import runs
from fgpvae.runs import Run
from ui.shell import query_params

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


def follow_link() -> None:
    """Choose the run that the address names; without one, put the chosen run into the address."""
    linked = st.query_params.get("run")
    if linked is None:
        query_params.write(run=st.session_state.get("train.run"))
    else:
        st.session_state["train.run"] = linked


def say(error: object) -> None:
    """Show an error on top of the page in its next run."""
    st.session_state["train.said"] = str(error)


def redraw() -> None:
    """Rerun the whole page.

    Buttons of this page act in callbacks: Streamlit calls these before a run, so a refresh that
    interrupts the run cannot lose a click.
    """
    st.session_state["train.redraw"] = True


def redrawn() -> None:
    """In a fragment, rerun the whole page if a callback requested it."""
    if st.session_state.pop("train.redraw", False):
        st.rerun()


def live(found: list[Run]) -> bool:
    return any(run.active or run.state == runs.QUEUED for run in found)


def progress(run: Run) -> float:
    return min(run.epoch / run.config.training.epochs, 1.0)


def state(run: Run) -> str:
    asked = run.active and (run.path / runs.STOP).exists()
    return STOPPING if asked else STATES[run.state]


def said(run: Run) -> str:
    words = [state(run)]
    if run.state != runs.QUEUED:
        words.append(f"epoch {int(run.epoch)} of {run.config.training.epochs}")
    if run.state == runs.RUNNING and run.seconds_left is not None:
        words.append(f"{duration(run.seconds_left)} left")
    return " · ".join(words)


def duration(seconds: float) -> str:
    """Format a duration with a precision that fits: 3 s, 25 s, 5 min, 2 h 10 min."""
    if seconds < 60:
        return f"{max(round(seconds), 1) if seconds < 10 else 5 * math.ceil(seconds / 5)} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, rest = divmod(minutes, 60)
    return f"{hours} h {rest} min" if rest and hours < 10 else f"{hours} h"
