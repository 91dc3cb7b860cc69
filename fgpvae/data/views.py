"""Padded and masked views of digits or other objects, and tasks on them."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Self

import numpy as np
import torch
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from ..errors import require

Index = slice | int | Sequence[int] | np.ndarray | Tensor


@dataclass(frozen=True)
class _Rows:
    """Fields whose first axis is that of the digits."""

    def __getitem__(self, index: Index) -> Self:
        """Some of the digits: a slice, one or more row numbers, or a mask."""
        if not isinstance(index, slice):  # keep the axis of the digits
            rows = torch.atleast_1d(torch.as_tensor(index))
            index = rows if len(rows) else rows.long()
        return type(self)(*(getattr(self, each.name)[index] for each in fields(self)))

    def to(self, device: torch.device | str) -> Self:
        return type(self)(*(getattr(self, each.name).to(device) for each in fields(self)))


@dataclass(frozen=True)
class Views(_Rows):
    """P digits with up to Q views each; a digit with fewer views is padded.

    Objects in colour have images [P, Q, 3, H, W]; on a line an angle is a place from -1 to 1.
    """

    images: Tensor  # [P, Q, 28, 28] float32, 0 where not observed
    angles: Tensor  # [P, Q] float64 radians
    observed: Tensor  # [P, Q] bool
    ids: Tensor  # [P] int64, ids in the training set; -1 if not in it
    labels: Tensor  # [P] int64
    # [P] bool: whether the held-out view is a test image; False by default
    tested: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.bool))

    def __post_init__(self) -> None:
        if self.tested.shape == (0,):
            object.__setattr__(self, "tested", torch.zeros_like(self.ids, dtype=torch.bool))
        digits, views = self.ids.shape, self.angles.shape
        _check("angles", views[:1], digits)
        _check("images", self.images.shape[:2], views)
        _check("observed", self.observed.shape, views)
        _check("labels", self.labels.shape, digits)
        _check("tested", self.tested.shape, digits)
        # padding is ignored, but NaN would survive a product with 0
        known = self.observed | self.angles.isfinite()
        if not bool(known.all()):
            object.__setattr__(self, "angles", torch.where(known, self.angles, 0.0))

    @classmethod
    def complete(
        cls, images: Tensor, w: Tensor, ids: Tensor | None = None, labels: Tensor | None = None
    ) -> "Views":
        """Views without padding: images [P, Q, ...] at angles [P, Q], or [Q] shared by all."""
        P, Q = images.shape[:2]
        ids = torch.full((P,), -1) if ids is None else ids.to(torch.int64)
        labels = torch.zeros(P, dtype=torch.int64) if labels is None else labels
        return cls(images, w.expand(P, Q), torch.ones(P, Q, dtype=torch.bool), ids, labels)

    def __len__(self) -> int:
        return len(self.ids)


@dataclass(frozen=True)
class Task(_Rows):
    """Predict the targets, views of the context's digits at the angles `at`."""

    context: Views
    targets: Tensor  # [P, S, 28, 28] float32
    at: Tensor  # [P, S] float64 radians
    # [P, S] bool: whether a target exists or is padding; True by default
    asked: Tensor = field(default_factory=lambda: torch.zeros(0, dtype=torch.bool))

    def __post_init__(self) -> None:
        if self.asked.shape == (0,):
            object.__setattr__(self, "asked", torch.ones_like(self.at, dtype=torch.bool))
        _check("at", self.at.shape[:1], self.context.ids.shape)
        _check("targets", self.targets.shape[:2], self.at.shape)
        _check("asked", self.asked.shape, self.at.shape)

    @classmethod
    def between(cls, images: Tensor, w: Tensor, observed: Tensor, asked: Tensor) -> "Task":
        """Predict the views `asked` [Q] from those `observed` [Q]: images [P, Q, ...] at w [Q]."""
        context = Views.complete(images[:, observed], w[observed])
        return cls(context, images[:, asked], w[asked].expand(len(images), -1))

    def __len__(self) -> int:
        return len(self.context)


def padded(images: Sequence[np.ndarray], w: Sequence[np.ndarray]) -> tuple[Tensor, Tensor, Tensor]:
    """Views [q, ...] at w [q] of each digit as images [P, Q, ...], w and which there are [P, Q]."""
    count = torch.tensor([len(each) for each in w])
    there = torch.arange(int(count.max())) < count[:, None]
    pictures, places = (
        pad_sequence([torch.from_numpy(each) for each in part], batch_first=True)
        for part in (images, w)
    )
    return pictures, places, there


def _check(name: str, shape: Sequence[int], expected: Sequence[int]) -> None:
    message = f"{name} has the shape {list(shape)} where the rest asks for {list(expected)}."
    require(tuple(shape) == tuple(expected), message)
