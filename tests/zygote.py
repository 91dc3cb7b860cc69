"""Real training processes without the cost of importing torch for each: one process that forks.

Run as a script it reads a JSON request a line, and answers each with a line. The children are
processes of their own that tests may kill at any moment.
"""

import json
import os
import pydoc
import socket
import subprocess
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path


def serve() -> None:
    import torch._dynamo  # noqa: F401  # what the first optimiser of a process would import

    from fgpvae import data, recorder
    from fgpvae.__main__ import main

    data.factorized()  # rotated once for all children
    print("ready", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "wait" in request:
            _, status = os.waitpid(request["wait"], 0)
            print(os.waitstatus_to_exitcode(status), flush=True)
            continue
        pid = os.fork()
        if pid == 0:
            out = os.open(request["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(out, 1)
            os.dup2(out, 2)
            for name, value in request["constants"].items():
                setattr(recorder, name, value)
            os.environ.update(request["environment"])
            code = 1
            try:
                if request["function"]:
                    pydoc.locate(request["function"])(*request["arguments"])
                    code = 0
                else:
                    code = main(request["arguments"])
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        print(pid, flush=True)


class Zygote:
    def __init__(self, process: subprocess.Popen, folder: Path) -> None:
        self.process, self.folder, self.count = process, folder, 0
        self.answer()

    def answer(self) -> str:
        line = self.process.stdout.readline().strip()
        assert line, "the forking process has died"
        return line

    def ask(self, **request) -> int:
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        return int(self.answer())

    def start(
        self,
        *arguments: object,
        function: str = "",
        environment: dict[str, str] | None = None,
        **constants: float,
    ) -> "Child":
        """`python -m fgpvae ARGUMENTS`, with constants of fgpvae.runs changed.

        Or a function of a module, by its name, with these arguments as strings.
        """
        self.count += 1
        out = self.folder / f"out{self.count}"
        pid = self.ask(
            arguments=[str(argument) for argument in arguments],
            constants=constants,
            environment=environment or {},
            function=function,
            out=str(out),
        )
        return Child(self, pid, out)

    def start_workers(
        self, count: int, *arguments: object, function: str = "", **constants: float
    ) -> list["Child"]:
        """The same in as many processes as torchrun would start, the first one first."""
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        common = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "WORLD_SIZE": str(count)}
        return [
            self.start(
                *arguments,
                function=function,
                environment=common | {"RANK": str(rank), "LOCAL_RANK": str(rank)},
                **constants,
            )
            for rank in range(count)
        ]

    def run(self, *arguments: object, **constants: float) -> tuple[int, str]:
        """Exit code and output of a command."""
        child = self.start(*arguments, **constants)
        return child.wait(), child.out.read_text()


class Child:
    def __init__(self, zygote: Zygote, pid: int, out: Path) -> None:
        self.zygote, self.pid, self.out = zygote, pid, out

    def kill(self, number: int) -> None:
        os.kill(self.pid, number)  # not reaped before `wait`, so the pid is still its own

    def wait(self) -> int:
        """The exit code; minus the signal that ended it."""
        return self.zygote.ask(wait=self.pid)


@contextmanager
def zygote(folder: Path):
    environment = os.environ | {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.zygote"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=environment,
    ) as process:
        try:
            yield Zygote(process, folder)
        finally:
            process.stdin.close()


if __name__ == "__main__":
    serve()
