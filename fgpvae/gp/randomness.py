"""Random numbers that do not depend on how many workers share a batch."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

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
        """This part of a tensor that has a row for each digit of the batch."""
        return rows[self.first : self.last]


class PartGenerator(torch.Generator):
    """A generator for one worker's digits of a batch, or for all of them if `part` is None.

    `normal` and `uniform` draw the numbers of the whole batch and return the rows of the part, so
    that one worker and many see the same noise.
    """

    part: Part | None = None


@contextmanager
def torch_seeded(seed: int, device: torch.device | None = None) -> Iterator[None]:
    """Seed torch's default generator within the block; restore its state afterwards."""
    devices = [] if device is None or device.type == "cpu" else [device]
    kind = devices[0].type if devices else "cuda"
    with torch.random.fork_rng(devices, device_type=kind):
        torch.manual_seed(seed)
        yield


def _rows(
    draw: Callable[..., Tensor],
    shape: Sequence[int],
    dtype: torch.dtype | None = None,
    generator: torch.Generator | None = None,
) -> Tensor:
    """Numbers of this shape, by default from torch's own generator."""
    part = generator.part if isinstance(generator, PartGenerator) else None
    if part is None:
        return draw(tuple(shape), dtype=dtype, generator=generator, device="cpu")
    return part.of(draw((part.total, *shape[1:]), dtype=dtype, generator=generator, device="cpu"))


normal = partial(_rows, torch.randn)  # standard normal numbers
uniform = partial(_rows, torch.rand)  # numbers from 0 to 1
