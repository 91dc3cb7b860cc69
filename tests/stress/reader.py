"""The app's own way from an upload to a digit or a sentence, in a process that may be lost.

Reads files from standard input, each after its length in eight bytes; answers each with a line.
"""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np

from fgpvae.images import Options
from tests.stress.watch import watched
from ui.extrapolate import picture


def peak_mb() -> float:
    """The most that this process has held; getrusage would tell that of the one before exec."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return math.nan  # not Linux


def answer(content: bytes) -> dict:
    """What the page would show for this file, and what it cost."""
    wall, cpu = time.perf_counter(), time.process_time()
    with watched() as touched:
        try:
            found = picture.attempt(content, Options())
        except Exception as error:
            return {"crash": f"{type(error).__name__}: {error}"}
    said = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    said |= {"peak": peak_mb(), "touched": touched, "sentence": found.get("error", "")}
    if (normalised := found.get("normalised")) is not None:
        digit = normalised.digit
        good = digit.shape == (28, 28) and bool(np.isfinite(digit).all())
        said["digit"] = good and 0 <= float(digit.min()) <= float(digit.max()) <= 1
    return said


def main() -> None:
    print(json.dumps({"peak": peak_mb()}), flush=True)
    while size := sys.stdin.buffer.read(8):
        content = sys.stdin.buffer.read(int.from_bytes(size))
        print(json.dumps(answer(content)), flush=True)


if __name__ == "__main__":
    main()
