"""A class of thirty on one server: real websocket sessions, a few browsers, one run training."""

import asyncio
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections import defaultdict
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from http.cookies import SimpleCookie
from pathlib import Path
from statistics import median, quantiles
from typing import Any

import psutil
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from fgpvae import pretrained_names
from tests import browser
from tests.stress.table import Row, none
from ui.shell import frame

SESSIONS, BROWSERS, SECONDS = 30, 3, 120
MANY = 100  # sessions for which no error is all that counts
MEGABYTES = 6  # that a session may take
THINK = 5.0, 15.0  # seconds that a person looks at a page
PATIENCE = 300.0  # seconds for one answer; one that comes late counts with its time
PROGRESS = 15.0  # seconds between two lines that say how far it is
PAGES = [name for name, _ in frame.PAGES]
CHROMIUM = "in Chromium"
PAINTED = "fgpvae.painted"  # the component that waits until the browser has painted
DIALS = "fgpvae.dial", "fgpvae.track"
DONE = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


@dataclass
class Record:
    """What all sessions together saw."""

    answers: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)
    megabytes: float = 0.0
    ticks: int = 0
    before: int = 0  # pages answered during the warm-up, whose times do not count

    def times(self) -> list[float]:
        return [seconds for each in self.answers.values() for seconds in each]

    def pages(self) -> list[float]:
        """Those of websocket sessions alone."""
        return [each for name, part in self.answers.items() if name != CHROMIUM for each in part]

    def summary(self) -> str:
        return f"{summary(self.pages())}; {len(self.errors)} errors"


def summary(seconds: Sequence[float]) -> str:
    """Median and 95th percentile, where there are any."""
    if not seconds:
        return "no page was answered"
    middle, high = 1000 * median(seconds), 1000 * p95(seconds)
    return f"{len(seconds)} pages, median {middle:.0f} ms, 95th percentile {high:.0f} ms"


def p95(seconds: Sequence[float]) -> float:
    return quantiles(seconds, n=20, method="inclusive")[-1] if len(seconds) > 1 else seconds[0]


