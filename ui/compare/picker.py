"""The models of the page, and the button that tests those not tested yet."""

import time

import streamlit as st

from ui.catalog import Choice, models
from ui.compare.evaluation import queue
from ui.shell import frame, notices
from ui.shell.query_params import KEEP

TICK = 0.7  # seconds between two looks at a test


def choose(group: str) -> list[Choice]:
    """Choose models of digits, objects or films; a button tests those not tested yet."""
    key = f"compare.{group.lower()}"
    every = {choice.name: choice for choice in models.available(group)}
    if not every:
        return []
    gone = st.session_state.setdefault(f"compare.gone.{key}", [])
    gone += [name for name in st.query_params.get_all(key) if name not in every]
    # Messages and the bar have fixed places. Otherwise they would move the cards below, and
    # Streamlit drops a click on a card that has moved.
    with st.container():
        for name in dict.fromkeys(gone):
            notices.problem(models.missing(name))
    if key not in st.session_state and key not in st.query_params:
        held = every.get(st.session_state.get("model", ""))  # the model of the previous page
        mine = [held.name] if held is not None and held.own else []
        st.session_state[key] = [*mine, *models.baselines(group)]
    left, middle, right = st.columns([6, 1, 1.4], vertical_alignment="bottom")
    names = left.multiselect(
        "Models",
        list(every),
        key=key,
        on_change=gone.clear,
        placeholder="Choose models",
        help="Models that come with the app, then your own runs, newest first.",
        **KEEP,
    )
    shipped = [name for name, choice in every.items() if not choice.own]
    middle.button(
        "All",
        disabled=set(shipped) <= set(names),
        width="stretch",
        help="Add every model that comes with the app.",
        on_click=_add,
        args=(key, shipped),
        key=f"compare.all.{key}",
    )
    chosen = [every[name] for name in names]
    known = [test.choice for test in queue().tests(chosen) if not test.error]
    missing = [choice for choice in chosen if choice not in known]
    right.button(
        "Evaluate",
        disabled=not missing,
        width="stretch",
        help="Run the benchmark on the chosen models; their results then appear beside ours.",
        on_click=queue().add,
        args=(missing,),
        key=f"compare.evaluate.{key}",
    )
    with st.container():
        _state(group, chosen)
    return chosen


def _add(key: str, names: list[str]) -> None:
    st.session_state[key] = list(dict.fromkeys([*st.session_state[key], *names]))


def _state(group: str, chosen: list[Choice]) -> None:
    """Say which models were evaluated and which failed."""
    tests = queue().tests(chosen)
    for test in tests:
        if test.error:
            st.error(frame.plain(f"{test.choice.name} could not be tested: {test.error}"))
    if ready := [frame.plain(test.choice.name) for test in tests if test.found]:
        where = "on top of the chart and of the table below, as stars"
        place = where if group == "Digits" else "in the chart below"
        st.caption(f"Evaluated: {', '.join(ready)}. The results are {place}.")
    if going := sum(test.going for test in tests):
        st.fragment(progress, run_every=TICK)(chosen, going)


def progress(chosen: list[Choice], expected: int) -> None:
    """Progress of running tests; the page runs again when one of them is done."""
    going = [test for test in queue().tests(chosen) if test.going]
    if len(going) != expected:
        st.rerun()
    now = going[0]
    text = now.choice.name
    if now.share:
        left = (time.monotonic() - now.began) * (1 - now.share) / now.share
        text += f": {left:.0f} s left"
    if len(going) > 1:
        text += f", then {len(going) - 1} more"
    st.progress(now.share, frame.plain(text))
