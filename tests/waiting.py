"""Waiting for a condition: as long as a busy machine takes, but never for ever."""

import time
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

PATIENCE = 240.0  # seconds: a busy machine is not a failure
T = TypeVar("T")


def eventually(holds: Callable[[], T], wrong: Callable[[], str] = str, pause: float = 0.05) -> T:
    """Wait until something is true, and return it; `wrong` says what is there instead."""
    end = time.monotonic() + PATIENCE
    while not (found := holds()):
        if time.monotonic() > end:
            raise AssertionError(f"Not so after {PATIENCE:.0f} s. {wrong()}")
        time.sleep(pause)
    return found


def at_rest(read: Callable[[], Any]) -> Any:
    """Read until four readings in a row are there and agree, and return the last."""
    seen: list[Any] = [None]

    def calm() -> bool:
        seen.append(read())
        return all(each is not None and np.array_equal(each, seen[-1]) for each in seen[-4:])

    eventually(calm)
    return seen[-1]
