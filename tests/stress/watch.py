"""What a process does to the world outside: files it changes, programs it starts, connections."""

import gc
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PATHS = ("chmod", "chown", "link", "mkdir", "remove", "rename", "rmdir", "symlink")
CHANGES = {"shutil.rmtree", "os.truncate", "os.utime", *(f"os.{name}" for name in PATHS)}
STARTS = ("exec", "fork", "posix_spawn", "spawn", "system")
PROGRAMS = {"pty.spawn", "socket.connect", "subprocess.Popen", *(f"os.{name}" for name in STARTS)}
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND

_watching: list[tuple[Path | None, list[str], set[int | None]]] = []
_hooked = False


def _note(event: str, arguments: tuple) -> None:
    if not _watching:
        return
    allowed, seen, others = _watching[-1]
    if threading.get_ident() in others:
        return
    seen.extend(changes(event, arguments, allowed))


def changes(event: str, arguments: tuple, allowed: Path | None = None) -> Iterator[str]:
    """What an event of `sys.addaudithook` changes outside the allowed directory."""
    if event in PROGRAMS:
        yield f"{event} {arguments[:1]}"
    elif event == "open":
        path, mode, flags = arguments
        writes = bool(set(mode or "") & set("wax+")) or bool(int(flags or 0) & WRITING)
        if writes and isinstance(path, str | bytes) and not _inside(path, allowed):
            yield f"open {path!r}"
    elif event in CHANGES:
        paths = [each for each in arguments[:2] if isinstance(each, str | bytes)]
        yield from (f"{event} {path!r}" for path in paths if not _inside(path, allowed))


def _inside(path: str | bytes, folder: Path | None) -> bool:
    place = Path(os.path.abspath(os.fsdecode(path)))
    if place == Path(os.devnull) or place == folder:
        return True
    if folder is None:
        return False
    # a link leads to where it points
    return place.is_relative_to(folder) and place.parent.resolve().is_relative_to(folder)


@contextmanager
def watched(allowed: Path | None = None) -> Iterator[list[str]]:
    """A list of all that happens outside the allowed directory, or anywhere if there is none.

    What is not of the watched code's doing does not count: threads that are there already, and
    the last acts of objects that it did not make, which the garbage collection would bring about.
    """
    global _hooked
    if not _hooked:
        sys.addaudithook(_note)  # stays for good, so only once
        _hooked = True
    seen: list[str] = []
    others = {each.ident for each in threading.enumerate()} - {threading.get_ident()}
    collecting = gc.isenabled()
    gc.disable()
    _watching.append((allowed and allowed.resolve(), seen, others))
    try:
        yield seen
    finally:
        _watching.pop()
        if collecting:
            gc.enable()
