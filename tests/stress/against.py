"""The load of `tests.stress` on an older commit and on the present sources, one after the other.

    python -m tests.stress.against [COMMIT] [--rounds 2] [--sessions 30] [--seconds 60]

Absolute times differ from machine to machine, so what counts is the ratio. Both sides get the same
links, to models that both have, and a run of their own that trains meanwhile. They take turns. A
session asks for its next page some seconds after the last one came, so who is slow is asked less;
an answer counts with its time however late it is.
Beside the times by the clock stands the processor time of the server for a page, which depends less
on what else the machine does.
"""

import argparse
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import fmean, median

from fgpvae import pretrained_names
from tests.browser import ROOT
from tests.sources import REFERENCE, checked_out
from tests.stress.load import SESSIONS, Crowd, Trial, p95, trial

WHAT = {  # of all rounds together
    "median of a page, ms": lambda found: 1000 * median(_pages(found)),
    "95th percentile, ms": lambda found: 1000 * p95(_pages(found)),
    "processor time of a page, ms": lambda found: 1000 * fmean(each.work for each in found),
    "memory of a session, MB": lambda found: fmean(each.session_mb for each in found),
    "pages": lambda found: sum(len(each.record.pages()) for each in found),
    "errors": lambda found: sum(len(each.record.errors) for each in found),
}


def _pages(found: Sequence[Trial]) -> list[float]:
    return [seconds for each in found for seconds in each.record.pages()]


def _errors(found: Sequence[Trial]) -> list[str]:
    return [text for each in found for text in each.record.errors]


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
    parser.add_argument("--warm-up", type=float, default=15)
    options = parser.parse_args()
    before: list[Trial] = []
    now: list[Trial] = []
    with checked_out(options.commit) as other:
        crowd = Crowd(
            options.sessions, 0, options.seconds, models=shared(other), warm_up=options.warm_up
        )
        for number in range(options.rounds):
            for sources, found in ((other, before), (ROOT, now)):
                name = options.commit if sources == other else "now"
                print(f"round {number + 1}, {name}", file=sys.stderr, flush=True)
                found.append(trial(crowd, sources))
                load = os.getloadavg()[0]
                print(f"{name}: {found[-1].record.summary()}; load average {load:.1f}", flush=True)
    for name, found in ((options.commit, before), ("now", now)):
        if not _pages(found):
            print(f"{name}: no page was answered, so there is nothing to compare.")
            print(*_errors(found)[:5], sep="\n")
            return 1
    print(f"{'':30}{options.commit[:10]:>10}{'now':>10}{'ratio':>8}")
    for name, measure in WHAT.items():
        old, new = measure(before), measure(now)
        ratio = f"{new / old:.2f}" if old else "–"
        print(f"{name:30}{old:>10.1f}{new:>10.1f}{ratio:>8}")
    wrong = _errors(now)
    print(*wrong[:5], sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
