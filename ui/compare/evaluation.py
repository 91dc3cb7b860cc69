"""Evaluate chosen models by the benchmark, beside the committed results."""

import logging
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import streamlit as st

from fgpvae import UserError, runs
from fgpvae.evaluation import comparison
from fgpvae.experiments.common import seconds_an_epoch, title
from fgpvae.training import sources
from ui.catalog import Choice
from ui.catalog.results import Curve, Row, Spread


@dataclass(frozen=True)
class Measured:
    """Results of a tested model."""

    row: Row
    by_views: dict[int, float]  # error against the number of context views
    digits: int | None = None  # number P of training digits, if known
    label: int = 3  # class of the test digits

    @property
    def curve(self) -> Curve:
        points = {views: Spread((error,)) for views, error in self.by_views.items()}
        return Curve(self.row.name, self.row.colour, points)


@dataclass
class Test:
    """The test of a model: waiting, running, done or failed."""

    choice: Choice
    share: float = 0.0  # share that is done
    began: float = 0.0
    error: str = ""
    found: Measured | None = None

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


class Queue:
    """Runs tests one after the other in a thread, independent of pages."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, "evaluation")
        self._tests: dict[Choice, Test] = {}

    def add(self, choices: Collection[Choice]) -> None:
        for choice in choices:
            if choice not in self._tests or self._tests[choice].error:
                self._tests[choice] = Test(choice)
                self._worker.submit(self._tests[choice].run)

    def tests(self, choices: Collection[Choice]) -> list[Test]:
        """The tests of these models, in the order in which they run."""
        return [test for test in list(self._tests.values()) if test.choice in choices]


@st.cache_resource(show_spinner=False)
def queue() -> Queue:
    """The queue of this server, shared by all sessions."""
    return Queue()


def measured(choices: Collection[Choice]) -> list[Measured]:
    """The results of these models, if tested."""
    return [test.found for test in queue().tests(choices) if test.found]


def measure(choice: Choice, progress: Callable[[float], None]) -> Measured:
    """Test a model; `progress` receives the share that is done."""
    model, config = choice.load(), choice.config
    if not choice.classes:  # no table is made of what is no digit
        by_views = comparison.subject_mse_by_views(model, choice.collection, progress=progress)
        return Measured(Row(choice.name, choice.title, True, {}), by_views)
    parts = 2 if model.takes_new_digits else 1
    errors = comparison.table_figures(
        model, config.data, config.seed, lambda share: progress(share / parts)
    )
    label = comparison.table_label(choice.classes)
    by_views = {}
    if model.takes_new_digits:
        by_views = comparison.mse_by_views(
            model, label, progress=lambda share: progress((1 + share) / parts)
        )
    seconds, processor, digits, epochs = Spread(), Spread(), None, config.training.epochs
    if choice.own and (lines := (run := runs.open_run(choice.path.parent)).metrics()):
        seconds, epochs = Spread((seconds_an_epoch(run),)), int(lines[-1]["epoch"])
        processor = Spread.of(lines[-1].get("cpu_seconds"))
        if config.data.source == "embedded":
            digits = sources.build_source(config)[0].digits
    row = Row(
        choice.name,
        title(model),
        True,
        {name: Spread.of(value) for name, value in errors.items()},
        seconds,
        parameters=sum(p.numel() for p in model.parameters()),
        epochs=epochs,
        processor=processor,
    )
    return Measured(row, by_views, digits, label)
