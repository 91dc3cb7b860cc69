"""A person in Chromium who tries everything: `python -m tests.stress --only walk`.

Each step takes something that is visible, by its role and its label, and does to it what a hand
does. The walk ends with the first finding, or when its time is over. `--seed` replays the choices,
as far as the pages show the same again.

A page is at rest when Streamlit says so for an instant. Parts that run by themselves, such as the
curves of a training run, leave such instants between two of their runs, so they count as rest; a
script that hangs leaves none. It has ten seconds for that, and on a machine that is busy with other
work as many times longer as its load is higher than its cores.
"""

import random
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
from playwright.sync_api import Browser, Error, TimeoutError

from tests import tiny
from tests.browser import PATIENCE, ROOT, chromium, serve, settle
from tests.stress.person import PAGES, Person
from tests.stress.table import Row

MISSES = 12  # in a row: nothing on the page can be reached
AT_REST = "[data-testid=stApp][data-test-script-state=notRunning]"
CONNECTED = "[data-testid=stApp][data-test-connection-state=CONNECTED]"
LIMITS = {  # one short run at a time
    "FGPVAE_RUNS_AT_ONCE": "1",
    "FGPVAE_RUNS_EPOCHS": "110",
    "FGPVAE_RUNS_KEPT": "8",
    "FGPVAE_RUNS_NICE": "19",
}


class Walk(Person):
    """Steps at random, and a look after each of them at all that must not be."""

    def __init__(self, chrome: Browser, address: str, log: Path, seed: int) -> None:
        super().__init__(chrome, address, seed)
        self.log, self.misses, self.missed = log, 0, 0

    def step(self) -> str:
        """Do one thing; gives what is wrong afterwards."""
        self.random = random.Random(f"{self.seed} {self.steps}")
        weights = {kind: weight / (1 + self.done[kind]) for kind, (weight, _) in self.kinds.items()}
        while weights:
            (kind,) = self.random.choices(list(weights), list(weights.values()))
            del weights[kind]
            try:
                if not self.kinds[kind][1]():
                    continue
                self.misses = 0
            except TimeoutError as error:
                self.misses += 1
                self.missed += 1
                print(f"      not reached: {error.message.splitlines()[0]}", flush=True)
            self.done[kind] += 1
            break
        return self.wrong()

    def wrong(self) -> str:
        """What must not be: the first of it, or nothing."""
        self.page.wait_for_timeout(150)  # what was done is on its way to the server
        try:
            self.page.wait_for_selector(AT_REST, timeout=self.rest, state="attached")
        except TimeoutError:
            return (
                f"the page does not come to rest within {self.rest / 1000:.0f} s" + self.trouble()
            )
        return self.trouble()

    def trouble(self) -> str:
        try:
            with urllib.request.urlopen(f"{self.address}/_stcore/health", timeout=self.rest / 1000):
                pass
        except OSError as error:
            return f"the server is gone: {error}"
        log = self.log.read_text(errors="replace")
        if "Traceback" in log:
            return "a traceback in the server's log: " + log[log.index("Traceback") :][:3000]
        for index, tab in enumerate(self.tabs, 1):
            where = f" in tab {index}, {tab.page.url}"
            for box in tab.page.get_by_test_id("stException").all_inner_texts():
                return f"an exception box{where}: {box}"
            for text in tab.page.get_by_role("dialog").all_inner_texts():
                if "Connection error" in text:
                    return f"a connection error{where}: {text}"
            if found := [*tab.errors(), *tab.refused]:
                return f"an error in the console{where}: {found[0]}"
        try:
            self.page.wait_for_selector(CONNECTED, timeout=self.rest, state="attached")
        except TimeoutError:
            return "the page has no connection"
        return f"{MISSES} steps in a row reached nothing" if self.misses >= MISSES else ""


def end_training(root: Path) -> None:
    """Kill what still trains below a directory."""
    for process in psutil.process_iter():
        try:
            if str(root) in " ".join(process.cmdline()):
                process.kill()
        except psutil.Error:
            continue


def trial(minutes: float, seed: int) -> tuple[Walk, str]:
    """Walk for some minutes; gives what was done and the finding, if there is one."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        root, log = Path(folder) / "runs", Path(folder) / "log"
        tiny.train(root, "seedling", "data.views=2")
        try:
            with (
                serve(ROOT / "app.py", log=log, FGPVAE_RUNS=str(root), **LIMITS) as address,
                chromium() as chrome,
            ):
                walk, finding = Walk(chrome, address, log, seed), ""
                for name in PAGES:  # a cold server is timed elsewhere
                    walk.page.goto(f"{address}/{name}", timeout=PATIENCE)
                    settle(walk.page)
                began = time.monotonic()
                while not finding and time.monotonic() - began < 60 * minutes:
                    try:
                        finding = walk.step()
                    except Error as error:  # the page or the browser is gone
                        finding = f"{error.message.splitlines()[0]} {walk.trouble()}"
        finally:
            end_training(root)
    taken = (time.monotonic() - began) / 60
    pages = ", ".join(f"{name} {count}" for name, count in sorted(walk.pages.items()))
    print(
        f"walk: seed {seed}, {walk.steps} steps ({walk.missed} reached nothing) on {pages}; "
        f"{taken:.1f} minutes, {int(bool(finding))} findings",
        flush=True,
    )
    if finding:
        print(f"FINDING: {finding}\nafter", *walk.last, sep="\n", file=sys.stderr, flush=True)
    return walk, finding


def rows(minutes: float, seed: int) -> Iterator[Row]:
    walk, finding = trial(minutes, seed)
    tried = f"seed {seed}, {walk.steps} steps in {minutes:g} minutes"
    yield Row("walk", "what breaks", tried, finding[:200] or "0", "0", not finding)
