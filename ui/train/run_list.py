"""The list of runs beside the chosen one, again every second while one trains."""

from hashlib import sha256

import streamlit as st

from fgpvae import UserError, background, runs
from fgpvae.presets import PRESETS
from fgpvae.runs import Run
from ui import charts
from ui.catalog import models
from ui.shell import frame, palette
from ui.train.new_run import FIRST, begin
from ui.train.run_detail import detail
from ui.train.run_state import link, live, progress, redrawn, said, select, selected

SHOWN = 8  # runs in the list before one asks for more


def watch(expected: bool) -> None:
    """The list of runs and one of them; again every second while something is being trained."""
    redrawn()
    link()
    with st.container():  # a message moves nothing that can be clicked
        try:
            background.advance_queue(background.root())
        except UserError as error:
            st.error(frame.plain(error))
    found, broken = runs.list_runs(background.root())
    if live(found) != expected:
        st.rerun()  # begin to look every second, or stop
    run = selected(found)
    if not found and run is None and st.session_state.get("train.run") is None:
        nothing()
        return
    left, right = st.columns([2, 5])
    with left, frame.card("Runs", key="train.runs"):
        entries(found, run)
        for name, reason in broken.items():
            st.caption(frame.plain(f"{name}: {reason}"))
    with right, charts.last():
        if run is None:
            gone(st.session_state["train.run"])
        else:
            detail(run, found)


def gone(name: str) -> None:
    """A link, or a deletion in another tab, leads to no run."""
    with frame.empty(
        "Not here any more", frame.plain(models.missing(models.OWN + name)), "train.gone"
    ):
        st.button("Show the newest run", key="train.newest", on_click=select, args=(None,))


def nothing() -> None:
    with frame.empty(
        "No run yet",
        (
            "A run shows its curves here, and how well it turns digits, second by second as it "
            "learns."
        ),
    ):
        st.button("Start a quick run", key="train.quick", on_click=begin, args=("", PRESETS[FIRST]))


def entries(found: list[Run], chosen: Run | None) -> None:
    """A button a run, filled as far as the run has come."""
    every = len(found) <= SHOWN or st.session_state.get("train.all", False)
    style = []
    for run in found if every else found[:SHOWN]:
        digest = sha256(run.name.encode()).hexdigest()[:12]
        share = f"{100 * progress(run):.1f}%"
        tint = charts.faded(palette.GLOBAL, 0.14)
        ring = f"border-color:{palette.GLOBAL};" if run == chosen else ""
        style.append(
            f".st-key-train-entry-{digest} button {{ {ring}background: "
            f"linear-gradient(90deg, {tint} {share}, transparent {share}); }}"
        )
        label = f"**{frame.plain(run.name)}**  \n{said(run)}"
        st.button(
            label, key=f"train.entry.{digest}", width="stretch", on_click=select, args=(run.name,)
        )
    st.html(f"<style>{''.join(style)}</style>")
    if not every:
        show_all = {"train.all": True}
        st.button(
            f"All {len(found)} runs",
            key="train.more",
            type="tertiary",
            on_click=st.session_state.update,
            args=(show_all,),
        )
