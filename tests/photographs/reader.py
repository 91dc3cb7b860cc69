"""Photographs read by this package, or by that of another checkout in a process of its own."""

import pickle
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fgpvae.errors import UserError
from fgpvae.images import normalise

# reads files until there are no more; run where the other checkout is
_LOOP = """
import pickle, sys, time
from fgpvae.errors import UserError
from fgpvae.images import normalise

while True:
    try:
        file = pickle.load(sys.stdin.buffer)
    except EOFError:
        break
    began = time.process_time()
    try:
        answer = normalise(file).digit, ""
    except UserError as error:
        answer = None, str(error)
    pickle.dump((*answer, time.process_time() - began), sys.stdout.buffer)
    sys.stdout.buffer.flush()
"""


@dataclass(frozen=True)
class Reading:
    digit: np.ndarray | None  # [28, 28], None if refused
    refusal: str
    seconds: float  # of processor time


Read = Callable[[bytes], Reading]


def read_here(file: bytes) -> Reading:
    began = time.process_time()
    try:
        digit, refusal = normalise(file).digit, ""
    except UserError as error:
        digit, refusal = None, str(error)
    return Reading(digit, refusal, time.process_time() - began)


def read_there(checkout: Path) -> Read:
    """The same by the `fgpvae` of another directory, in a process that ends with this one."""
    process = subprocess.Popen(
        [sys.executable, "-c", _LOOP], cwd=checkout, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    to, back = process.stdin, process.stdout
    assert to is not None
    assert back is not None

    def read(file: bytes) -> Reading:
        pickle.dump(file, to)
        to.flush()
        return Reading(*pickle.load(back))

    return read
