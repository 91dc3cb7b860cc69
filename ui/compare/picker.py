"""The models of the page, and the button that tests those that have not been."""

import time

import streamlit as st

from ui.catalog import Choice, models
from ui.compare import evaluation
from ui.compare.files import KEEP
from ui.shell import frame, notices

TICK = 0.7  # seconds between two looks at a test


def choose(figures: bool = False) -> list[Choice]:
    """Models of digits, or of figures, and the button that tests those that have not been."""
    key = "models"
    if figures:
        key = "compare.figures"
    offered = models.available(figures=figures)
    every = {choice.name: choice for choice in offered if choice.figures == figures}
    if not every:
        return []
    gone = st.session_state.setdefault(f"compare.gone.{key}", [])
    gone += [name for name in st.query_params.get_all(key) if name not in every]
    # Messages and the bar have places of their own. Without these they would move the cards below,
    # and Streamlit drops a click on a card that is no longer where it was.
    with st.container():
        for name in dict.fromkeys(gone):
            notices.problem(models.missing(name))
    if key not in st.session_state and key not in st.query_params:
        held = every.get(st.session_state.get("model", ""))  # on the page that one comes from
        mine = [held.name] if held is not None and held.own else []
        st.session_state[key] = [*mine, *models.baselines(figures)]
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
    tests = evaluation.queue().tests(chosen)
    going = [test for test in tests if not test.error]
    waiting = {test.choice for test in going}
    done = evaluation.measured()
    # of figures the results of what comes with the app are committed
    missing = [c for c in chosen if c not in done and c not in waiting and (c.own or not figures)]
    right.button(
        "Evaluate",
        disabled=not missing,
        width="stretch",
        help="Run the benchmark on the chosen models; their results then appear beside ours.",
        on_click=evaluation.queue().add,
        args=(missing,),
        key=f"compare.evaluate.{key}",
    )
    with st.container():
        for test in tests:
            if test.error:
                st.error(frame.plain(f"{test.choice.name} could not be tested: {test.error}"))
        if going:
            st.fragment(progress, run_every=TICK)(chosen, len(going))
    return chosen


def _add(key: str, names: list[str]) -> None:
    st.session_state[key] = list(dict.fromkeys([*st.session_state[key], *names]))


def progress(chosen: list[Choice], expected: int) -> None:
    """A bar for the tests that go on; the page runs again as soon as one of them is done."""
    going = [test for test in evaluation.queue().tests(chosen) if not test.error]
    if len(going) != expected:
        st.rerun()
    now = going[0]
    text = now.choice.name
    if now.began is not None and now.share:
        left = (time.monotonic() - now.began) * (1 - now.share) / now.share
        text += f": {left:.0f} s left"
    if len(going) > 1:
        text += f", then {len(going) - 1} more"
    st.progress(now.share, frame.plain(text))
