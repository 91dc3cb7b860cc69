"""The next batches are made in a thread while the networks work on this one."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Generic, TypeVar

DEPTH = 2  # how many

T = TypeVar("T")


class Ahead(Generic[T]):
    """`make(step)` for the steps asked for, which come one after the other, up to a last one."""

    def __init__(self, make: Callable[[int], T], steps: int) -> None:
        self.make, self.steps = make, steps
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="batches")
        self._made: dict[int, Future[T]] = {}

    def get(self, step: int) -> T:
        wanted = [step, *range(step + 1, min(step + 1 + DEPTH, self.steps))]
        for other in self._made.keys() - wanted:
            self._made.pop(other).cancel()  # the run went on from somewhere else
        for each in wanted:
            if each not in self._made:
                self._made[each] = self._pool.submit(self.make, each)
        return self._made.pop(step).result()
