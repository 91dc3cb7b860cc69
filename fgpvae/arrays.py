"""Arrays or tensors in, the same out: kind, device and dtype of what people pass in."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from fgpvae.errors import UserError


def tensor(given: Any, name: str, device: torch.device) -> Tensor:
    """Anything that holds numbers, as a tensor on a device."""
    if not isinstance(given, Tensor):
        try:
            given = np.array(given)  # a copy: an array may be read-only or run backwards
            given = torch.from_numpy(given)
        except (TypeError, ValueError, RuntimeError):
            raise UserError(f"{name} must be an array of numbers.") from None
    if given.is_complex():
        raise UserError(f"{name} must be an array of real numbers.")
    return given.to(device)


def like(result: Tensor, given: Any) -> Any:
    """A result as the kind of array that was given, on its device and of its precision.

    Precision is that of numbers with a fraction: whole ones and lists get the result's own.
    """
    if isinstance(given, Tensor):
        return result.to(given.device, given.dtype if given.is_floating_point() else result.dtype)
    if not isinstance(given, np.ndarray):
        return result
    array = result.detach().cpu().numpy()
    return array.astype(given.dtype) if given.dtype.kind == "f" else array
