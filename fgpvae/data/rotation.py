"""Rotation of images by the benchmark's cubic spline; a fast one and deformations for training.

Positive angles turn counter-clockwise as displayed, like `scipy.ndimage.rotate`.
"""

from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import ArrayLike
from scipy.ndimage import affine_transform, spline_filter1d
from scipy.special import cosdg, sindg
from torch import Tensor

from fgpvae.gp.randomness import normal

from ..errors import require
from .views import Views

ANGLES: np.ndarray = np.deg2rad(22.5 * np.arange(16))  # [16] radians
HELD_OUT_INDEX = 7  # index of 157.5 degrees
AFFINE = 0.10  # standard deviation of shear, stretch and size at strength 1
ELASTIC = 0.06  # standard deviation of the displacement at strength 1, in half image widths
KNOTS = 4  # knots per side of the smooth displacement


def circular_error(a: ArrayLike, b: ArrayLike) -> np.ndarray:
    """Distance between two angles on the circle, from 0 to π radians."""
    difference = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    return np.abs((difference + np.pi) % (2 * np.pi) - np.pi)


def rotate(images: ArrayLike, angles: ArrayLike) -> np.ndarray:
    """Views [P, S, 28, 28] of images [P, 28, 28] at angles [S] (shared) or [P, S], in radians.

    The same as `scipy.ndimage.rotate(image, degrees, reshape=False)`: cubic spline, not clipped.
    """
    images, angles = (np.asarray(values, dtype=np.float64) for values in (images, angles))
    square = images.ndim == 3 and images.shape[1] == images.shape[2]
    require(square, f"Images to rotate must have the shape [P, n, n], not {images.shape}.")
    rows = angles.ndim == 1 or (angles.ndim == 2 and len(angles) == len(images))
    require(rows, "Angles must have the shape [S], or [P, S] with one row for each image.")
    require(np.isfinite(angles).all(), "Angles must be finite numbers.")
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
    cos, sin = (x.to(images)[..., None, None] for x in (angles.cos(), angles.sin()))  # [P, S, 1, 1]
    # place in the upright image of each pixel of the view: a rotation by -w
    grid = torch.stack((cos * x - sin * y, sin * x + cos * y), dim=-1)  # [P, S, 28, 28, 2]
    views = F.grid_sample(
        images[:, None], grid.reshape(P, S * size, size, 2), mode="bicubic", align_corners=True
    )
    return views.reshape(P, S, size, size)


def warp(views: Views, strength: float, generator: torch.Generator) -> Views:
    """Deform each digit at random, all of its views in the same way.

    A deformation is a small symmetric linear map (stretch and shear without rotation) and a smooth
    displacement of the upright digit. A view at angle w is deformed by the same map turned by w, so
    the views stay views of one digit, at their angles.
    """
    P, Q, height, width = views.images.shape
    drawn = normal((P, 2, 2), generator=generator)
    # the symmetric part only, because the antisymmetric part rotates the digit
    linear = torch.eye(2) + strength * AFFINE * (drawn + drawn.mT) / 2
    knots = strength * ELASTIC * normal((P, 2, KNOTS, KNOTS), generator=generator)
    y, x = torch.meshgrid(
        torch.linspace(-1, 1, height), torch.linspace(-1, 1, width), indexing="ij"
    )
    grid = torch.stack([x, y], -1).reshape(-1, 2)  # [K, 2]
    # to the upright frame with Rᵀ (x right, y down), deformed there, and back with R
    cos, sin = views.angles.cos(), views.angles.sin()
    turn = torch.stack([cos, -sin, sin, cos], -1).unflatten(-1, (2, 2)).float()  # [P, Q, 2, 2]
    upright = torch.einsum("pqij,kj->pqki", turn, grid)
    moved = torch.einsum("pij,pqkj->pqki", linear, upright)
    shift = F.grid_sample(knots, upright, mode="bicubic", padding_mode="border", align_corners=True)
    moved = moved + shift.permute(0, 2, 3, 1)
    back = torch.einsum("pqji,pqkj->pqki", turn, moved)
    images = F.grid_sample(
        views.images.reshape(P * Q, 1, height, width),
        back.reshape(P * Q, height, width, 2),
        mode="bicubic",
        align_corners=True,
    ).reshape(P, Q, height, width)
    return replace(views, images=torch.where(views.observed[..., None, None], images, 0.0))