class Session:
    """What a browser tab says to the server, without the browser."""

    def __init__(
        self,
        socket: ClientConnection,
        record: Record,
        seed: int,
        models: Sequence[str],
        counts_from: float = 0.0,
    ) -> None:
        self.socket, self.record, self.random = socket, record, random.Random(seed)
        self.models, self.counts_from = models, counts_from
        self.page, self.query = PAGES[0], ""
        self.fragments: dict[str, float] = {}  # those that run by themselves, and how often
        self.loaded: set[str] = set()  # decoders, which a browser keeps

    def link(self, page: str) -> str:
        """A page as people link to it: another digit, another model."""
        digit = f"{self.random.randrange(10)}-{self.random.randrange(40)}"
        model = self.random.choice(self.models)
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
        try:
            await self.ask()
        finally:  # one that was waited for in vain took at least as long
            if (end := time.perf_counter()) < self.counts_from:
                self.record.before += 1
            else:
                self.record.answers[page].append(end - began)

    async def ask(self, fragment: str = "") -> None:
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
                await self.listen()
        except TimeoutError:
            raise TimeoutError(f"{self.page}: no answer within {PATIENCE:.0f} s") from None

    async def listen(self) -> None:
        announced: dict[str, float] = {}  # by the present run
        while True:
            content = await self.socket.recv()
            assert isinstance(content, bytes)
            self.record.megabytes += len(content) / 2**20
            message = ForwardMsg.FromString(content)
            match message.WhichOneof("type"):
                case "script_finished":
                    if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                        self.fragments = announced  # the whole page ran: others are gone
                    if message.script_finished in DONE:
                        return
                    if message.script_finished == ForwardMsg.FINISHED_WITH_COMPILE_ERROR:
                        self.record.errors.append(f"{self.page}: does not compile")
                        return
                case "new_session":
                    announced = {}
                case "auto_rerun":
                    announced[message.auto_rerun.fragment_id] = message.auto_rerun.interval
                    self.fragments |= announced
                case "page_not_found":
                    self.record.errors.append(f"{self.page}: not found")
                case "delta":
                    element = message.delta.new_element
                    kind = element.WhichOneof("type")
                    error = kind == "alert" and element.alert.format == Alert.ERROR
                    if kind == "exception" or error:
                        what = element.exception.message or element.alert.body
                        self.record.errors.append(f"{self.page}: {what}")
                    component = element.bidi_component
                    if component.component_name in (PAINTED, *DIALS):
                        await self.answer(component.component_name, json.loads(component.json))

    async def answer(self, component: str, sent: Any) -> None:
        """Do what the script of a component does in a browser."""
        if not isinstance(sent, list):  # of an older commit
            return
        (data,) = sent
        if component == PAINTED:  # pictures are painted: it is sent charts after that
            await asyncio.to_thread(self.request, f"painted/{data['word']}", "POST")
            return
        for network in {each["network"] for each in (data, data["beside"]) if each} - self.loaded:
            self.loaded.add(network)
            size = await asyncio.to_thread(self.request, f"weights/{network}")
            self.record.megabytes += size / 2**20

    def request(self, path: str, method: str = "GET") -> int:
        """Ask the server as a browser does beside its websocket; gives the bytes of the answer."""
        asked = self.socket.request
        assert asked is not None
        cookie = {"Cookie": asked.headers.get("Cookie", "")}
        request = urllib.request.Request(
            f"http://{asked.headers['Host']}/{path}", method=method, headers=cookie
        )
        with urllib.request.urlopen(request, timeout=PATIENCE) as found:
            return len(found.read())

    async def look(self, seconds: float) -> None:
        """Stay on a page; what runs by itself goes on."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(left, *self.fragments.values(), 1.0))
            if time.monotonic() < end:
                for fragment in list(self.fragments):
                    if fragment in self.fragments:  # the one before may have run the whole page
                        self.record.ticks += 1
                        await self.ask(fragment)


@dataclass(frozen=True)
class Crowd:
    """People who move about an app for a while."""

    sessions: int = SESSIONS
    browsers: int = BROWSERS
    seconds: float = SECONDS
    think: tuple[float, float] = THINK
    models: tuple[str, ...] = tuple(pretrained_names())
    cookie: str = ""  # that a proxy sets, by which it knows a session
    warm_up: float = 0.0  # seconds before the others, in which answers do not count

    async def visit(self, address: str, record: Record) -> None:
        progress = asyncio.create_task(_say_how_far(record))
        await asyncio.gather(*(self._person(address, record, n) for n in range(self.sessions)))
        progress.cancel()

    async def _person(self, address: str, record: Record, seed: int) -> None:
        """One session that moves about for a while; a page is asked for when the last is there."""
        try:
            async with self.connected(address) as socket:
                begin, turn = time.perf_counter() + self.warm_up, seed
                session = Session(socket, record, seed, self.models, begin)
                await asyncio.sleep(session.random.uniform(0, self.think[0]))
                while time.perf_counter() < begin + self.seconds:
                    await session.visit(PAGES[turn % len(PAGES)])
                    await session.look(session.random.uniform(*self.think))
                    turn += 1 if session.random.random() < 0.7 else 2
        except Exception as error:  # a lost connection is an error like any other
            record.errors.append(f"{type(error).__name__}: {error}")

    @asynccontextmanager
    async def connected(self, address: str) -> AsyncIterator[ClientConnection]:
        """A websocket, with the cookie that the page came with."""
        headers: dict[str, str] = {}
        if self.cookie:
            value = await asyncio.to_thread(self._given, address)
            headers["Cookie"] = f"{self.cookie}={value}"
        url = address.replace("http", "ws") + "/_stcore/stream"
        protocols = [Subprotocol("streamlit")]
        async with connect(
            url,
            subprotocols=protocols,
            max_size=None,
            additional_headers=headers,
            ping_interval=None,  # nor does a browser give up where a server is slow
        ) as socket:
            yield socket

    def _given(self, address: str) -> str:
        with urllib.request.urlopen(address, timeout=PATIENCE) as answer:
            cookies = SimpleCookie(answer.headers.get("Set-Cookie", ""))
        return cookies[self.cookie].value

    async def tour(self, address: str, record: Record) -> None:
        """One session that sees every page, and every model."""
        async with self.connected(address) as socket:
            session = Session(socket, record, 0, self.models)
            for page in PAGES:
                await session.visit(page)
            for name in self.models:
                for page in ("rotate", "latents"):
                    session.page, session.query = page, f"model={name}"
                    await session.ask()

    def come(self, address: str, record: Record) -> None:
        """Websocket sessions and browsers, all at once."""
        thread = threading.Thread(
            target=browse, args=(address, record, self.browsers, self.seconds)
        )
        if self.browsers:
            thread.start()
        asyncio.run(self.visit(address, record))
        if self.browsers:
            thread.join()


async def _say_how_far(record: Record) -> None:
    began = time.monotonic()
    while True:
        await asyncio.sleep(PROGRESS)
        seconds, load = time.monotonic() - began, os.getloadavg()[0]
        text = f"  {seconds:.0f} s: {record.summary()}; load average {load:.1f}"
        print(text, file=sys.stderr, flush=True)


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
                record.answers[CHROMIUM].append(time.perf_counter() - began)
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


def megabytes(process: psutil.Process) -> float:
    """Resident memory of its own; pages of files come and go as the system likes."""
    found = process.memory_info()
    return (found.rss - found.shared) / 2**20


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
    sessions: int
    spent: float  # seconds of the processor that the server took for them

    @property
    def session_mb(self) -> float:
        return (self.crowded_mb - self.alone_mb) / self.sessions

    @property
    def work(self) -> float:
        """Seconds of the processor for a page, with what runs by itself on it."""
        return self.spent / max(len(self.record.times()) + self.record.before, 1)


def trial(crowd: Crowd, sources: Path = browser.ROOT, whole: bool = True) -> Trial:
    """`whole` is with everything seen before, and with a run that trains."""
    os.environ["NO_PROXY"] = "localhost"  # loopback only
    with tempfile.TemporaryDirectory() as folder:
        root, path = Path(folder) / "runs", Path(folder) / "census.json"
        environment = {"FGPVAE_RUNS": str(root), "STRESS_CENSUS": str(path)}
        environment["FGPVAE_CHARTS_WAIT"] = "10"
        module = "tests.stress.server"
        with browser.serve("app.py", module, sources, **environment) as address:
            server, first = listener(address), Record()
            for _ in range(2 * whole):  # everything, and once more so that nothing is new
                asyncio.run(crowd.tour(address, first))
            alone = megabytes(server)
            record = Record(errors=first.errors)
            with training(root, sources) if whole else nullcontext({}) as trained:
                began = sum(server.cpu_times()[:2])
                crowd.come(address, record)
                spent = sum(server.cpu_times()[:2]) - began
                crowded = megabytes(server)
                held = census(server, path)
    count, epochs = crowd.sessions + crowd.browsers, trained.get("epochs", 0.0)
    return Trial(record, alone, crowded, held, epochs, count, spent)


START = """
import sys, time
from pathlib import Path
from fgpvae import background, runs
from fgpvae.presets import preset
run = background.start(Path(sys.argv[1]), "load", preset("quick", ("training.epochs=5000",)))
while runs.open_run(run.path).state == runs.PREPARING:
    time.sleep(0.2)
