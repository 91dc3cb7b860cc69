"""Set up the server before the first visit: process settings, imports of all pages."""

import ctypes
import os
import platform
import socket
import threading
import time
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec

import psutil
from starlette.formparsers import MultiPartParser
from threadpoolctl import threadpool_limits

from fgpvae.errors import UserError
from ui.shell import frame
from ui.shell.public import OWN, allowed

_ARENA_MAX, _MMAP_THRESHOLD = -8, -3  # M_... of malloc.h


def prepare() -> None:
    """Set up the process, then import the room of every page, with torch.

    Visits run in threads of their own, and two that import at once may see a module half loaded.
    """
    limit_memory(returned=not allowed().training)
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # for torch: threads start slowly
    send_at_once()
    MultiPartParser.spool_max_size = OWN.megabytes << 20  # pictures stay in memory, not in a file
    parts = [f"ui.inference.{part}" for part in import_module("ui.inference").__all__]
    rooms = [f"ui.{name}" for name, _ in frame.PAGES]  # a page of one file has none
    for module in (*parts, *filter(find_spec, rooms)):
        import_module(module)
    limit_threads()
    if allowed().training:
        from fgpvae.runs import queue

        # start what a server that is gone left in the queue
        with suppress(UserError):  # a wrong setting or a full disk: the page Train says so
            queue.advance_queue(queue.root())


def limit_threads() -> None:
    """Give numpy and scipy as many threads as torch.

    Streamlit loads numpy before this app sets any variable. On a busy machine the threads of its
    BLAS wait for each other: a PCA of 300 styles takes 125 ms instead of 1.
    """
    import torch

    threadpool_limits(torch.get_num_threads(), "blas")


def limit_memory(returned: bool) -> None:
    """Limit glibc to two arenas; otherwise thirty sessions leave 300 MB unused.

    `returned`: return freed memory to the system every second, for hosts with a memory limit.
    """
    if platform.libc_ver()[0] != "glibc":
        return
    libc = ctypes.CDLL(None)
    if "MALLOC_ARENA_MAX" not in os.environ:
        libc.mallopt(_ARENA_MAX, 2)
    if returned:
        libc.mallopt(_MMAP_THRESHOLD, 1 << 17)  # which glibc would raise to 32 MB
        threading.Thread(target=_trim, args=(libc,), daemon=True).start()


def _trim(libc: ctypes.CDLL) -> None:
    while True:
        time.sleep(1)
        libc.malloc_trim(0)


def send_at_once() -> None:
    """Disable Nagle's algorithm for new connections.

    asyncio does so for its own sockets only, but Streamlit creates the listening one: a small
    message would wait 40 ms for the acknowledgement of the previous one.
    """
    for each in psutil.Process().net_connections("tcp"):
        if each.status == psutil.CONN_LISTEN and each.fd >= 0:
            with socket.socket(fileno=os.dup(each.fd)) as listening:
                listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
