"""Convert arrays to tensors, and results back to the kind, device and dtype of the input."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from fgpvae.errors import UserError, require


def tensor(given: Any, name: str, device: torch.device) -> Tensor:
    """Convert an array of numbers to a tensor on a device."""
    if not isinstance(given, Tensor):
        try:
            given = torch.from_numpy(np.array(given))  # a copy: it may be read-only or reversed
        except (TypeError, ValueError, RuntimeError):
            raise UserError(f"{name} must be an array of numbers.") from None
    require(not given.is_complex(), f"{name} must be an array of real numbers.")
    return given.to(device)


def like(result: Tensor, given: Any) -> Any:
    """Convert a result to the kind, device and precision of the given array.

    For lists and arrays of whole numbers the result keeps its own precision.
    """
    if isinstance(given, Tensor):
        return result.to(given.device, given.dtype if given.is_floating_point() else result.dtype)
    if not isinstance(given, np.ndarray):
        return result
    array = result.detach().cpu().numpy()
    return array.astype(given.dtype) if given.dtype.kind == "f" else array
