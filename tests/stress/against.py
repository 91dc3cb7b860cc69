"""The load of `tests.stress` on an older commit and on the present sources, one after the other.

    python -m tests.stress.against [COMMIT] [--rounds 2] [--sessions 30] [--seconds 60]

Absolute times differ from machine to machine, so what counts is the ratio. Both sides get the same
links, to models that both have, and a run of their own that trains meanwhile. They take turns.
Beside the times by the clock stands the processor time of the server for a page, which depends less
on what else the machine does.
"""

import argparse
import math
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

from fgpvae import pretrained_names
from tests.browser import ROOT
from tests.sources import REFERENCE, checked_out
from tests.stress.load import SESSIONS, Crowd, Trial, trial

WHAT = {  # of all rounds together
    "median of a page, ms": lambda found: 1000 * median(_pages(found)),
    "95th percentile, ms": lambda found: 1000 * _p95(_pages(found)),
    "processor time of a page, ms": lambda found: 1000 * fmean(each.work for each in found),
    "memory of a session, MB": lambda found: fmean(each.session_mb for each in found),
    "pages": lambda found: sum(len(each.record.pages()) for each in found),
    "errors": lambda found: sum(len(each.record.errors) for each in found),
}


def _pages(found: Sequence[Trial]) -> list[float]:
    """All answers; where there was none in time, one that took forever."""
    return sorted(seconds for each in found for seconds in each.record.pages()) or [math.inf]


def _p95(values: Sequence[float]) -> float:
    return values[min(int(0.95 * len(values)), len(values) - 1)]


def shared(other: Path) -> tuple[str, ...]:
    """The shipped models that both have."""
    there = {path.stem for path in (other / "fgpvae/assets/pretrained").glob("*.safetensors")}
    return tuple(name for name in pretrained_names() if name in there)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("commit", nargs="?", default=REFERENCE, help="or a folder of sources")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--sessions", type=int, default=SESSIONS)
    parser.add_argument("--seconds", type=float, default=60)
    options = parser.parse_args()
    before: list[Trial] = []
    now: list[Trial] = []
    with checked_out(options.commit) as other:
        crowd = Crowd(options.sessions, 0, options.seconds, models=shared(other))
        for _ in range(options.rounds):
            for sources, found in ((other, before), (ROOT, now)):
                found.append(trial(crowd, sources))
                print(".", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    print(f"{'':30}{options.commit[:10]:>10}{'now':>10}{'ratio':>8}")
    for name, measure in WHAT.items():
        old, new = measure(before), measure(now)
        ratio = f"{new / old:.2f}" if old else "–"
        print(f"{name:30}{old:>10.1f}{new:>10.1f}{ratio:>8}")
    wrong = [text for each in now for text in each.record.errors]
    print(*wrong[:5], sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
