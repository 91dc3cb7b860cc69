"""One run with many workers: each has its own digits of every batch.

A digit's views stay on their worker; a step exchanges only the terms of each digit (three numbers)
and the sum of the gradients. Every worker then has exactly the same loss of the whole batch and the
same GECO multiplier, and takes the same step. The gradient of that loss through a worker's own
digits, summed over workers, is the gradient of the whole batch, however the digits are divided.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor, nn

from fgpvae.errors import UserError, require
from fgpvae.gp.randomness import Part
from fgpvae.models import Terms

PATIENCE = timedelta(minutes=10)  # for a silent worker, and for validation


class WorkerLost(UserError):
    """Another worker has ended; training since the last checkpoint is lost."""

    def __init__(self) -> None:
        super().__init__("Another worker was lost; the last checkpoint is kept: use --resume.")


class Workers:
    """The processes that train one run; alone by default."""

    def __init__(self, rank: int = 0, count: int = 1, device: torch.device | None = None) -> None:
        self.rank, self.count = rank, count
        self.device = device or torch.device("cpu")  # device from which messages are sent
        self.leaving = False  # this worker wants to stop
        self.agreed = False  # whether any worker wants to stop, known to all
        self.begun = count == 1  # whether the others have their orders

    @property
    def stopping(self) -> bool:
        """True after the last step, for all workers alike."""
        return self.agreed if self.count > 1 else self.leaving

    def part(self, digits: int) -> Part:
        """This worker's digits of a batch."""
        first, last = (digits * k // self.count for k in (self.rank, self.rank + 1))
        return Part(first, last, digits)

    def gather(self, own: Terms, part: Part) -> Terms:
        """The terms of the whole batch; those of other workers' digits have no gradient."""
        if self.count == 1:
            return own
        columns = (own.squared_error, own.pixels, own.kl)
        message = torch.zeros(3, part.total + 1, dtype=torch.float64)
        message[:, part.first : part.last] = torch.stack([c.detach().double() for c in columns])
        message[0, -1] = self.leaving
        message = self._sum(message)
        self.agreed = bool(message[0, -1])

        def whole(own: Tensor, all_rows: Tensor) -> Tensor:
            rows = all_rows.to(own)
            return torch.cat([rows[: part.first], own, rows[part.last : part.total]])

        return Terms(*map(whole, columns, message))

    def sum_gradients(self, weights: Iterable[nn.Parameter]) -> None:
        """Replace gradients by their sums over workers; one that no worker has stays None."""
        if self.count == 1:
            return
        learned = [weight for weight in weights if weight.requires_grad]
        has = torch.tensor([w.grad is not None for w in learned], device=self.device)
        own = [torch.zeros_like(w) if w.grad is None else w.grad for w in learned]
        message = self._sum(torch.cat([has, *(grad.flatten() for grad in own)]))
        counts, *sums = message.split([len(learned), *(w.numel() for w in learned)])
        for weight, count, total in zip(learned, counts, sums, strict=True):
            grad = torch.empty_like(weight).copy_(total.view_as(weight))  # in the weight's layout
            weight.grad = grad if count else None

    def tell(self, content: bytes = b"") -> bytes:
        """Broadcast the first worker's message; those of the others are ignored."""
        if self.count == 1:
            return content
        self.begun = True
        message = [content]
        with _talking():
            dist.broadcast_object_list(message, 0, device=self.device)
        return message[0]

    def _sum(self, message: Tensor) -> Tensor:
        message = message.to(self.device)
        with _talking():
            dist.all_reduce(message)
        return message


@contextmanager
def _talking() -> Iterator[None]:
    try:
        yield
    except RuntimeError:  # any error of the library means that there is no answer
        raise WorkerLost from None


def choose_device(name: str = "auto") -> torch.device:
    """Choose the device to train on; each worker of a host has its own GPU."""
    here = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        name = next((kind for kind, available in here.items() if available), "cpu")
    known = name in ("cpu", *here)
    require(known, f"There is no device '{name:.60}'; choose auto, cpu, cuda or mps.")
    there = here.get(name, True)
    require(there, f"This machine, or this build of torch, has no {name}; use --device auto.")
    if name != "cuda":
        return torch.device(name)
    own = int(os.environ.get("LOCAL_RANK", "0"))
    require(own < torch.cuda.device_count(), f"Worker {own} of this host has no GPU of its own.")
    return torch.device("cuda", own)


@contextmanager
def join(device: torch.device | None = None) -> Iterator[Workers]:
    """Join the workers started by torchrun; without torchrun, this process alone.

    Workers with GPUs communicate by NCCL, others by gloo.
    """
    if os.environ.get("WORLD_SIZE", "1") == "1":
        yield Workers()
        return
    device = device if device and device.type == "cuda" else torch.device("cpu")
    try:
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=PATIENCE)
    except (RuntimeError, ValueError):
        raise UserError("The workers did not find each other; start them with torchrun.") from None
    workers = Workers(dist.get_rank(), dist.get_world_size(), device)
    try:
        yield workers
    except UserError as error:
        raise UserError(f"Worker {workers.rank}: {error}" if workers.rank else str(error)) from None
    finally:
        if workers.rank == 0 and not workers.begun:
            with suppress(WorkerLost):
                workers.tell()  # no message: workers that wait for orders end
        dist.destroy_process_group()
