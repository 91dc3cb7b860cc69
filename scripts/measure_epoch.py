"""Processor time of an epoch of training, as a ratio to another commit.

python scripts/measure_epoch.py paper quick --rounds 9
python scripts/measure_epoch.py --gp

The other commit is checked out in a temporary directory. Both train in turn, each in a process of
its own with one thread, so that what else the machine does slows both. A first round of each, which
warms up, is not counted. With --gp it is the share of the Gaussian processes in a step of `paper`.
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
BEFORE_GP = "2464d83"  # the last that measures the share of the GP and has more of it

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

GP = """
import sys
from fgpvae import bench, data
views = data.factorized()
for line in sys.stdin:
    print(bench.share_of_gp(views), flush=True)
"""


def start(tree: Path, program: str, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *arguments],
        cwd=tree,
        env=os.environ | {"PYTHONPATH": str(tree), "OMP_NUM_THREADS": "1"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )


def measured(process: subprocess.Popen[str]) -> float:
    assert process.stdin is not None
    assert process.stdout is not None
    print("", file=process.stdin, flush=True)
    return float(process.stdout.readline())


def in_turn(before: Path, rounds: int, *program: str) -> tuple[list[float], list[float]]:
    """What the other commit and this one print in each round."""
    pair = [start(tree, *program) for tree in (before, ROOT)]
    printed: list[list[float]] = [[], []]
    for k in range(rounds + 1):
        for which in (0, 1) if k % 2 else (1, 0):
            printed[which].append(measured(pair[which]))
    for process in pair:
        process.communicate()
    return printed[0][1:], printed[1][1:]


def compare(before: Path, preset: str, steps: int, rounds: int) -> None:
    old, new = in_turn(before, rounds, TRAINING, preset, str(steps))
    ratios = sorted(b / a for a, b in zip(old, new, strict=True))
    print(
        f"{preset}: {1000 * statistics.median(old):.1f} ms a step before, "
        f"{1000 * statistics.median(new):.1f} ms now; ratio {statistics.median(ratios):.2f} "
        f"({ratios[0]:.2f} to {ratios[-1]:.2f} in {rounds} rounds)",
        flush=True,
    )


def compare_gp(before: Path, rounds: int) -> None:
    for when, shares in zip(("before", "now"), in_turn(before, rounds, GP), strict=True):
        low, middle, high = min(shares), statistics.median(shares), max(shares)
        print(f"GP, {when}: {middle:.1%} of a step ({low:.1%} to {high:.1%} in {rounds} rounds)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("presets", nargs="*", default=["paper"], metavar="PRESET")
    parser.add_argument(
        "--before", help=f"the other commit; {BEFORE} by default, {BEFORE_GP} with --gp"
    )
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--steps", type=int, default=0, help="in a round; an epoch by default")
    parser.add_argument("--gp", action="store_true", help="the share of the GP in a step instead")
    options = parser.parse_args()
    before = options.before or (BEFORE_GP if options.gp else BEFORE)
    with tempfile.TemporaryDirectory() as temporary:
        tree = Path(temporary, "before")
        git = ["git", "-C", str(ROOT), "worktree"]
        quiet = {"check": True, "capture_output": True}
        subprocess.run([*git, "add", "--detach", str(tree), before], **quiet)
        try:
            if options.gp:
                compare_gp(tree, options.rounds)
                return
            for preset in options.presets:
                compare(tree, preset, options.steps, options.rounds)
        finally:
            subprocess.run([*git, "remove", "--force", str(tree)], **quiet)


if __name__ == "__main__":
    main()
