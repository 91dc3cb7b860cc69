"""python -m tests.stress [--only PART ...] [--minutes N --seed S] [--write docs/stress.md]"""

import argparse
import sys
import time
from importlib import import_module
from pathlib import Path

from tests.stress import table

PARTS = ("uploads", "checkpoints", "faults", "load", "walk", "public", "layout")


def main() -> int:
    parser = argparse.ArgumentParser(prog="tests.stress", description=__doc__)
    parser.add_argument("--only", action="append", choices=PARTS, help="a part; may be repeated")
    parser.add_argument("--write", type=Path, help="a document whose table is to be replaced")
    parser.add_argument("--minutes", type=float, default=5, help="of the walk")
    parser.add_argument("--seed", type=int, default=0, help="of the walk's choices")
    options = parser.parse_args()
    walk = {"minutes": options.minutes, "seed": options.seed}
    began, where = time.monotonic(), table.machine()
    rows: list[table.Row] = []
    for name in options.only or PARTS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        part = import_module(f"tests.stress.{name}")
        for row in part.rows(**walk) if name == "walk" else part.rows():
            print(row, file=sys.stderr, flush=True)
            rows.append(row)
    command = " ".join(
        ["python -m tests.stress", *(f"--only {name}" for name in options.only or ())]
    )
    text = table.document(rows, command, where, time.monotonic() - began)
    print(text)
    if options.write:
        table.replace_table(options.write, "table", text)
    return 1 if any(row.met is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
