"""Random numbers that are the same however many workers share a batch.

Each worker has some of a batch's digits. It draws the numbers of all of them and keeps its own, so
one worker and many see the same noise. With one worker nothing is drawn in another way.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Part:
    """Digits first..last-1 of a batch of `total`."""

    first: int
    last: int
    total: int

    def __len__(self) -> int:
        return self.last - self.first

    def of(self, rows: Tensor) -> Tensor:
        """This part of something that has a row for each digit of the batch."""
        return rows[self.first : self.last]


_part: ContextVar[Part | None] = ContextVar("part", default=None)


@contextmanager
def drawn_for(part: Part | None) -> Iterator[None]:
    """Within, the first dimension of all that is drawn is the digits of this part of a batch."""
    token = _part.set(part)
    try:
        yield
    finally:
        _part.reset(token)


@contextmanager
def torch_seeded(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Within, torch's own generator starts at a seed; after it, it goes on as if nothing was."""
    devices = [] if device is None or device.type == "cpu" else [device]
    kind = devices[0].type if devices else "cuda"
    with torch.random.fork_rng(devices, device_type=kind):
        torch.manual_seed(seed)
        yield


def normal(
    shape: Sequence[int],
    dtype: torch.dtype | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Standard normal numbers; from torch's own generator if there is no other."""
    return _own(torch.randn(_whole(shape), dtype=dtype, generator=generator, device="cpu"))


def uniform(
    shape: Sequence[int],
    dtype: torch.dtype | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Numbers from 0 to 1."""
    return _own(torch.rand(_whole(shape), dtype=dtype, generator=generator, device="cpu"))


def _whole(shape: Sequence[int]) -> tuple[int, ...]:
    part = _part.get()
    if part is None:
        return tuple(shape)
    if shape[0] != len(part):
        raise ValueError(f"numbers for {shape[0]} digits in a part of {len(part)}")
    return (part.total, *shape[1:])


def _own(drawn: Tensor) -> Tensor:
    part = _part.get()
    return drawn if part is None else part.of(drawn)
