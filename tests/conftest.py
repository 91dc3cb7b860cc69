"""What the tests of several files share."""

import os
import random
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser

from tests.browser import LIMITS, ROOT, Tabs, Visit, chromium, serve

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: one thread for each worker of pytest
# the same examples every time, and a slow machine is no failure
checks = list(HealthCheck)
settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=checks)
settings.load_profile("same")

SLOW_FILES = {  # pages, processes, servers, packages, whole commands
    "test_app",
    "test_queue",
    "test_cli",
    "test_compare",
    "test_deploy",
    "test_distributed",
    "test_docs_run",
    "test_experiments",
    "test_extrapolate",
    "test_package",
    "test_photographs",
    "test_public",
    "test_stress",
    "test_train",
    "test_train_browser",
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark as slow what needs a browser, and files of pages and processes; their files come first.

    Workers take one file after the other. Browsers wait much, so their files are begun before the
    others, which fill the cores; the short ones at the end fill what is uneven.
    """
    browsers = {item.path for item in items if "browser" in getattr(item, "fixturenames", ())}
    for item in items:
        if "browser" in getattr(item, "fixturenames", ()) or item.path.stem in SLOW_FILES:
            item.add_marker(pytest.mark.slow)
    long = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: (item.path not in browsers, item.path not in long))


@pytest.fixture(autouse=True)
def seeds() -> None:
    """The same random numbers for a test, whichever came before it."""
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """A real Chromium, one for each worker."""
    with chromium() as started:
        yield started


@pytest.fixture(scope="session")
def tabs(browser: Browser) -> Tabs:
    """Its tabs, which the tests share one after the other."""
    return Tabs(browser)


@pytest.fixture(scope="session")
def every_kind(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of every kind of model with fresh weights, which no test changes."""
    from tests import small_runs  # torch: only where tests run

    root = tmp_path_factory.mktemp("every-kind") / "runs"
    small_runs.make(root)
    return root


@pytest.fixture(scope="session")
def address(every_kind: Path) -> Iterator[str]:
    """The app with these runs: one server a worker, for files that bring no runs."""
    with serve(ROOT / "app.py", FGPVAE_RUNS=str(every_kind), **LIMITS) as started:
        yield started


@pytest.fixture
def visit(tabs: Tabs, address: str) -> Iterator[Visit]:
    """A tab of the app in which nothing may go wrong."""
    visit = Visit(tabs, address)
    yield visit
    visit.close()
