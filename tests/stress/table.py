"""What was tried, what was found, and what it may be at most: the rows of a Markdown table."""

import os
import platform
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import psutil

HEAD = "| part | what | tried | found | target | met |\n|---|---|---|---|---|---|\n"


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


def replace_table(page: Path, name: str, text: str) -> None:
    """Replace what stands between `<!-- name -->` and `<!-- end of name -->` in a document."""
    marks = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    before, _, rest = page.read_text().partition(marks[0])
    page.write_text(f"{before}{marks[0]}{text}{marks[1]}{rest.partition(marks[1])[2]}")
