"""The models of the page, and their evaluation by the benchmark."""

import logging
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import streamlit as st

from fgpvae import UserError, runs
from fgpvae.evaluation import comparison
from fgpvae.experiments.common import seconds_an_epoch, title
from fgpvae.training import batches
from ui.catalog import Choice, models
from ui.compare.results import HUNDREDTHS, SECONDS, WHOLE, Row, Spread
from ui.shell import frame, notices
from ui.shell.query_params import KEEP

TICK = 0.7  # seconds between two looks at a test


@dataclass
class Test:
    """The test of a model: waiting, running, done or failed."""

    choice: Choice
    share: float = 0.0  # share that is done
    began: float = 0.0
    error: str = ""
    found: Row | None = None

    @property
    def going(self) -> bool:
        return not self.error and self.found is None

    def run(self) -> None:
        def progress(share: float) -> None:
            self.share = share

        self.began = time.monotonic()
        try:
            self.found = measure(self.choice, progress)
        except UserError as error:
            self.error = str(error)
        except Exception:
            logging.getLogger(__name__).exception("Testing %s failed", self.choice.name)
            self.error = "an unexpected error; the log has the details"


@st.cache_resource(show_spinner=False)
def _queue() -> tuple[ThreadPoolExecutor, dict[Choice, Test]]:
    """The thread of this server that runs one test after the other, and all tests."""
    return ThreadPoolExecutor(1, "evaluation"), {}


def test(choices: Collection[Choice]) -> None:
    """Queue the tests of these models, except those that wait, run or are done."""
    worker, known = _queue()
    for choice in choices:
        if choice not in known or known[choice].error:
            known[choice] = Test(choice)
            worker.submit(known[choice].run)


def tests(choices: Collection[Choice]) -> list[Test]:
    """The tests of these models, in the order in which they run."""
    return [each for each in list(_queue()[1].values()) if each.choice in choices]


def measured(choices: Collection[Choice]) -> list[Row]:
    """The results of these models, if tested."""
    return [each.found for each in tests(choices) if each.found]


def measure(choice: Choice, progress: Callable[[float], None]) -> Row:
    """Test a model; `progress` receives the share that is done."""
    model, config = choice.load(), choice.config
    if not choice.classes:  # no table is made of what is no digit
        found = comparison.subject_mse_by_views(model, choice.collection, progress=progress)
        by_views = {views: Spread.of(error) for views, error in found.items()}
        return Row(choice.name, choice.kind.title, True, by_views=by_views)
    parts = 2 if model.takes_new_digits else 1
    scores = comparison.table_figures(
        model, config.data, config.seed, lambda share: progress(share / parts)
    )
    label, found = comparison.table_label(choice.classes), {}
    if model.takes_new_digits:
        found = comparison.mse_by_views(
            model, label, progress=lambda share: progress((1 + share) / parts)
        )
    seconds, processor, digits, epochs = None, None, None, config.training.epochs
    if choice.own and (lines := (run := runs.open_run(choice.path.parent)).metrics()):
        seconds, epochs = seconds_an_epoch(run), int(lines[-1]["epoch"])
        processor = lines[-1].get("cpu_seconds")
        if config.data.source == "embedded":
            digits = batches.build_source(config)[0].digits
    return Row(
        choice.name,
        title(model),
        True,
        scores={name: Spread.of(value) for name, value in scores.items()}
        | {SECONDS: Spread.of(seconds, HUNDREDTHS)},
        by_views={views: Spread.of(error) for views, error in found.items()},
        processor=Spread.of(processor, WHOLE),
        epochs=Spread.of(epochs, WHOLE),
        parameters=Spread.of(sum(p.numel() for p in model.parameters()), WHOLE),
        digits=digits,
        label=label,
    )


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
        names = models.beside(held) if held and held.own else models.baselines(group)
        # also in the address: Back to one without names would empty the widget
        st.session_state[key] = st.query_params[key] = names
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

    def add() -> None:
        st.session_state[key] = list(dict.fromkeys([*st.session_state[key], *shipped]))

    middle.button(
        "All",
        disabled=set(shipped) <= set(names),
        width="stretch",
        help="Add every model that comes with the app.",
        on_click=add,
        key=f"compare.all.{key}",
    )
    chosen = [every[name] for name in names]
    right.button(
        "Evaluate",
        disabled=set(chosen) <= {each.choice for each in tests(chosen) if not each.error},
        width="stretch",
        help="Run the benchmark on the chosen models; their results then appear beside ours.",
        on_click=test,
        args=(chosen,),
        key=f"compare.evaluate.{key}",
    )
    with st.container():
        _state(tests(chosen))
    return chosen


def _state(known: list[Test]) -> None:
    """Say which models were evaluated and which failed."""
    for each in known:
        if each.error:
            st.error(frame.plain(f"{each.choice.name} could not be tested: {each.error}"))
    if ready := [frame.plain(each.choice.name) for each in known if each.found]:
        st.caption(f"Evaluated: {', '.join(ready)}. The results are in the charts below.")
    if going := sum(each.going for each in known):
        st.fragment(progress, run_every=TICK)([each.choice for each in known], going)


def progress(chosen: list[Choice], expected: int) -> None:
    """Progress of running tests; the page runs again when one of them is done."""
    going = [each for each in tests(chosen) if each.going]
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
