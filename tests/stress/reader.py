"""From an upload to a digit or a sentence, in a process that may be lost.

Reads files from standard input, each after its length in eight bytes; answers each with a line.
"""

import json
import math
import sys
import time
from pathlib import Path

import numpy as np

from fgpvae.errors import UserError
from fgpvae.images import digit_boxes, normalise, read_picture
from tests.stress.watch import watched


def peak_mb() -> float:
    """The most that this process has held; getrusage would tell that of the one before exec."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return math.nan  # not Linux


def answer(content: bytes) -> dict:
    """A digit or a sentence for this file, and what it cost."""
    began = time.process_time()
    digit, sentence = None, ""
    with watched() as touched:
        try:
            picture = read_picture(content)
            try:
                digit = normalise(picture).digit
            except UserError:
                digit_boxes(picture)  # which of several digits is meant
                raise
        except UserError as error:
            sentence = str(error)
        except Exception as error:
            return {"crash": f"{type(error).__name__}: {error}"}
    said = {"cpu": time.process_time() - began, "peak": peak_mb()}
    said |= {"touched": touched, "sentence": sentence}
    if digit is not None:
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