"""
STOP = """
import sys, time
from pathlib import Path
from fgpvae import background, runs
path = Path(sys.argv[1]) / "load"
background.stop(runs.open_run(path))
while runs.open_run(path).active:
    time.sleep(0.2)
print(runs.open_run(path).epoch)
"""


@contextmanager
def training(root: Path, sources: Path = browser.ROOT) -> Iterator[dict[str, float]]:
    """A run that trains meanwhile, from its first step on; gives its epochs in the end."""
    found: dict[str, float] = {}
    _python(START, root, sources)
    try:
        yield found
    finally:
        found["epochs"] = float(_python(STOP, root, sources))


def _python(code: str, root: Path, sources: Path) -> str:
    """Run with the sources of the server, which know the format of its runs."""
    command = [sys.executable, "-c", code, str(root)]
    environment = {**os.environ, "PYTHONPATH": str(sources)}
    done = subprocess.run(
        command, cwd=sources, env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout


def rows() -> Iterator[Row]:
    yield from report("load", Crowd(), trial(Crowd()))
    yield from many()


def report(part: str, crowd: Crowd, found: Trial) -> Iterator[Row]:
    """What a crowd found on one server, a row each."""
    record, count = found.record, crowd.sessions + crowd.browsers
    yield errors(part, "errors", crowd, record)
    yield answers(part, record)
    for name, times in sorted(record.answers.items()):
        yield Row(part, f"answer, {name}", f"{len(times)}", f"median {1000 * median(times):.0f} ms")
    each = found.session_mb
    text = f"{each:.1f} MB; the server {found.alone_mb:.0f} MB before, {found.crowded_mb:.0f} after"
    yield Row(
        part,
        "memory of a session",
        f"{count} sessions",
        text,
        f"at most {MEGABYTES}",
        each <= MEGABYTES,
    )
    held = found.held
    for what, one in (("models", "model"), ("digits", "digit")):
        copies, different = held[what], held[f"different_{what}"]
        text = f"{copies}, {different} different, {held[f'{one}_mb']:.1f} MB in all"
        met = copies == different
        yield Row(part, f"{what} in memory", f"{count} sessions", text, "each once", met)
    text = f"{found.trained:.0f} epochs of quick; {record.ticks} looks at it"
    yield Row(part, "the run that trained meanwhile", "1", text, "> 0", found.trained > 0)


def errors(part: str, what: str, crowd: Crowd, record: Record) -> Row:
    row = none(part, what, len(record.times()), record.errors)
    tried = f"{crowd.sessions} sessions + {crowd.browsers} Chromium, {crowd.seconds:g} s"
    return replace(row, tried=f"{tried}, {len(record.times())} pages")


def answers(part: str, record: Record) -> Row:
    seen = record.pages()
    return Row(part, "answer of a page, websocket sessions", f"{len(seen)}", summary(seen))


def many() -> Iterator[Row]:
    """A hundred sessions at once."""
    crowd = Crowd(sessions=MANY, browsers=0, seconds=60)
    record = trial(crowd).record
    yield errors("load", "errors with many sessions", crowd, record)
    yield Row("load", "answer with many sessions", f"{MANY} sessions", summary(record.pages()))
