"""The list of runs beside the chosen one, again every second while one trains."""

from hashlib import sha256

import streamlit as st

from fgpvae import runs
from fgpvae.runs import Run, queue
from fgpvae.training.presets import PRESETS
from ui import charts
from ui.catalog import models
from ui.shell import frame, palette
from ui.train.new_run import begin
from ui.train.run_detail import detail
from ui.train.run_state import follow_link, live, progress, redrawn, said, select

SHOWN = 8  # runs in the list at first


def watch(expected: bool) -> None:
    """Show the runs and one of them; `expected`: whether the page expects a running one."""
    redrawn()
    follow_link()
    found, broken = runs.list_runs(queue.root())
    if live(found) != expected:
        st.rerun()  # start or stop the refresh every second
    wanted = st.session_state.get("train.run") or next((run.name for run in found), None)
    if wanted is None:
        nothing()
        return
    run = next((run for run in found if run.name == wanted), None)
    left, right = st.columns([2, 5])
    with left, frame.card("Runs", key="train.runs"):
        entries(found, run)
        for name, reason in broken.items():
            st.caption(frame.plain(f"{name}: {reason}"))
    with right:
        if run is None:
            gone(wanted)
        else:
            detail(run, found)


def gone(name: str) -> None:
    """Say that the run of a link does not exist or was deleted in another tab."""
    sentence = frame.plain(models.missing(models.OWN + name))
    with frame.empty("Not here any more", sentence, "train.gone"):
        st.button("Show the newest run", key="train.newest", on_click=select, args=(None,))


def nothing() -> None:
    sentence = (
        "A run shows its curves here, and how well it turns digits, second by second as it learns."
    )
    with frame.empty("No run yet", sentence):
        quick = PRESETS["quick"]
        st.button("Start a quick run", key="train.quick", on_click=begin, args=(quick,))


def entries(found: list[Run], chosen: Run | None) -> None:
    """Show a button for each run, filled in proportion to its progress."""
    every = len(found) <= SHOWN or st.session_state.get("train.all", False)
    tint, style = charts.faded(palette.GLOBAL, 0.14), []
    for run in found if every else found[:SHOWN]:
        digest = sha256(run.name.encode()).hexdigest()[:12]
        share = f"{100 * progress(run):.1f}%"
        ring = f"border-color:{palette.GLOBAL};" if run == chosen else ""
        style.append(
            f".st-key-train-entry-{digest} button {{ {ring}background: "
            f"linear-gradient(90deg, {tint} {share}, transparent {share}); }}"
        )
        label, key = f"**{frame.plain(run.name)}**  \n{said(run)}", f"train.entry.{digest}"
        st.button(label, key=key, width="stretch", on_click=select, args=(run.name,))
    st.html(f"<style>{''.join(style)}</style>")
    if not every:
        label, show_all = f"All {len(found)} runs", {"train.all": True}
        update = st.session_state.update
        st.button(label, key="train.more", type="tertiary", on_click=update, args=(show_all,))
