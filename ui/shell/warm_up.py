"""Loading ahead: what the first page needs is loaded while the browser still loads its own files.

The server starts it before anybody visits. The first script waits until all modules are there: two
threads that import at once may see each other's modules half loaded. What comes after them, a page
that needs the same waits for by itself (`kept`).
"""

import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from importlib import import_module
from typing import Any

_imported = threading.Event()
_imported.set()  # until something is being imported, there is nothing to wait for


def lifespan(module: str) -> Callable[[Any], AbstractAsyncContextManager[None]]:
    """For `st.App`: when it starts, import a module and call its `prepare`."""

    @asynccontextmanager
    async def begin(_: Any) -> AsyncIterator[None]:
        start(module)
        yield

    return begin


def start(module: str) -> threading.Thread:
    """In a thread of its own, which ends with the server."""
    _imported.clear()

    def run() -> None:
        try:
            found = import_module(module)
        finally:
            _imported.set()
        found.prepare()

    thread = threading.Thread(target=run, name="warm_up", daemon=True)
    thread.start()
    return thread


def wait() -> None:
    """Until the modules are there, or cannot be: then a page says why."""
    _imported.wait()
