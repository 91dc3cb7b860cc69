"""Atomic writes, bounded reads, and locks that end with the process that holds them.

Errors of the operating system become a UserError of one sentence.
"""

import json
import os
import secrets
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from fgpvae.errors import UserError, require

# flags that the system has; without O_BINARY Windows changes line ends
NO_LINKS = getattr(os, "O_NOFOLLOW", 0)
NO_WAITING = getattr(os, "O_NONBLOCK", 0)
BINARY = getattr(os, "O_BINARY", 0)
UNFINISHED = ".unfinished-"  # prefix of files that are being written
LARGEST_JSON = 2**20  # bytes
RUNS_VARIABLE = "FGPVAE_RUNS"  # environment variable with the directory of the runs


@contextmanager
def explained(path: Path, what: str) -> Iterator[None]:
    """Convert an OSError about this file to a UserError."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).rstrip(".")
        raise UserError(f"'{as_given(path)}' cannot be {what}: {reason}.") from None


def public() -> bool:
    """True on a server for strangers, which writes nothing: FGPVAE_PUBLIC=1."""
    return os.environ.get("FGPVAE_PUBLIC", "") not in ("", "0")


def as_given(path: Path) -> str:
    """The path as the user knows it: relative to the directory of the runs if it is in there."""
    root = os.environ.get(RUNS_VARIABLE)
    if root and path.is_relative_to(root):  # users of a page do not know the directory
        path = path.relative_to(Path(root).parent)
    return str(path)


def write(path: Path, content: bytes, durable: bool = True) -> None:
    """Replace a file atomically: a reader sees the old content or the new, even after a kill.

    `durable` waits until the content is on the disk, so that it survives a power cut.
    """
    require(path.name, f"'{path}' is not the name of a file.")
    with explained(path, "written"):
        temporary = path.with_name(f"{UNFINISHED}{secrets.token_hex(4)}")
        try:
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                if durable:
                    os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


def without_links(path: str, flags: int) -> int:
    """Opener of files that are not links to elsewhere."""
    return os.open(path, flags | NO_LINKS, 0o666)


def remove_unfinished(directory: Path) -> None:
    """Delete the unfinished files of a killed process."""
    for path in directory.glob(f"{UNFINISHED}*"):
        with suppress(OSError):
            path.unlink()


def append(path: Path, line: str) -> None:
    """Append a line; first end a line that a killed process left incomplete."""
    with explained(path, "written"), open(path, "ab+", opener=without_links) as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(size - 1, 0))
        broken = size > 0 and file.read(1) != b"\n"
        file.write((b"\n" if broken else b"") + line.encode() + b"\n")


def read(path: Path, limit: int) -> bytes:
    """Read a regular file of at most `limit` bytes."""
    with explained(path, "read"):
        try:
            # do not block if the path is a pipe
            handle = os.open(path, os.O_RDONLY | NO_WAITING | BINARY)
        except FileNotFoundError:
            raise UserError(f"'{as_given(path)}' does not exist.") from None
        with os.fdopen(handle, "rb") as file:
            status = os.fstat(handle)
            require(stat.S_ISREG(status.st_mode), f"'{as_given(path)}' is not a file.")
            if status.st_size > limit:
                raise UserError(
                    f"'{as_given(path)}' is too large: at most {limit >> 20} MB are read."
                )
            return file.read(limit)


def write_json(path: Path, content: Any, durable: bool = True) -> None:
    write(path, (json.dumps(content, indent=1) + "\n").encode(), durable)


def read_json(path: Path) -> Any:
    return parse_json(read(path, LARGEST_JSON), as_given(path))


def parse_json(text: str | bytes, name: str) -> Any:
    """Parse strict JSON: NaN and Infinity are refused."""
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        raise UserError(f"'{name}' is damaged: it is not valid JSON.") from None


def _refuse(constant: str) -> NoReturn:
    raise ValueError(constant)


def try_lock(path: Path, seconds: float = 0.0) -> int | None:
    """A descriptor that holds the lock, or None if another holds it for this long.

    The lock ends when the last copy of the descriptor is closed, however the process ends.
    """
    with explained(path, "locked"):
        handle = without_links(os.fspath(path), os.O_RDWR | os.O_CREAT)
    end = time.monotonic() + seconds
    while not _lock(handle):
        if time.monotonic() >= end:
            os.close(handle)
            return None
        time.sleep(0.01)
    return handle


def is_locked(path: Path) -> bool:
    try:
        handle = os.open(path, os.O_RDONLY | NO_LINKS | NO_WAITING)
    except OSError:
        return False
    try:
        return not _lock(handle, shared=True)
    finally:
        os.close(handle)


def _lock(handle: int, shared: bool = False) -> bool:
    """Lock an open file, unless it is locked already.

    Uses the system call: a child process inherits the descriptor with the lock and keeps it after
    its parent has ended.
    """
    try:
        if sys.platform == "win32":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
