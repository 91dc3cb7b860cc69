"""Processor time of an epoch of training, as a ratio to another commit.

python scripts/measure_epoch.py paper quick --rounds 9

The other commit is checked out in a temporary directory. Both train in turn, each in a process of
its own with one thread, so that what else the machine does slows both. A first round of each, which
warms up, is not counted.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEFORE = "4d0292e"

# what both commits understand; a line of input is one round
TRAINING = """
import sys, time
from fgpvae.presets import preset
try:
    from fgpvae.training_data import build_source
except ModuleNotFoundError:  # in older commits
    from fgpvae.runs import build_source
from fgpvae.training import Trainer
config = preset(sys.argv[1])
trainer = Trainer(config, build_source(config)[0])
steps = int(sys.argv[2]) or trainer.source.steps
for line in sys.stdin:
    began = time.process_time()
    for _ in range(steps):
        trainer.advance()
    print((time.process_time() - began) / steps, flush=True)
"""


def start(tree: Path, preset: str, steps: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", TRAINING, preset, str(steps)],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def seconds_a_step(training: subprocess.Popen[str]) -> float:
    assert training.stdin is not None
    assert training.stdout is not None
    print("", file=training.stdin, flush=True)
    return float(training.stdout.readline())


def compare(before: Path, preset: str, steps: int, rounds: int) -> None:
    pair = [start(tree, preset, steps) for tree in (before, ROOT)]
    times: list[list[float]] = [[], []]
    for k in range(rounds + 1):
        for which in (0, 1) if k % 2 else (1, 0):
            times[which].append(seconds_a_step(pair[which]))
    for training in pair:
        training.communicate()
    old, new = (each[1:] for each in times)
    ratios = sorted(b / a for a, b in zip(old, new, strict=True))
    print(
        f"{preset}: {1000 * statistics.median(old):.1f} ms a step before, "
        f"{1000 * statistics.median(new):.1f} ms now; ratio {statistics.median(ratios):.2f} "
        f"({ratios[0]:.2f} to {ratios[-1]:.2f} in {rounds} rounds)",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("presets", nargs="*", default=["paper"], metavar="PRESET")
    parser.add_argument("--before", default=BEFORE, help=f"the other commit; {BEFORE} by default")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=0, help="in a round; an epoch by default")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary, "before")
        git = ["git", "-C", str(ROOT), "worktree"]
        quiet = {"check": True, "capture_output": True}
        subprocess.run([*git, "add", "--detach", str(tree), options.before], **quiet)
        try:
            for preset in options.presets:
                compare(tree, preset, options.steps, options.rounds)
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], **quiet)


if __name__ == "__main__":
    main()
