"""A class of thirty on one server: real websocket sessions, a few browsers, one run training."""

import asyncio
import json
import os
import random
import signal
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles

import psutil
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect

from fgpvae import background, pretrained_names, runs
from fgpvae.presets import preset
from tests import browser
from tests.stress.table import Row, none
from ui.shell import frame

SESSIONS, BROWSERS, SECONDS = 30, 3, 120
THINK = 5.0, 15.0  # seconds that a person looks at a page
PATIENCE = 90.0  # seconds for one answer
PAGES = [name for name, _ in frame.PAGES]
DONE = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


@dataclass
class Record:
    """What all sessions together saw."""

    answers: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    megabytes: float = 0.0
    ticks: int = 0

    def times(self) -> list[float]:
        return [seconds for each in self.answers.values() for seconds in each]


class Session:
    """What a browser tab says to the server, without the browser."""

    def __init__(self, socket: ClientConnection, record: Record, seed: int) -> None:
        self.socket, self.record, self.random = socket, record, random.Random(seed)
        self.page, self.query = PAGES[0], ""
        self.fragments: dict[str, float] = {}  # those that run by themselves, and how often

    def link(self, page: str) -> str:
        """A page as people link to it: another digit, another model."""
        digit = f"{self.random.randrange(10)}-{self.random.randrange(40)}"
        model = self.random.choice(pretrained_names())
        angle = self.random.randrange(360)
        return {
            "rotate": f"digit=new-{digit}&angle={angle}&model={model}",
            "extrapolate": f"digit=new-{digit}&shown={angle // 15 * 15}",
            "latents": f"model={model}",
        }.get(page, "")

    async def visit(self, page: str) -> None:
        self.page, self.query = page, self.link(page)
        self.fragments = {}
        began = time.perf_counter()
        if await self.ask():
            self.record.answers[page].append(time.perf_counter() - began)

    async def ask(self, fragment: str = "") -> bool:
        """Run the page, or a part of it, and read until the server says that it is done."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = self.page
        if fragment:
            message.rerun_script.fragment_id = fragment
            message.rerun_script.is_auto_rerun = True
        await self.socket.send(message.SerializeToString())
        try:
            async with asyncio.timeout(PATIENCE):
                return await self.listen()
        except TimeoutError:
            self.record.errors.append(f"{self.page}: no answer within {PATIENCE:.0f} s")
            return False

    async def listen(self) -> bool:
        good = True
        while True:
            content = await self.socket.recv()
            assert isinstance(content, bytes)
            self.record.megabytes += len(content) / 2**20
            message = ForwardMsg.FromString(content)
            match message.WhichOneof("type"):
                case "script_finished":
                    if message.script_finished in DONE:
                        return good
                    if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                        self.record.errors.append(f"{self.page}: does not compile")
                        return False
                case "auto_rerun":
                    self.fragments[message.auto_rerun.fragment_id] = message.auto_rerun.interval
                case "page_not_found":
                    self.record.errors.append(f"{self.page}: not found")
                    good = False
                case "delta":
                    element = message.delta.new_element
                    kind = element.WhichOneof("type")
                    error = kind == "alert" and element.alert.format == Alert.ERROR
                    if kind == "exception" or error:
                        what = element.exception.message or element.alert.body
                        self.record.errors.append(f"{self.page}: {what}")
                        good = False

    async def look(self, seconds: float) -> None:
        """Stay on a page; what runs by itself goes on."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(left, *self.fragments.values(), 1.0))
            if time.monotonic() < end:
                for fragment in list(self.fragments):
                    self.record.ticks += 1
                    await self.ask(fragment)


async def person(address: str, record: Record, seed: int, seconds: float, think: tuple) -> None:
    """One session that moves about for a while."""
    url = address.replace("http", "ws") + "/_stcore/stream"
    try:
        async with connect(url, subprotocols=["streamlit"], max_size=None) as socket:
            session = Session(socket, record, seed)
            end, turn = time.monotonic() + seconds, seed
            await asyncio.sleep(session.random.uniform(0, think[0]))
            while time.monotonic() < end:
                await session.visit(PAGES[turn % len(PAGES)])
                await session.look(session.random.uniform(*think))
                turn += 1 if session.random.random() < 0.7 else 2
    except Exception as error:  # a lost connection is an error like any other
        record.errors.append(f"{type(error).__name__}: {error}")


async def crowd(address: str, record: Record, count: int, seconds: float, think: tuple) -> None:
    people = (person(address, record, seed, seconds, think) for seed in range(count))
    await asyncio.gather(*people)


def browse(address: str, record: Record, count: int, seconds: float) -> None:
    """Real browsers, each going from page to page."""
    end = time.monotonic() + seconds
    with browser.chromium() as chrome:
        tabs = [chrome.new_context().new_page() for _ in range(count)]
        watches = [browser.Watch(tab) for tab in tabs]
        turn = 0
        while time.monotonic() < end:
            for tab in tabs:
                name = PAGES[turn % len(PAGES)]
                began = time.perf_counter()
                tab.goto(f"{address}/{name}")
                tab.wait_for_selector("h1", timeout=1000 * PATIENCE)
                browser.settle(tab, 1000 * PATIENCE)
                record.answers["in Chromium"].append(time.perf_counter() - began)
                if tab.locator("[data-testid=stException]").count():
                    record.errors.append(f"{name}: an exception is shown")
                turn += 1
            time.sleep(2)
        for watch in watches:
            known = "Failed to load resource"  # Streamlit asks below the page's address first
            record.errors += [text for text in watch.errors if known not in text]


