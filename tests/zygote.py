"""Real training processes without the cost of importing torch for each: one process forks them all.

The children are processes of their own that tests may kill at any moment.
"""

import os
import pydoc
import socket
import sys
from collections.abc import Callable
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from unittest import mock

from tests.waiting import PATIENCE, eventually

IMPORTED = "torch._dynamo", "fgpvae.__main__", "fgpvae.runs.writer"  # before the first fork
CONTEXT = get_context("forkserver")


def work(function: str, arguments: list[str], environment: dict, constants: dict, out: str) -> None:
    """`python -m fgpvae ARGUMENTS`, or a function by its name with these arguments."""
    from fgpvae.__main__ import main
    from fgpvae.runs import writer

    file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ.update(environment)
    for name, value in constants.items():
        setattr(writer, name, value)
    sys.exit(pydoc.locate(function)(*arguments) if function else main(arguments))


class Child:
    def __init__(self, process, out: Path) -> None:
        self.process, self.out = process, out

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait for what the process brings about; an error if it ends instead."""

        def there() -> bool:
            alive = self.process.is_alive()  # before the look: it may do its last act now
            if condition():
                return True
            assert alive, self.said()
            return False

        eventually(there, self.said, pause=0.005)

    def kill(self, number: int) -> None:
        os.kill(self.process.pid, number)

    def wait(self) -> int:
        """The exit code; minus the signal that ended it. A process that does not end is killed."""
        self.process.join(PATIENCE)
        if self.process.exitcode is None:
            self.process.kill()
            raise AssertionError(f"The process did not end in {PATIENCE:.0f} s. {self.said()}")
        return self.process.exitcode

    def said(self) -> str:
        return self.out.read_text() if self.out.exists() else ""


class Zygote:
    def __init__(self, folder: Path) -> None:
        self.folder, self.count = folder, 0

    def start(
        self,
        *arguments: object,
        function: str = "",
        environment: dict[str, str] | None = None,
        **constants: float,
    ) -> Child:
        """`python -m fgpvae ARGUMENTS`, with constants of fgpvae.runs.writer changed.

        Or a function of a module, by its name, with these arguments as strings.
        """
        self.count += 1
        out = self.folder / f"out{self.count}"
        words = [str(argument) for argument in arguments]
        told = (function, words, environment or {}, constants, str(out))
        process = CONTEXT.Process(target=work, args=told)
        # a child runs the file of __main__ first, and AppTest leaves the script of a page there
        with mock.patch.dict(sys.modules, __main__=ModuleType("__main__")):
            process.start()
        return Child(process, out)

    def start_workers(
        self, count: int, *arguments: object, function: str = "", **constants: float
    ) -> list[Child]:
        """The same in as many processes as torchrun would start, the first one first."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(count)}
        ranks = [common | {"RANK": str(rank), "LOCAL_RANK": str(rank)} for rank in range(count)]
        return [
            self.start(*arguments, function=function, environment=each, **constants)
            for each in ranks
        ]

    def run(self, *arguments: object, **constants: float) -> tuple[int, str]:
        """Exit code and output of a command."""
        child = self.start(*arguments, **constants)
        return child.wait(), child.said()


@contextmanager
def zygote(folder: Path):
    CONTEXT.set_forkserver_preload(list(IMPORTED))
    yield Zygote(folder)
