"""Rotation of images: the benchmark's cubic spline, and a fast one for training.

Positive angles turn counter-clockwise as displayed, like `scipy.ndimage.rotate`.
"""

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.ndimage import spline_filter1d
from scipy.sparse import csr_matrix
from scipy.special import cosdg, sindg
from torch import Tensor

from ..errors import UserError

ANGLES: np.ndarray = np.deg2rad(22.5 * np.arange(16))  # [16] radians
HELD_OUT = 7  # index of 157.5 degrees

_CHUNK = 512  # views rotated at once when every digit has its own angles


def rotate(images: ArrayLike, angles: ArrayLike) -> np.ndarray:
    """Views [P, S, 28, 28] of images [P, 28, 28] at angles [S] (shared) or [P, S], in radians.

    The same as `scipy.ndimage.rotate(image, degrees, reshape=False)`: cubic spline, not clipped.
    """
    images = np.asarray(images, dtype=np.float64)
    angles = np.asarray(angles, dtype=np.float64)
    if images.ndim != 3 or images.shape[1] != images.shape[2]:
        raise UserError(f"Images to rotate must have the shape [P, n, n], not {images.shape}.")
    if angles.ndim not in (1, 2) or (angles.ndim == 2 and len(angles) != len(images)):
        raise UserError("Angles must have the shape [S], or [P, S] with one row for each image.")
    if not np.isfinite(angles).all():
        raise UserError("Angles must be finite numbers.")
    P, size = len(images), images.shape[1]
    # Rounded so that a quarter turn given in radians is a quarter turn to the last bit.
    degrees = np.round(np.rad2deg(angles), 9) % 360
    coefficients = _prefilter(images).reshape(P, -1)  # [P, K]
    if angles.ndim == 1:
        views = np.empty((P, len(angles), size * size), dtype=np.float32)
        for s, degree in enumerate(degrees):
            views[:, s] = (_operator(float(degree), size) @ coefficients.T).T
    else:
        views = _rotate_each(coefficients, degrees, size)
    return views.reshape(P, angles.shape[-1], size, size)


def rotate_fast(images: Tensor, angles: Tensor) -> Tensor:
    """Views [P, S, 28, 28] of images [P, 28, 28] at angles [P, S] by bicubic interpolation.

    Made for training: on any device, and within 1e-4 mean squared error of `rotate`.
    """
    P, size, _ = images.shape
    S = angles.shape[1]
    line = torch.linspace(-1, 1, size, dtype=images.dtype, device=images.device)
    y, x = line[:, None], line[None, :]
    cos = angles.cos().to(images)[..., None, None]  # [P, S, 1, 1]
    sin = angles.sin().to(images)[..., None, None]
    # where in the upright image a pixel of the view comes from: a turn by -w
    grid = torch.stack((cos * x - sin * y, sin * x + cos * y), dim=-1)  # [P, S, 28, 28, 2]
    views = torch.nn.functional.grid_sample(
        images[:, None], grid.reshape(P, S * size, size, 2), mode="bicubic", align_corners=True
    )
    return views.reshape(P, S, size, size)


def _prefilter(images: np.ndarray) -> np.ndarray:
    """Cubic B-spline coefficients of images [P, n, n]."""
    for axis in (1, 2):
        images = spline_filter1d(images, 3, axis=axis, output=np.float64, mode="constant")
    return images


def _taps(degrees: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Per pixel of a view, the 16 coefficients it depends on and their weights: [S, K, 16]."""
    i, j = np.divmod(np.arange(size * size), size)
    cos, sin = cosdg(degrees)[:, None], sindg(degrees)[:, None]
    centre = (size - 1) / 2
    row = cos * i + sin * j + (centre - (cos * centre + sin * centre))  # [S, K]
    column = -sin * i + cos * j + (centre - (-sin * centre + cos * centre))
    inside = (row >= 0) & (row <= size - 1) & (column >= 0) & (column <= size - 1)
    row_index, row_weight = _spline(row, size)
    column_index, column_weight = _spline(column, size)
    index = size * row_index[..., :, None] + column_index[..., None, :]
    weight = row_weight[..., :, None] * column_weight[..., None, :] * inside[..., None, None]
    shape = (len(degrees), size * size, 16)
    return index.reshape(shape), weight.reshape(shape)


def _spline(at: np.ndarray, size: int) -> tuple[np.ndarray, np.ndarray]:
    """The four cubic B-spline taps around each position: indices and weights [..., 4]."""
    first = np.floor(at).astype(np.int64)
    t = at - first
    weight = np.stack(
        [(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3], axis=-1
    )
    # beyond the border the coefficients are mirrored: -1 is 1, n is n - 2
    index = np.abs(first[..., None] + np.arange(-1, 3))
    index = np.where(index > size - 1, 2 * (size - 1) - index, index)
    return index.clip(0, size - 1), weight / 6


@lru_cache(maxsize=64)
def _operator(degree: float, size: int) -> csr_matrix:
    """The rotation by one angle as a sparse matrix [K, K] on spline coefficients."""
    index, weight = _taps(np.array([degree]), size)
    K = size * size
    rows = np.repeat(np.arange(K), 16)
    operator = csr_matrix((weight.ravel(), (rows, index.ravel())), shape=(K, K))
    operator.eliminate_zeros()
    return operator


def _rotate_each(coefficients: np.ndarray, degrees: np.ndarray, size: int) -> np.ndarray:
    """Views [P * S, K] where each image has angles [P, S] of its own."""
    P, S = degrees.shape
    flat = degrees.ravel()
    owner = np.repeat(np.arange(P), S)
    views = np.empty((P * S, size * size), dtype=np.float32)
    for start in range(0, P * S, _CHUNK):
        part = slice(start, start + _CHUNK)
        index, weight = _taps(flat[part], size)
        taps = coefficients[owner[part][:, None, None], index]  # [chunk, K, 16]
        views[part] = np.einsum("skt,skt->sk", taps, weight)
    return views
