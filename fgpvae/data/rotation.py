"""Rotation of images: the benchmark's cubic spline, and a fast one for training.

Positive angles turn counter-clockwise as displayed, like `scipy.ndimage.rotate`.
"""

from functools import lru_cache

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.ndimage import affine_transform, spline_filter1d
from scipy.sparse import csr_matrix
from scipy.special import cosdg, sindg
from torch import Tensor

from ..errors import UserError

ANGLES: np.ndarray = np.deg2rad(22.5 * np.arange(16))  # [16] radians
HELD_OUT_INDEX = 7  # index of 157.5 degrees

_MANY = 16  # images from which on a matrix for each angle pays


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
    coefficients = _prefilter(images)
    views = np.empty((P, degrees.shape[-1], size, size), dtype=np.float32)
    if degrees.ndim == 1 and P >= _MANY:
        columns = coefficients.reshape(P, -1).T  # [K, P]
        for s, degree in enumerate(degrees):
            views[:, s] = (_operator(float(degree), size) @ columns).T.reshape(P, size, size)
        return views
    for p, s in np.ndindex(views.shape[:2]):
        matrix, offset = _geometry(degrees[s] if degrees.ndim == 1 else degrees[p, s], size)
        views[p, s] = affine_transform(coefficients[p], matrix, offset, prefilter=False)
    return views


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


def _geometry(degree: float, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Matrix and offset that take a pixel of the view to its place in the upright image."""
    matrix = np.array([[cosdg(degree), sindg(degree)], [-sindg(degree), cosdg(degree)]])
    centre = np.full(2, (size - 1) / 2)
    return matrix, centre - matrix @ centre


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
    matrix, offset = _geometry(degree, size)
    K = size * size
    pixels = np.stack(np.divmod(np.arange(K), size), axis=1)  # [K, 2]
    source = pixels @ matrix.T + offset
    inside = ((source >= 0) & (source <= size - 1)).all(axis=1)
    index, weight = _spline(source, size)  # [K, 2, 4]
    index = size * index[:, 0, :, None] + index[:, 1, None, :]  # [K, 4, 4]
    weight = weight[:, 0, :, None] * weight[:, 1, None, :] * inside[:, None, None]
    rows = np.repeat(np.arange(K), 16)
    operator = csr_matrix((weight.ravel(), (rows, index.ravel())), shape=(K, K))
    operator.eliminate_zeros()
    return operator
