"""Largest and smallest values in squares around each pixel, in few passes over the picture."""

from collections.abc import Callable

import numpy as np

Extreme = Callable[[np.ndarray, np.ndarray], np.ndarray]  # np.maximum or np.minimum


def closing(image: np.ndarray, side: int) -> np.ndarray:
    """[H, W] without dark things that are narrower than a square; its edge goes on beyond it."""
    return _in_squares(
        _in_squares(_widened(image, side, "edge"), side, np.maximum), side, np.minimum
    )


def opening(image: np.ndarray, side: int) -> np.ndarray:
    """[H, W] without light things that are narrower than a square; it is mirrored at its edge."""
    wide = _widened(image, side, "symmetric")
    return _in_squares(_in_squares(wide, side, np.minimum), side, np.maximum)


def largest_nearby(image: np.ndarray) -> np.ndarray:
    """[H, W] the largest value among each pixel and its eight neighbours."""
    return _in_squares(np.pad(image, 1, mode="symmetric"), 3, np.maximum)


def rim(mask: np.ndarray) -> np.ndarray:
    """[H, W] bool: the pixels of a mask with one beside, above or below that is not of it."""
    inner = np.zeros_like(mask)
    beside = mask[1:-1, :-2] & mask[1:-1, 2:]
    inner[1:-1, 1:-1] = mask[:-2, 1:-1] & mask[2:, 1:-1] & beside
    return mask & ~inner


def _widened(image: np.ndarray, side: int, mode: str) -> np.ndarray:
    """As much wider as two passes take away."""
    return np.pad(image, side - 1, mode=mode)  # type: ignore[call-overload]


def _in_squares(image: np.ndarray, side: int, extreme: Extreme) -> np.ndarray:
    """[H, W] -> [H - side + 1, W - side + 1], the extreme of each square."""
    return _along(_along(image, side, extreme).T, side, extreme).T


def _along(image: np.ndarray, length: int, extreme: Extreme) -> np.ndarray:
    """The extreme of so many neighbours in each column: spans are joined, each twice the last."""
    span = 1
    while 2 * span <= length:
        image = extreme(image[:-span], image[span:])
        span *= 2
    rest = length - span
    return extreme(image[:-rest], image[rest:]) if rest else image
