"""One figure of cubes as one model imagines it: from given sides, all around, and the truth."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from fgpvae.data import cubes
from fgpvae.data.cubes import Figure
from fgpvae.errors import UserError
from fgpvae.models import Model

FRAMES = 24  # pictures of a turn
POSSIBILITIES = 6  # posterior samples

Images = NDArray[np.float32]
Angles = NDArray[np.float64]


@dataclass(frozen=True)
class Imagined:
    """A figure all around: what the model believes, what it holds possible, and what is true."""

    figure: Figure
    given: Angles  # [Q] radians, the angles of the views that the model was given
    views: Images  # [Q, H, W] these views
    angles: Angles  # [S] radians
    mean: Images  # [S, H, W] decoded posterior mean
    possible: Images  # [K, S, H, W] decoded posterior samples, each of one figure that turns
    truth: Images  # [S, H, W]

    @property
    def errors(self) -> Angles:
        """Mean squared error of the mean at each angle, [S]."""
        squares: Angles = (self.mean - self.truth).astype(np.float64) ** 2
        return squares.mean((1, 2))

    @property
    def doubt(self) -> Angles:
        """Root mean variance of a pixel over the possibilities at each angle, [S]."""
        variance: Angles = self.possible.astype(np.float64).var(0, ddof=1)
        return np.sqrt(variance.mean((1, 2)))


def figure_of(moves: str) -> Figure:
    """The figure of a string of moves, if it fits into the picture."""
    figure = cubes.parse(moves)
    cubes.check_fits(figure)
    return figure


def check_model(model: Model) -> None:
    """Refuse a model that cannot imagine a figure of cubes."""
    channels, height, width = model.config.network.shape
    if channels != 1 or height != width or height != cubes.SIZE or model.config.on_a_line:
        raise UserError("This model was not trained on figures of cubes.")
    if not (model.takes_new_digits and model.knows_angles):
        raise UserError(f"A {model.title} cannot turn a figure that it was not trained on.")


@torch.no_grad()
def imagine(
    model: Model,
    figure: Figure | str,
    given: Sequence[float] | Angles,
    at: Sequence[float] | Angles | None = None,
    possibilities: int = POSSIBILITIES,
    seed: int = 0,
) -> Imagined:
    """What a model makes of a figure, or of its moves, from its views at angles [Q] radians.

    Asked for are angles `at` [S], or 24 at equal distances from 0 on. The samples of a seed are
    the same each time.

    >>> import fgpvae
    >>> from fgpvae.figure_view import imagine
    >>> model = fgpvae.FGPVAE(fgpvae.presets.preset("cubes-quick").model)
    >>> seen = imagine(model, "x3 y2 -z2 x2", [0.0])
    >>> seen.mean.shape, seen.possible.shape, seen.truth.shape
    ((24, 32, 32), (6, 24, 32, 32), (24, 32, 32))
    """
    check_model(model)
    figure = figure_of(figure) if isinstance(figure, str) else figure
    w = np.asarray(given, dtype=np.float64)
    if w.ndim != 1 or not len(w) or not np.isfinite(w).all():
        raise UserError("Give at least one angle from which the figure is seen.")
    full = [2 * math.pi * k / FRAMES for k in range(FRAMES)]
    turn: Angles = np.asarray(full if at is None else at, dtype=np.float64)
    drawn = cubes.draw([figure], np.concatenate([w, turn])[None])[0].astype(np.float32) / 255
    views, truth = drawn[: len(w)], drawn[len(w) :]
    posterior = model.infer(torch.from_numpy(views)[None], torch.from_numpy(w)[None])
    grid, generator = torch.from_numpy(turn)[None], torch.Generator().manual_seed(seed)
    codes = [posterior.mean(grid)]
    codes += [posterior.sample(grid, generator) for _ in range(possibilities)]
    images = model.decode(torch.cat(codes), model.divides_channels).float().numpy()
    return Imagined(figure, w, views, turn, images[0], images[1:], truth)
