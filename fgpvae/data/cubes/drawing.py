"""Pictures of figures on a turntable, in parallel projection from above.

A cube with centre c (x right, y away from the viewer, z up; unit sides) is drawn as follows, for a
yaw w counter-clockwise as seen from above, an elevation e of the viewer, and the centroid m of all
centres, through which the axis goes:

    p = c - m
    x' = cos(w) p_x - sin(w) p_y        y' = sin(w) p_x + cos(w) p_y        z' = p_z
    right = x'      up = cos(e) z' + sin(e) y'      near = sin(e) z' - cos(e) y'

`near` grows towards the viewer. In a picture of S x S pixels, with rows counted downwards,

    column = S (1/2 + right / FRAME)        row = S (1/2 - up / FRAME)

FRAME cubes fit into the width. It is the same for all figures; those of ten cubes in four arms fit
at all angles. Cubes drawn in the order of `near` cover each other correctly: a cube that hides
another one differs from it by steps towards the viewer alone.

A face with normal n, turned with the figure, has brightness AMBIENT + max(0, n·LIGHT): the light
stays where it is. The background is 0.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .figures import ELEVATION, FRAME, Figure

SIZE = 32  # pixels
SAMPLES = 4  # each way in a pixel
AMBIENT = 0.2
LIGHT = np.array([-0.48, -0.36, 0.8])  # from the left, the front and above; upper faces are white
CHUNK = 64  # views drawn at once

Array = NDArray[np.float64]
Images = NDArray[np.uint8]


def axes(w: ArrayLike) -> Array:
    """The rows right, up and near of the projection at yaws [...] -> [..., 3, 3]."""
    w = np.asarray(w, dtype=np.float64)
    cos, sin, zero = np.cos(w), np.sin(w), np.zeros_like(w)
    c, s = math.cos(ELEVATION), math.sin(ELEVATION)
    right = np.stack([cos, -sin, zero], -1)
    up = np.stack([s * sin, s * cos, zero + c], -1)
    near = np.stack([-c * sin, -c * cos, zero + s], -1)
    return np.stack([right, up, near], -2)


def shades(w: ArrayLike) -> Array:
    """Brightness of the faces across x, y and z that the viewer sees at yaws [...] -> [..., 3]."""
    right, front, above = LIGHT
    cos, sin = np.cos(w), np.sin(w)
    light = [cos * right + sin * front, cos * front - sin * right, above * np.ones_like(cos)]
    facing = np.copysign(1.0, axes(w)[..., 2, :])  # either the face x or the face -x is visible
    bright: Array = AMBIENT + (facing * np.stack(light, -1)).clip(0)
    return bright


def draw(figures: Sequence[Figure], w: ArrayLike, size: int = SIZE) -> Images:
    """Pictures of P figures at yaws [P, S] -> [P, S, size, size], from 0 to 255."""
    w = np.asarray(w, dtype=np.float64)
    if w.ndim != 2 or len(w) != len(figures):
        raise ValueError(f"{len(figures)} figures need yaws [P, S], not {w.shape}")
    S = w.shape[1]
    images = np.empty((w.size, size, size), dtype=np.uint8)
    counts = np.repeat([len(figure.cubes) for figure in figures], S)
    for count in np.unique(counts):  # figures with equally many cubes are drawn together
        alike = np.flatnonzero(counts == count)
        for first in range(0, len(alike), CHUNK):
            chunk = alike[first : first + CHUNK]
            cubes = np.stack([figures[view // S].array for view in chunk])
            images[chunk] = _draw(cubes, w.reshape(-1)[chunk], size)
    return images.reshape(*w.shape, size, size)


def _draw(cubes: NDArray[np.int64], w: Array, size: int) -> Images:
    """Paint cubes [B, n, 3] from back to front, each as a patch of samples."""
    B, n, _ = cubes.shape
    unit = SAMPLES * size / FRAME  # samples a cube
    half = math.ceil(0.87 * unit)  # no corner is farther than √3/2 from the middle of a cube
    width = SAMPLES * size + 2 * half + 2  # with a margin for patches
    to_view = axes(w)  # [B, 3, 3]
    view = np.einsum("bij,bnj->bni", to_view, cubes - cubes.mean(1, keepdims=True))
    order = np.argsort(view[..., 2], axis=1, kind="stable")
    view = np.take_along_axis(view, order[..., None], 1)
    middle = np.stack([view[..., 0], -view[..., 1]], -1) * unit + width / 2  # column, row
    corner = np.floor(middle).astype(np.int64) - half  # [B, n, 2]
    shade = shades(w)  # [B, 3]
    canvas = np.zeros(B * width * width, dtype=np.float32)
    inside = np.arange(2 * half + 1)
    for k in range(n):
        columns, rows = np.moveaxis(corner[:, k, :, None] + inside, 1, 0)  # [B, K]
        place = (np.arange(B)[:, None, None] * width + rows[:, :, None]) * width
        place = place + columns[:, None, :]
        right = (columns + 0.5 - middle[:, k, :1]) / unit
        up = -(rows + 0.5 - middle[:, k, 1:]) / unit
        hit, brightness = _cube(to_view, right, up, shade)
        canvas[place[hit]] = brightness[hit]
    margin = half + 1
    picture = canvas.reshape(B, width, width)[:, margin:-margin, margin:-margin]
    fine = picture.reshape(B, size, SAMPLES, size, SAMPLES)
    images: Images = np.rint(255 / SAMPLES**2 * np.einsum("bisjt->bij", fine)).astype(np.uint8)
    return images


def _cube(to_view: Array, right: Array, up: Array, shade: Array) -> tuple[NDArray[np.bool_], Array]:
    """Which of the samples [B, K] x [B, K] about its middle a cube covers, and how bright it is.

    The line of sight through (right, up) leaves the slab |p_i| < 1/2 towards the viewer at
    t_i = (1/2 - s_i q_i) / |near_i|, s_i the sign of near_i and q the point at t = 0. It meets the
    cube if it leaves no slab before it has entered all; the first slab that it leaves is the face.
    """
    near = to_view[:, 2]
    steep = np.abs(near).clip(1e-9)  # [B, 3]
    scaled = -(to_view[:, :2] * np.copysign(1.0, near)[:, None] / steep[:, None])
    scaled = scaled.astype(np.float32)
    reach = (0.5 / steep).astype(np.float32)
    r, u = right.astype(np.float32)[:, None, :], up.astype(np.float32)[:, :, None]

    def along(i: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        middle = scaled[:, 0, i, None, None] * r + scaled[:, 1, i, None, None] * u
        return middle + reach[:, i, None, None], middle - reach[:, i, None, None]

    (x, x_in), (y, y_in), (z, z_in) = map(along, range(3))
    side = np.minimum(x, y)
    hit = np.minimum(side, z) > np.maximum(np.maximum(x_in, y_in), z_in)
    bright = shade.astype(np.float32)[:, :, None, None]
    return hit, np.where(z < side, bright[:, 2], np.where(x < y, bright[:, 0], bright[:, 1]))
