"""A person in Chromium who tries everything: `python -m tests.stress --only walk`.

Each step takes something that is visible, by its role and its label, and does to it what a hand
does. The walk ends with the first finding, or when its time is over. `--seed` replays the choices,
as far as the pages show the same again.

A page is at rest when Streamlit says so for an instant. Parts that run by themselves, such as the
curves of a training run, leave such instants between two of their runs, so they count as rest; a
script that hangs leaves none. It has ten seconds for that, and on a machine that is busy with
other work as many times longer as its load is higher than its cores. A page that the server shows
for the first time has as long as it takes: a cold server is timed elsewhere.
"""

import random
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psutil
from playwright.sync_api import Browser, Error, TimeoutError

from tests import tiny
from tests.browser import IDLE, LIMITS, PATIENCE, ROOT, chromium, serve
from tests.stress.person import REST, Person
from tests.stress.table import Row

MISSES = 12  # in a row: nothing on the page can be reached
CONNECTED = "[data-testid=stApp][data-test-connection-state=CONNECTED]"


class Walk(Person):
    """Steps at random, and a look after each of them at all that must not be."""

    def __init__(self, chrome: Browser, address: str, log: Path, seed: int, seconds: float) -> None:
        super().__init__(chrome, address, seed, seconds)
        self.log, self.misses, self.missed = log, 0, 0
        self.warm: set[str] = set()  # pages that the server has shown

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
        name = urlsplit(self.page.url).path
        limit = self.rest if name in self.warm else PATIENCE
        try:
            self.page.wait_for_selector(IDLE, timeout=limit, state="attached")
        except TimeoutError:
            return f"the page does not come to rest within {limit / 1000:.0f} s{self.trouble()}"
        self.warm.add(name)
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


def trial(
    chrome: Browser, folder: Path, minutes: float, seed: int, seconds: float = REST
) -> tuple[Walk, str]:
    """Walk on a server of its own; gives what was done and the finding, if there is one.

    A page has `seconds` to come to rest.
    """
    root, log = folder / "runs", folder / "log"
    tiny.train(root, "seedling", "data.views=2")
    try:
        with serve(ROOT / "app.py", log=log, FGPVAE_RUNS=str(root), **LIMITS) as address:
            walk = Walk(chrome, address, log, seed, seconds)
            return walk, finding_of(walk, minutes)
    finally:
        end_training(root)


def finding_of(walk: Walk, minutes: float) -> str:
    """Walk for some minutes, or until something is wrong."""
    began, finding = time.monotonic(), ""
    while not finding and time.monotonic() - began < 60 * minutes:
        try:
            finding = walk.step()
        except Error as error:  # the page or the browser is gone
            finding = f"{error.message.splitlines()[0]} {walk.trouble()}"
    walk.desk.close()
    walk.phone.close()
    taken = (time.monotonic() - began) / 60
    pages = ", ".join(f"{name} {count}" for name, count in sorted(walk.pages.items()))
    print(
        f"walk: seed {walk.seed}, {walk.steps} steps ({walk.missed} reached nothing) on {pages}; "
        f"{taken:.1f} minutes, {int(bool(finding))} findings",
        flush=True,
    )
    if finding:
        print(f"FINDING: {finding}\nafter", *walk.last, sep="\n", file=sys.stderr, flush=True)
    return finding


def rows(minutes: float, seed: int) -> Iterator[Row]:
    folder = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
    with folder as name, chromium() as chrome:
        walk, finding = trial(chrome, Path(name), minutes, seed)
    tried = f"seed {seed}, {walk.steps} steps in {minutes:g} minutes"
    yield Row("walk", "what breaks", tried, finding[:200] or "0", "0", not finding)
