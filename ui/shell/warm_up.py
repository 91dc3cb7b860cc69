"""Loading ahead: what the first page needs is loaded before it asks, as far as nobody has to wait.

Little is loaded while the browser loads its own files. Torch, the rooms of the pages and the first
model take seconds of the processor: they are loaded when a page has shown what it can without them
(`pending`) and waits for the rest (`wait`), or when nobody has come for a while. One thread loads
them: two that import at once may see each other's modules half loaded. What comes after the
imports, a page that needs the same waits for by itself (`kept`).
"""

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from typing import Any

QUIET = 15.0  # seconds: on a busy machine, too, a browser has its files by then

_wanted, _imported = threading.Event(), threading.Event()
_imported.set()  # until something is to be imported, there is nothing to wait for


def lifespan(light: str, module: str) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """For `st.App`: import a light module when it starts, and later another; `prepare` with it."""

    @asynccontextmanager
    async def begin(_: Any) -> AsyncIterator[None]:
        start(light, module)
        yield

    return begin


def start(light: str, module: str) -> threading.Thread:
    """In a thread of its own, which ends with the server."""
    _wanted.clear()
    _imported.clear()

    def run() -> None:
        try:
            import_module(light)
            _wanted.wait(QUIET)
            found = import_module(module)
        finally:
            _imported.set()
        found.prepare()

    thread = threading.Thread(target=run, name="warm_up", daemon=True)
    thread.start()
    return thread


def pending() -> bool:
    """Are the modules still to come?"""
    return not _imported.is_set()


def wait() -> None:
    """Until the modules are there, or cannot be: then a page says why."""
    _wanted.set()
    _imported.wait()