def listener(address: str) -> psutil.Process:
    """The process that serves an address."""
    port = int(address.rsplit(":", 1)[1])
    found = psutil.net_connections("tcp")
    pid = next(c.pid for c in found if c.status == psutil.CONN_LISTEN and c.laddr.port == port)
    return psutil.Process(pid)


def census(server: psutil.Process, path: Path) -> dict:
    path.unlink(missing_ok=True)
    server.send_signal(signal.SIGUSR1)
    end = time.monotonic() + 60
    while not path.exists():
        if time.monotonic() > end:
            raise TimeoutError("the server does not answer a signal")
        time.sleep(0.1)
    return json.loads(path.read_text())


@dataclass
class Trial:
    """What a crowd found."""

    record: Record
    alone_mb: float  # of the server after one session saw everything
    crowded_mb: float
    held: dict  # in its memory at the end
    trained: float  # epochs of the run meanwhile


def trial(
    sessions: int, browsers: int, seconds: float, think: tuple = THINK, whole: bool = True
) -> Trial:
    """`whole` is with everything seen before, and with a run that trains."""
    os.environ["NO_PROXY"] = "localhost"  # loopback only
    with tempfile.TemporaryDirectory() as folder:
        root, path = Path(folder) / "runs", Path(folder) / "census.json"
        environment = {"FGPVAE_RUNS": str(root), "STRESS_CENSUS": str(path)}
        with browser.serve("app.py", module="tests.stress.server", **environment) as address:
            server, first = listener(address), Record()
            for _ in range(2 * whole):  # everything, and once more so that nothing is new
                asyncio.run(tour(address, first))
            alone = server.memory_info().rss / 2**20
            record = Record(errors=first.errors)
            run = training(root) if whole else None
            thread = threading.Thread(target=browse, args=(address, record, browsers, seconds))
            if browsers:
                thread.start()
            asyncio.run(crowd(address, record, sessions, seconds, think))
            if browsers:
                thread.join()
            crowded = server.memory_info().rss / 2**20
            held = census(server, path)
            trained = end(run) if run else 0.0
    return Trial(record, alone, crowded, held, trained)


def training(root: Path) -> runs.Run:
    """A run that trains for as long as one looks, from its first step on."""
    run = background.start(root, "load", preset("quick", ("training.epochs=5000",)))
    while runs.open_run(run.path).state == runs.PREPARING:
        time.sleep(0.2)
    return run


def end(run: runs.Run) -> float:
    """Stop it; how many epochs it has come."""
    background.stop(run)
    while runs.open_run(run.path).active:
        time.sleep(0.2)
    background.reap()
    return runs.open_run(run.path).epoch


async def tour(address: str, record: Record) -> None:
    """One session that sees every page, and every model."""
    url = address.replace("http", "ws") + "/_stcore/stream"
    async with connect(url, subprotocols=["streamlit"], max_size=None) as socket:
        session = Session(socket, record, 0)
        for page in PAGES:
            await session.visit(page)
        for name in pretrained_names():
            for page in ("rotate", "latents"):
                session.page, session.query = page, f"model={name}"
                await session.ask()


def rows() -> Iterator[Row]:
    found = trial(SESSIONS, BROWSERS, SECONDS)
    part, record = "load", found.record
    seen = [each for name, part in record.answers.items() if name != "in Chromium" for each in part]
    tried = f"{SESSIONS} sessions + {BROWSERS} Chromium, {SECONDS} s, {len(record.times())} pages"
    row = none(part, "errors", len(record.times()), record.errors)
    yield Row(part, row.what, tried, row.found, row.target, row.met)
    p95 = quantiles(seen, n=20)[-1]
    found_text = f"median {1000 * median(seen):.0f} ms, 95th percentile {1000 * p95:.0f} ms"
    yield Row(part, "answer of a page, websocket sessions", f"{len(seen)}", found_text)
    for name, times in sorted(record.answers.items()):
        yield Row(part, f"answer, {name}", f"{len(times)}", f"median {1000 * median(times):.0f} ms")
    count = SESSIONS + BROWSERS
    each = (found.crowded_mb - found.alone_mb) / count
    text = f"{each:.1f} MB; the server {found.alone_mb:.0f} MB before, {found.crowded_mb:.0f} after"
    yield Row(part, "memory of a session", f"{count} sessions", text)
    held = found.held
    for what, one in (("models", "model"), ("digits", "digit")):
        copies, different = held[what], held[f"different_{what}"]
        text = f"{copies}, {different} different, {held[f'{one}_mb']:.1f} MB in all"
        met = copies == different
        yield Row(part, f"{what} in memory", f"{count} sessions", text, "each once", met)
    text = f"{found.trained:.0f} epochs of quick; {record.ticks} looks at it"
    yield Row(part, "the run that trained meanwhile", "1", text, "> 0", found.trained > 0)
