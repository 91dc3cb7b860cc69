"""Memory of an open server (FGPVAE_PUBLIC=1) that fifty people visit, one after the other."""

import asyncio
import os
import tempfile
from collections.abc import Iterator

import psutil

from tests import browser
from tests.stress.load import PAGES, Record, listener, tour
from tests.stress.table import Row, none

PART, VISITS = "public", 50
MODELS = "best", "cubes", "films"
MEGABYTES = 690  # the least memory that Streamlit Community Cloud gives an app


def rows() -> Iterator[Row]:
    """Fifty sessions, each of which sees every page with one of three models."""
    os.environ["NO_PROXY"] = "localhost"  # loopback only
    record, after = Record(), list[float]()
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.serve("app.py", FGPVAE_PUBLIC="1", FGPVAE_RUNS=f"{folder}/runs") as address,
    ):
        server = listener(address)
        for number in range(VISITS):
            asyncio.run(tour(address, record, (MODELS[number % len(MODELS)],)))
            after.append(resident(server))
        written = os.listdir(folder)
    yield none(PART, "errors", VISITS, record.errors)
    yield none(PART, "files in the directory of runs", VISITS, written)
    tried = f"{VISITS} visits to {len(PAGES)} pages"
    text = f"{after[0]:.0f} MB after one visit, {after[-1]:.0f} after all; {max(after):.0f} at most"
    met = max(after) < MEGABYTES
    yield Row(PART, "memory of the server", tried, text, f"below {MEGABYTES} MB", met)


def resident(process: psutil.Process) -> float:
    """Megabytes in memory, pages of files too."""
    return process.memory_info().rss / 2**20
