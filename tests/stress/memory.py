"""How much memory of the server a session takes.

    python -m tests.stress.memory [COMMIT or a folder of sources]

Memory grows for other reasons, too: models, what is kept for all, memory that malloc has got and
nobody uses. So one session sees every page with every model first, and again; then ten
sessions come at once, each sees every page and stays, then ten more, and ten more. The slope of the
line through the three measurements, by least squares, is what one more session takes.
"""

import argparse
import asyncio
import contextlib
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests import browser
from tests.sources import checked_out
from tests.stress.against import shared
from tests.stress.load import MEGABYTES, PAGES, Crowd, Record, Session, listener, megabytes
from tests.stress.table import Row, none

PART, STEP, STEPS = "memory", 10, 3


async def measured(address: str, crowd: Crowd, record: Record) -> list[float]:
    """Megabytes of the server with STEP, 2 STEP, ... sessions that have seen every page."""
    server, found = listener(address), list[float]()
    for _ in range(2):
        await crowd.tour(address, record)
    async with contextlib.AsyncExitStack() as stack:

        async def come(seed: int) -> None:
            socket = await stack.enter_async_context(crowd.connected(address))
            session = Session(socket, record, seed, crowd.models)
            for turn in range(len(PAGES)):
                await session.visit(PAGES[(seed + turn) % len(PAGES)])

        for step in range(STEPS):
            await asyncio.gather(*(come(STEP * step + each) for each in range(STEP)))
            found.append(megabytes(server))
    return found


def slope(megabytes: list[float]) -> float:
    sessions = STEP * np.arange(1, len(megabytes) + 1)
    return float(np.polyfit(sessions, megabytes, 1)[0])


def rows(sources: Path = browser.ROOT) -> Iterator[Row]:
    os.environ["NO_PROXY"] = "localhost"  # loopback only
    record, crowd = Record(), Crowd(browsers=0, models=shared(sources))
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.serve("app.py", root=sources, FGPVAE_RUNS=folder) as address,
    ):
        found = asyncio.run(measured(address, crowd, record))
    yield none(PART, "errors", len(record.times()), record.errors)
    each, text = slope(found), ", ".join(f"{one:.0f}" for one in found)
    tried = ", ".join(str(STEP * (step + 1)) for step in range(STEPS)) + " sessions"
    found_text = f"{each:.1f} MB; the server {text} MB"
    most = f"at most {MEGABYTES}"
    yield Row(PART, "one more session", tried, found_text, most, each <= MEGABYTES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("sources", nargs="?", default=str(browser.ROOT))
    with checked_out(parser.parse_args().sources) as sources:
        for row in rows(sources):
            print(row, flush=True)


if __name__ == "__main__":
    main()
