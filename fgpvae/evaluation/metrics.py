"""Errors of images and angles, fitted exponents, and principal components."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fgpvae.data.rotation import circular_error

Array = NDArray[np.float64]


def mse(predicted: ArrayLike, truth: ArrayLike) -> float:
    """Squared error averaged over everything: digits, views and pixels."""
    difference = np.asarray(predicted, dtype=np.float64) - np.asarray(truth, dtype=np.float64)
    return float(np.square(difference).mean())


def orientation_scores(estimated: ArrayLike, true: ArrayLike) -> dict[str, float]:
    """Median circular error in degrees, and the share of angles within 15 degrees of the truth."""
    degrees = np.degrees(circular_error(estimated, true))
    return {
        "median_error_degrees": float(np.median(degrees)),
        "within_15_degrees": float((degrees <= 15 + 1e-9).mean()),
    }


def fitted_exponent(x: ArrayLike, seconds: ArrayLike) -> float:
    """The a of seconds = c x^a: slope of the least-squares line through (log x, log seconds)."""
    return float(np.polyfit(np.log(x), np.log(seconds), 1)[0])


def principal_components(rows: Array, count: int) -> Array:
    """The first directions [count, C] of a PCA of centred rows [N, C], as scikit-learn's.

    scikit-learn itself would add 60 MB to the memory of a server.
    """
    directions: Array = np.linalg.svd(rows, full_matrices=False)[2][:count]
    largest = np.abs(directions).argmax(1)  # which decides the sign
    return directions * np.sign(directions[range(len(directions)), largest])[:, None]
