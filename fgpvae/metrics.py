"""Arrays in, numbers out: errors of images and angles, calibration, exponents."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

from .errors import UserError

Array = NDArray[np.float64]


def mse_per_image(predicted: ArrayLike, truth: ArrayLike) -> Array:
    """Squared error averaged over the pixels (the last two axes): [..., 28, 28] -> [...]."""
    predicted, truth = _pair(predicted, truth)
    return ((predicted - truth) ** 2).mean(axis=(-2, -1))


def mse(predicted: ArrayLike, truth: ArrayLike) -> float:
    """Squared error averaged over everything: digits, views and pixels."""
    predicted, truth = _pair(predicted, truth)
    return float(((predicted - truth) ** 2).mean())


def circular_error(a: ArrayLike, b: ArrayLike) -> Array:
    """Distance between two angles on the circle, in radians, between 0 and pi."""
    # |((a - b + pi) mod 2 pi) - pi|
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    return np.abs((difference + np.pi) % (2 * np.pi) - np.pi)


def orientation_scores(estimated: ArrayLike, true: ArrayLike) -> dict[str, float]:
    """Median circular error in degrees, and the share of angles within 15 degrees of the truth."""
    degrees = np.degrees(circular_error(*_pair(estimated, true)))
    return {
        "median_error_degrees": float(np.median(degrees)),
        "within_15_degrees": float((degrees <= 15 + 1e-9).mean()),
    }


def coverage(
    truth: ArrayLike, mean: ArrayLike, sd: ArrayLike, levels: Sequence[float] = (0.5, 0.9)
) -> dict[str, float]:
    """Share of the truth inside the central band of N(mean, sd^2) that should hold that share.

    `sd` is that of the prediction, noise included. Keys are `coverage_50`, `coverage_90`, ...
    """
    truth, mean = _pair(truth, mean)
    distance = np.abs(truth - mean)
    sd = np.asarray(sd, dtype=np.float64)
    if (sd < 0).any():
        raise UserError("A standard deviation cannot be negative.")
    # |y - m| <= Phi^-1((1 + level) / 2) s
    return {
        _level(level): float((distance <= ndtri((1 + level) / 2) * sd).mean()) for level in levels
    }


def fitted_exponent(x: ArrayLike, seconds: ArrayLike) -> float:
    """The a of seconds = c x^a: slope of the least-squares line through (log x, log seconds)."""
    x, seconds = _pair(x, seconds)
    if (x <= 0).any() or (seconds <= 0).any() or len(np.unique(x)) < 2:
        raise UserError("An exponent needs positive numbers at two different sizes at least.")
    return float(np.polyfit(np.log(x), np.log(seconds), 1)[0])


def _pair(a: ArrayLike, b: ArrayLike) -> tuple[Array, Array]:
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.shape != b.shape or a.size == 0:
        raise UserError(f"Two arrays of one shape are needed, not {a.shape} and {b.shape}.")
    return a, b


def _level(level: float) -> str:
    if not 0 < level < 1:
        raise UserError(f"A coverage level must lie between 0 and 1, not {level}.")
    return f"coverage_{100 * level:g}"
