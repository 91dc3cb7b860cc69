"""Shepard and Metzler's figures of cubes: 3-D objects, whose far side one view hides.

Their pictures are parallel projections from above, on a turntable.

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
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from fgpvae.gp import randomness

from ..errors import UserError, require
from .cube_figures import ELEVATION, FRAME, Figure, parse, splits
from .subjects import Collection, Images, Places, Subject, Words
from .track import Track
from .views import Task, Views

SIZE = 32  # pixels
SAMPLES = 4  # each way in a pixel
AMBIENT = 0.2
LIGHT = np.array([-0.48, -0.36, 0.8])  # from the left, the front and above; upper faces are white
CHUNK = 64  # views drawn at once
ANGLES = 24  # views of a figure
QUARTER = ANGLES // 4  # a figure rotated by a quarter turn is another one
GIVEN = (1, 2, 4, 8)  # views given in the tasks, at equal distances
LISTED = 36  # figures to choose from
STEP = 7  # step between these in the list of shapes, whose neighbours look alike
SOME = 4  # one in so many training shapes is used
FIRST = 2  # the view at 30 degrees: two sides of the cubes and their tops are visible

Array = NDArray[np.float64]
Bytes = NDArray[np.uint8]


def axes(w: ArrayLike) -> Array:
    """The rows right, up and near of the projection at yaws [...] -> [..., 3, 3]."""
    w = np.asarray(w, dtype=np.float64)
    cos, sin, zero = np.cos(w), np.sin(w), np.zeros_like(w)
    c, s = math.cos(ELEVATION), math.sin(ELEVATION)
    right = np.stack([cos, -sin, zero], -1)
    up = np.stack([s * sin, s * cos, zero + c], -1)
    near = np.stack([-c * sin, -c * cos, zero + s], -1)
    return np.stack([right, up, near], -2)


def draw(figures: Sequence[Figure], w: ArrayLike, size: int = SIZE) -> Bytes:
    """Pictures of P figures at yaws [P, S] -> [P, S, size, size], from 0 to 255."""
    w = np.asarray(w, dtype=np.float64)
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


def _draw(cubes: NDArray[np.int64], w: Array, size: int) -> Bytes:
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
    # brightness of the faces across x, y and z; either the face x or the face -x is visible
    (right, front, above), cos, sin = LIGHT, np.cos(w), np.sin(w)
    light = [cos * right + sin * front, cos * front - sin * right, above * np.ones_like(cos)]
    shade = AMBIENT + (np.copysign(1.0, to_view[:, 2]) * np.stack(light, -1)).clip(0)  # [B, 3]
    canvas = np.zeros(B * width * width, dtype=np.float32)
    inside = np.arange(2 * half + 1)
    for k in range(n):
        columns, rows = np.moveaxis(corner[:, k, :, None] + inside, 1, 0)  # [B, K]
        place = (np.arange(B)[:, None, None] * width + rows[:, :, None]) * width + columns[:, None]
        right = (columns + 0.5 - middle[:, k, :1]) / unit
        up = -(rows + 0.5 - middle[:, k, 1:]) / unit
        hit, brightness = _cube(to_view, right, up, shade)
        canvas[place[hit]] = brightness[hit]
    margin = half + 1
    picture = canvas.reshape(B, width, width)[:, margin:-margin, margin:-margin]
    fine = picture.reshape(B, size, SAMPLES, size, SAMPLES)
    images: Bytes = np.rint(255 / SAMPLES**2 * np.einsum("bisjt->bij", fine)).astype(np.uint8)
    return images


def _cube(to_view: Array, right: Array, up: Array, shade: Array) -> tuple[NDArray[np.bool_], Array]:
    """Which of the samples [B, K] x [B, K] about its middle a cube covers, and how bright it is.

    The line of sight through (right, up) leaves the slab |p_i| < 1/2 towards the viewer at
    t_i = (1/2 - s_i q_i) / |near_i|, s_i the sign of near_i and q the point at t = 0. It meets the
    cube if it leaves no slab before it has entered all; the first slab that it leaves is the face.
    """
    near = to_view[:, 2]
    steep = np.abs(near).clip(1e-9)  # [B, 3]
    scaled = -(to_view[:, :2] * np.copysign(1.0, near)[:, None] / steep[:, None]).astype("f4")
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


class Turntable:
    """24 views of each of P figures, from its own first angle on: together they cover the circle.

    Rotated by quarter turns, the same views are those of three more figures at no cost.
    """

    def __init__(self, figures: Sequence[Figure], seed: int = 0, size: int = SIZE) -> None:
        start = np.random.default_rng(seed).uniform(0, 2 * math.pi / ANGLES, len(figures))
        self.start = torch.from_numpy(start)  # [P] radians
        drawn = draw(figures, start[:, None] + grid().numpy(), size)
        self.images = torch.from_numpy(drawn)  # [P, 24, size, size] uint8

    def __len__(self) -> int:
        return len(self.images)

    def batch(self, rows: Tensor, views: int, generator: torch.Generator) -> Views:
        """Random views of some figures, each rotated by random quarter turns."""
        P = len(rows)
        columns = randomness.uniform((P, ANGLES), generator=generator).argsort(1)[:, :views]
        quarters = (4 * randomness.uniform((P, 1), generator=generator)).long()
        # a figure rotated by a quarter turn looks at w as it did at w + π/2
        w = self.start[rows, None] + columns * (2 * math.pi / ANGLES) - quarters * (math.pi / 2)
        images = self.images[rows[:, None], columns].float() / 255
        return Views.complete(images, w % (2 * math.pi), rows)


def views_of(figures: Sequence[Figure], size: int = SIZE) -> Tensor:
    """All figures at the 24 angles from 0 on, [P, 24, size, size] from 0 to 1."""
    w = np.broadcast_to(grid().numpy(), (len(figures), ANGLES))
    return torch.from_numpy(draw(figures, w, size)).float() / 255


def grid() -> Tensor:
    """The angles of the tasks, [24] radians."""
    return torch.arange(ANGLES, dtype=torch.float64) * (2 * math.pi / ANGLES)


def task(images: Tensor, given: int, first: int = 0) -> Task:
    """Predict all views [P, 24, H, W] of the grid from some evenly spaced ones.

    `first` is the number of the first given view. Views 0, 6, 12 and 18 face a side of the cubes
    and show less of a figure than the others.
    """
    observed = (torch.arange(ANGLES) - first) % (ANGLES // given) == 0
    return Task.between(images, grid(), observed, ~observed)


def references(training: Tensor, unseen: Tensor) -> dict[str, float]:
    """Mean squared errors without a model on views [P, 24, H, W], given the view at 0.

    `mean_image`: the mean of all training figures at the angle. `same_view`: the one view itself,
    not turned. `nearest_figure`: the training figure, turned by quarters, that looks most like it
    at 0. `neighbouring_view`, the true view 15 degrees before, shows how much one step changes.
    """
    starts = torch.cat([training[:, k * QUARTER] for k in range(4)])  # [4 N, H, W]
    found = torch.cdist(unseen[:, 0].flatten(1), starts.flatten(1)).argmin(1)
    quarter, row = found // len(training), found % len(training)
    columns = (torch.arange(ANGLES) + QUARTER * quarter[:, None]) % ANGLES  # [P, 24]
    predictions = {
        "mean_image": _mean_views(training),
        "same_view": unseen[:, :1],
        "nearest_figure": training[row[:, None], columns],
    }
    errors = {
        name: float((guess - unseen)[:, 1:].square().mean()) for name, guess in predictions.items()
    }
    errors["neighbouring_view"] = float((unseen.roll(1, 1) - unseen).square().mean())
    return errors


def _mean_views(images: Tensor) -> Tensor:
    """The mean view of figures [P, 24, H, W], turned by all quarter turns: [24, H, W]."""
    mean = images.mean(0)
    return torch.stack([mean.roll(k * QUARTER, 0) for k in range(4)]).mean(0)


class CubeFigure(Subject):
    """A figure that turns; its id are its moves."""

    w = grid().numpy()

    def __init__(self, figure: Figure, new: bool | None = True) -> None:
        super().__init__(figure.moves.replace(" ", ""), "cube figure", new=new)
        self.figure = figure

    @cached_property
    def images(self) -> Images:
        return self.truth_at(self.w)

    @property
    def thumbnail(self) -> Images:
        return self.images[FIRST]

    @property
    def first_views(self) -> list[int]:
        return [FIRST]

    @property
    def order(self) -> list[int]:
        """Evenly spaced views, the first at 30 degrees."""
        steps = (FIRST + k * ANGLES // n for n in (1, 2, 4, 8, 24) for k in range(n))
        return list(dict.fromkeys(step % ANGLES for step in steps))

    def truth_at(self, w: Places) -> Images:
        return draw([self.figure], np.asarray(w)[None])[0].astype(np.float32) / np.float32(255)


@dataclass(frozen=True)
class Cubes(Collection):
    """Shepard and Metzler's figures."""

    name = "cubes"
    group = "Objects"
    track = Track(360.0)
    ambiguous = True
    words = Words(
        "cube figure", "cube figures", "angle", "views", "Rotate an object", "Build a cube figure"
    )

    def subjects(self, new: bool, label: int | None = None) -> Sequence[CubeFigure]:
        return _listed(new)

    def find(self, text: str) -> CubeFigure | None:
        try:
            return self.figure(text)
        except UserError:
            return None

    def figure(self, moves: str) -> CubeFigure:
        """Parse a string of moves; raise a UserError that says what is wrong with it."""
        figure = parse(moves)
        require(figure.fits(), "The figure reaches out of the picture when it is turned.")
        known = {each.shape for each in splits().training}
        return CubeFigure(figure, figure.shape not in known)

    def training_views(self, label: int | None = None, count: int = 120) -> Views:
        return Views.complete(_training_images()[:count], grid())

    def mean_at(self, w: Places, label: int | None = None) -> Images:
        nearest = np.rint(np.asarray(w) * ANGLES / (2 * np.pi)).astype(int) % ANGLES
        return _mean_views(_training_images()).numpy()[nearest]


@cache
def _listed(new: bool) -> tuple[CubeFigure, ...]:
    shapes = splits().unseen if new else splits().training
    groups = (shapes[number * STEP % len(shapes)].copies() for number in range(LISTED))
    return tuple(CubeFigure(group[k % len(group)], new) for k, group in enumerate(groups))


@cache
def _training_images() -> Tensor:
    """Views of some training shapes, each in one orientation, [P, 24, H, W]."""
    stream = np.random.default_rng(0)
    groups = (shape.copies() for shape in splits().training[::SOME])
    return views_of([group[stream.integers(len(group))] for group in groups])
