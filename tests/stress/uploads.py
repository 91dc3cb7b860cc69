"""Hostile files through the app's own intake: a digit or one sentence, soon, in bounded memory."""

import json
import os
import select
import subprocess
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from tests.browser import ROOT
from tests.stress import pictures
from tests.stress.table import Row, none

MUTATIONS = 1_400
SLOWEST = 2.0  # seconds
HANG = 60.0  # seconds after which a process is given up
GROWTH = 200  # MB
TECHNICAL = ("Traceback", "Error:", "Exception", 'File "', "errno", "0x")


class Reader:
    """A process that reads uploads; a new one if it dies."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None
        self.start_mb = 0.0

    def start(self) -> subprocess.Popen:
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.stress.reader"],
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=os.environ | {"OMP_NUM_THREADS": "1"},
        )
        assert process.stdout is not None
        process.stdout.readline()
        self.process = process
        # what any first picture costs
        self.start_mb = self.ask(pictures.FILES["PNG"])["peak"]
        return process

    def ask(self, content: bytes) -> dict:
        process = self.process or self.start()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(len(content).to_bytes(8) + content)
            process.stdin.flush()
            if not select.select([process.stdout], [], [], HANG)[0]:
                self.close()
                return {"crash": f"no answer within {HANG:.0f} s"}
            line = process.stdout.readline()
        except BrokenPipeError:
            line = b""
        if not line:
            code = process.wait()
            self.process = None
            return {"crash": f"the process ended with {code}"}
        return json.loads(line)

    def close(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.communicate()
            self.process = None


@dataclass
class Outcome:
    """What became of many files."""

    files: int = 0
    digits: int = 0
    crashes: list[str] = field(default_factory=list)
    slow_cpu: list[str] = field(default_factory=list)
    wordless: list[str] = field(default_factory=list)  # neither a digit nor one sentence
    touched: list[str] = field(default_factory=list)
    slowest: tuple[float, str] = (0.0, "")  # CPU, name
    largest: tuple[float, str] = (0.0, "")  # the step of the peak that one file caused
    growth: float = 0.0

    def add(self, name: str, said: dict) -> None:
        self.files += 1
        if "crash" in said:
            self.crashes.append(f"{name}: {said['crash']}")
            return
        self.slowest = max(self.slowest, (said["cpu"], name))
        if said["cpu"] > SLOWEST:
            self.slow_cpu.append(f"{name}: {said['cpu']:.1f} s")
        if said["touched"]:
            self.touched.append(f"{name}: {said['touched'][0]}")
        if "digit" in said:
            self.digits += 1
            if not said["digit"]:
                self.wordless.append(f"{name}: a digit that is none")
        elif not one_sentence(said["sentence"]):
            self.wordless.append(f"{name}: {said['sentence']!r}")


def one_sentence(text: str) -> bool:
    """Fit to be shown to a person."""
    plain = not any(word in text for word in TECHNICAL)
    return plain and 10 < len(text) < 300 and text.endswith(".") and "\n" not in text


def through(files: Iterable[pictures.File]) -> Outcome:
    reader, outcome, peak = Reader(), Outcome(), 0.0
    reader.start()
    try:
        for name, content in files:
            said = reader.ask(content)
            outcome.add(name, said)
            if "peak" in said:
                grown = said["peak"] - reader.start_mb
                outcome.largest = max(outcome.largest, (grown - peak, name))
                peak = max(peak, grown)
    finally:
        reader.close()
    outcome.growth = peak
    return outcome


def rows() -> Iterator[Row]:
    out = through(pictures.every(MUTATIONS))
    part = "uploads"
    yield none(part, "crashes, or no answer at all", out.files, out.crashes)
    yield none(part, "over 2 s of processor time", out.files, out.slow_cpu)
    cpu, name = out.slowest
    yield Row(part, "slowest file", f"{out.files:,}", f"{cpu:.2f} s of CPU: {name}")
    yield none(part, "neither a digit nor one sentence", out.files, out.wordless)
    refused = out.files - out.digits
    yield Row(
        part, "refused with a sentence", f"{out.files:,}", f"{refused:,}; {out.digits:,} read"
    )
    grown = f"{out.growth:.0f} MB; largest step {out.largest[0]:.0f} MB: {out.largest[1]}"
    yield Row(part, "memory growth", f"{out.files:,}", grown, f"< {GROWTH} MB", out.growth < GROWTH)
    yield none(part, "files written, programs or connections started", out.files, out.touched)
