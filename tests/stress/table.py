"""What was tried, what was found, and what it may be at most: the rows of a Markdown table."""

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

HEAD = "| part | what | tried | found | target | met |\n|---|---|---|---|---|---|\n"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"


@dataclass(frozen=True)
class Row:
    part: str
    what: str
    tried: str
    found: str
    target: str = ""
    met: bool | None = None  # None: a figure without a target, or not tried here

    def __str__(self) -> str:
        met = {True: "yes", False: "**no**", None: "-"}[self.met]
        cells = (self.part, self.what, self.tried, self.found, self.target or "-", met)
        return "| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in cells) + " |"


def none(part: str, what: str, tried: int, bad: Iterable[str]) -> Row:
    """A row for what must not happen at all; the first of what did is named."""
    bad = list(bad)
    found = f"{len(bad)}" + (f", first: {bad[0][:200]}" if bad else "")
    return Row(part, what, f"{tried:,}", found, "0", not bad)


def busy() -> bool:
    """Is there more to do than this machine can, besides what is tried here?"""
    return os.getloadavg()[0] > (psutil.cpu_count() or 1) + 0.5


def machine() -> str:
    load = os.getloadavg()[0]
    cores, memory = psutil.cpu_count(), psutil.virtual_memory().total / 2**30
    return (
        f"{cores} cores, {memory:.0f} GiB, {platform.system()} {platform.machine()}, "
        f"Python {platform.python_version()}, load average {load:.1f} at the start"
    )


def document(rows: list[Row], command: str, where: str, seconds: float) -> str:
    day = datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC")
    body = "\n".join(map(str, rows))
    return f"{HEAD}{body}\n\n`{command}`, {day}, {where}; {seconds:.0f} s in all.\n"


def write(path: Path, text: str) -> None:
    """Put a table where the last one was."""
    before, _, rest = path.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}{text}{END}{after}")
