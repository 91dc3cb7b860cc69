"""Rotation of images: the benchmark's cubic spline, and a fast one for training.

Positive angles turn counter-clockwise as displayed, like `scipy.ndimage.rotate`.
"""

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.ndimage import affine_transform, spline_filter1d
from scipy.special import cosdg, sindg
from torch import Tensor

from ..errors import UserError

ANGLES: np.ndarray = np.deg2rad(22.5 * np.arange(16))  # [16] radians
HELD_OUT_INDEX = 7  # index of 157.5 degrees


def circular_error(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Distance between two angles on the circle, from 0 to π radians."""
    # |((a - b + pi) mod 2 pi) - pi|
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    return np.abs((difference + np.pi) % (2 * np.pi) - np.pi)


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
    # rounded, so that a quarter turn in radians is exactly a quarter turn
    degrees = np.round(np.rad2deg(angles), 9) % 360
    coefficients: np.ndarray = images  # of cubic B-splines
    for axis in (1, 2):
        coefficients = spline_filter1d(coefficients, 3, axis, np.float64, mode="constant")
    centre = np.full(2, (size - 1) / 2)
    views = np.empty((P, degrees.shape[-1], size, size), dtype=np.float32)
    for p, s in np.ndindex(views.shape[:2]):
        degree = degrees[s] if degrees.ndim == 1 else degrees[p, s]
        # maps a pixel of the view to its place in the upright image
        matrix = np.array([[cosdg(degree), sindg(degree)], [-sindg(degree), cosdg(degree)]])
        offset = centre - matrix @ centre
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
    # place in the upright image of each pixel of the view: a rotation by -w
    grid = torch.stack((cos * x - sin * y, sin * x + cos * y), dim=-1)  # [P, S, 28, 28, 2]
    views = torch.nn.functional.grid_sample(
        images[:, None], grid.reshape(P, S * size, size, 2), mode="bicubic", align_corners=True
    )
    return views.reshape(P, S, size, size)
