"""A class of thirty on one server: real websocket sessions, one run training."""

import asyncio
import os
import random
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import psutil
from streamlit.proto.Alert_pb2 import Alert
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Subprotocol

from fgpvae import pretrained_names, runs
from fgpvae.runs import queue
from fgpvae.training.presets import preset
from tests import browser
from tests.stress.table import Row, none
from tests.waiting import eventually
from ui.shell import frame

PART, SESSIONS, SECONDS = "load", 30, 120
MANY = 100  # sessions for which no error is all that counts
MEGABYTES = 6  # that a session may take
THINK = 5.0, 15.0  # seconds that a person looks at a page
PATIENCE = 300.0  # seconds for one answer; one that comes late counts with its time
PAGES = [name for name, _ in frame.PAGES]
MODELS = tuple(pretrained_names())
DONE = ForwardMsg.FINISHED_SUCCESSFULLY, ForwardMsg.FINISHED_FRAGMENT_RUN_SUCCESSFULLY


@dataclass
class Record:
    """What all sessions together saw."""

    seconds: list[float] = field(default_factory=list)  # until a page was there
    errors: list[str] = field(default_factory=list)

    def rows(self, sessions: int) -> Iterator[Row]:
        tried, pages = f"{sessions} sessions", len(self.seconds)
        yield none(PART, f"errors, {tried}", pages, self.errors)
        middle, high = 1000 * np.percentile(self.seconds, [50, 95])
        found = f"median {middle:.0f} ms, 95th percentile {high:.0f} ms"
        yield Row(PART, f"answer of a page, {tried}", f"{pages} pages", found)


class Session:
    """What a browser tab says to the server, without the browser."""

    def __init__(
        self, socket: ClientConnection, record: Record, seed: int, models: Sequence[str]
    ) -> None:
        self.socket, self.record, self.random = socket, record, random.Random(seed)
        self.models = models
        self.page, self.query = PAGES[0], ""
        self.fragments: dict[str, float] = {}  # those that run by themselves, and how often

    def link(self, page: str) -> str:
        """A page as people link to it: another digit, another model."""
        digit = f"{self.random.randrange(10)}-{self.random.randrange(40)}"
        model = self.random.choice(self.models)
        angle = self.random.randrange(360)
        return {
            "rotate": f"subject=new-{digit}&angle={angle}&model={model}",
            "extrapolate": f"subject=new-{digit}&shown={angle // 15 * 15}",
            "latents": f"model={model}",
        }.get(page, "")

    async def visit(self, page: str) -> None:
        self.page, self.query = page, self.link(page)
        self.fragments = {}
        began = time.perf_counter()
        try:
            await self.ask()
        finally:  # one that was waited for in vain took at least as long
            self.record.seconds.append(time.perf_counter() - began)

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
            message = ForwardMsg.FromString(content)
            match message.WhichOneof("type"):
                case "script_finished":
                    if message.script_finished == ForwardMsg.FINISHED_SUCCESSFULLY:
                        self.fragments = announced  # the whole page ran: others are gone
                    if message.script_finished in DONE:
                        return
                case "new_session":
                    announced = {}
                case "auto_rerun":
                    announced[message.auto_rerun.fragment_id] = message.auto_rerun.interval
                    self.fragments |= announced
                case "delta":
                    element = message.delta.new_element
                    kind = element.WhichOneof("type")
                    error = kind == "alert" and element.alert.format == Alert.ERROR
                    if kind == "exception" or error:
                        what = element.exception.message or element.alert.body
                        self.record.errors.append(f"{self.page}: {what}")

    async def look(self, seconds: float) -> None:
        """Stay on a page; what runs by itself goes on."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            await asyncio.sleep(min(left, *self.fragments.values(), 1.0))
            if time.monotonic() < end:
                for fragment in list(self.fragments):
                    if fragment in self.fragments:  # the one before may have run the whole page
                        await self.ask(fragment)


@asynccontextmanager
async def connected(
    address: str, record: Record, seed: int = 0, models: Sequence[str] = MODELS
) -> AsyncIterator[Session]:
    url = address.replace("http", "ws") + "/_stcore/stream"
    # no pings: nor does a browser give up where a server is slow
    options = {"subprotocols": [Subprotocol("streamlit")], "max_size": None, "ping_interval": None}
    async with connect(url, **options) as socket:
        yield Session(socket, record, seed, models)


async def person(address: str, record: Record, seed: int, seconds: float) -> None:
    """One session that moves about for a while; a page is asked for when the last is there."""
    try:
        async with connected(address, record, seed) as session:
            end, turn = time.perf_counter() + seconds, seed
            await asyncio.sleep(session.random.uniform(0, THINK[0]))
            while time.perf_counter() < end:
                await session.visit(PAGES[turn % len(PAGES)])
                await session.look(session.random.uniform(*THINK))
                turn += 1 if session.random.random() < 0.7 else 2
    except Exception as error:  # a lost connection is an error like any other
        record.errors.append(f"{type(error).__name__}: {error}")


async def crowd(address: str, sessions: int, seconds: float) -> Record:
    """What sessions see that come all at once."""
    record = Record()
    await asyncio.gather(*(person(address, record, seed, seconds) for seed in range(sessions)))
    return record


async def tour(address: str, record: Record, models: Sequence[str] = MODELS) -> None:
    """One session that sees every page, and every model."""
    async with connected(address, record, models=models) as session:
        for page in PAGES:
            await session.visit(page)
        for name in models:
            for page in ("rotate", "latents"):
                session.page, session.query = page, f"model={name}"
                await session.ask()


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


@contextmanager
def training(root: Path) -> Iterator[runs.Run]:
    """A run that trains meanwhile, from its first step on."""
    run = queue.start(root, "load", preset("quick", ("training.epochs=5000",)))
    eventually(lambda: runs.open_run(run.path).state != runs.PREPARING)
    try:
        yield run
    finally:
        queue.stop(run)
        eventually(lambda: not runs.open_run(run.path).active)


def rows() -> Iterator[Row]:
    """What thirty sessions find on one server, then a hundred."""
    os.environ["NO_PROXY"] = "localhost"  # loopback only
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "runs"
        with browser.serve("app.py", FGPVAE_RUNS=str(root)) as address:
            server, first = listener(address), Record()
            for _ in range(2):  # everything, and once more so that nothing is new
                asyncio.run(tour(address, first))
            yield none(PART, "errors, one session", len(first.seconds), first.errors)
            alone = megabytes(server)
            with training(root) as run:
                seen = asyncio.run(crowd(address, SESSIONS, SECONDS))
                crowded = megabytes(server)
            yield from seen.rows(SESSIONS)
            each, most = (crowded - alone) / SESSIONS, f"at most {MEGABYTES}"
            text = f"{each:.1f} MB; the server {alone:.0f} MB before, {crowded:.0f} after"
            met = each <= MEGABYTES
            yield Row(PART, "memory of a session", f"{SESSIONS} sessions", text, most, met)
            epochs = runs.open_run(run.path).epoch
            text = f"{epochs:.0f} epochs of quick"
            yield Row(PART, "the run that trained meanwhile", "1", text, "> 0", epochs > 0)
            yield from asyncio.run(crowd(address, MANY, SECONDS / 2)).rows(MANY)
