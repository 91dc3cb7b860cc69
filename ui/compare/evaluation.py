"""One's own models measured by the benchmark, beside the committed results."""

import logging
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock

import streamlit as st

from fgpvae import UserError, comparison, runs, training_data
from fgpvae.configs import RunConfig
from fgpvae.experiments.common import seconds_an_epoch, title
from ui.catalog import Choice
from ui.catalog.results import Curve, Row, Spread


@dataclass(frozen=True)
class Measured:
    """A model of the picker after its test."""

    row: Row
    by_views: dict[int, float]  # error against the number of context views
    digits: int | None  # P that it was trained on, where that is known
    label: int  # the class of the digits that it was tested on


@st.cache_resource(show_spinner=False)
def measured() -> dict[Choice, Measured]:
    """What has been measured since the server started, for all sessions; of a name the newest."""
    return {}


def keep(choice: Choice, found: Measured) -> None:
    every = measured()
    for other in list(every):
        if other.name == choice.name:
            every.pop(other, None)
    every[choice] = found


@dataclass
class Test:
    """A model that is being tested, or could not be."""

    choice: Choice
    share: float = 0.0  # that is done
    began: float | None = None
    error: str = ""


class Queue:
    """Tests one after the other, in a thread that goes on whatever the pages do."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, "evaluation")
        self._tests: dict[Choice, Test] = {}
        self._lock = Lock()

    def add(self, choices: Iterable[Choice]) -> None:
        with self._lock:
            for choice in choices:
                if choice not in self._tests or self._tests[choice].error:
                    self._tests[choice] = Test(choice)
                    self._worker.submit(self._run, self._tests[choice])

    def tests(self, choices: Iterable[Choice]) -> list[Test]:
        """Those of these models that are not done, in the order in which they are tested."""
        asked = set(choices)
        with self._lock:
            return [test for choice, test in self._tests.items() if choice in asked]

    def _run(self, test: Test) -> None:
        def progress(share: float) -> None:
            test.share = share

        test.began = time.monotonic()
        try:
            measure(test.choice, progress)
        except UserError as error:
            test.error = str(error)
        except Exception:
            logging.getLogger(__name__).exception("Testing %s failed", test.choice.name)
            test.error = "an unexpected error; the log has the details"
        else:
            with self._lock:
                del self._tests[test.choice]


@st.cache_resource(show_spinner=False)
def queue() -> Queue:
    """The one of this server, for all sessions."""
    return Queue()


def measure(choice: Choice, progress: Callable[[float], None]) -> Measured:
    """Test a model; `progress` is told the share that is done."""
    model, config = choice.load(), choice.config
    if choice.figures:
        return _measure_figures(choice, progress)
    parts = 2 if model.takes_new_digits else 1
    errors = comparison.table_figures(
        model, config.data, config.seed, lambda share: progress(share / parts)
    )
    label = comparison.table_label(choice.classes)
    by_views: dict[int, float] = {}
    if model.takes_new_digits:
        by_views = comparison.mse_by_views(
            model, label, progress=lambda share: progress((1 + share) / parts)
        )
    row = Row(
        choice.name,
        title(model),
        True,
        {n: Spread() if value is None else Spread((value,)) for n, value in errors.items()},
        parameters=sum(p.numel() for p in model.parameters()),
        epochs=config.training.epochs,
    )
    digits = None
    if choice.own and (lines := (run := runs.open_run(choice.path.parent)).metrics()):
        cpu = lines[-1].get("cpu_seconds")
        row = replace(
            row,
            seconds=Spread((seconds_an_epoch(run),)),
            epochs=int(lines[-1]["epoch"]),
            processor=Spread() if cpu is None else Spread((cpu,)),
        )
        digits = _digits(config)
    found = Measured(row, by_views, digits, label)
    keep(choice, found)
    return found


def _measure_figures(choice: Choice, progress: Callable[[float], None]) -> Measured:
    """Test a model of figures of cubes: only the error by views is asked for."""
    by_views = comparison.figure_mse_by_views(choice.load(), progress)
    found = Measured(Row(choice.name, choice.title, True, {}, Spread()), by_views, None, 0)
    keep(choice, found)
    return found


def _digits(config: RunConfig) -> int | None:
    """How many digits a run was trained on, where that is known."""
    known = config.data.source == "embedded"
    return training_data.build_source(config)[0].digits if known else None


def own_curve(found: Measured) -> Curve:
    points = {views: Spread((error,)) for views, error in found.by_views.items()}
    return Curve(found.row.name, found.row.colour, points)
