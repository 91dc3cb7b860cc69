"""What the tests of several files share."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser import LIMITS, ROOT, Tabs, Visit, chromium, serve

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before torch: one thread for each worker of pytest

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

    Two workers take one group after the other. What visits the app is one group, so that there is
    one server, which becomes warm once, and so is what is forked from one process; of the rest each
    file is a group. The short ones at the end fill what is uneven.
    """
    shared = "address", "forks"
    for item in items:
        needed = getattr(item, "fixturenames", ())
        if "browser" in needed or item.path.stem in SLOW_FILES:
            item.add_marker(pytest.mark.slow)
        group = next((name for name in shared if name in needed), item.path.stem)
        item.add_marker(pytest.mark.xdist_group(group))
    long = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in long)


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
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the server of all files prints."""
    return tmp_path_factory.mktemp("server") / "log"


@pytest.fixture(scope="session")
def address(every_kind: Path, log: Path) -> Iterator[str]:
    """The app with these runs: one server for all files that bring no runs of their own."""
    with serve(ROOT / "app.py", log=log, FGPVAE_RUNS=str(every_kind), **LIMITS) as started:
        yield started


@pytest.fixture
def visit(tabs: Tabs, address: str) -> Iterator[Visit]:
    """A tab of the app in which nothing may go wrong."""
    visit = Visit(tabs, address)
    yield visit
    visit.close()
