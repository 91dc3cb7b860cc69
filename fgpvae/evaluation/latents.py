"""Latent codes of digits: encodings, posteriors, projections, traversals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fgpvae.data import ANGLES, Views
from fgpvae.errors import UserError
from fgpvae.evaluation.metrics import principal_components
from fgpvae.models import Model

Array = NDArray[np.float64]

DIMENSIONS = 3  # of a projection
RIDGE = 0.01  # share of the mean variance of a channel
STEPS = (-3.0, -2.0, -1.0, 0.0, 1.0, 2.0, 3.0)  # standard deviations of the prior of a channel
PLACES = 48  # number of places at which subjects are compared


@torch.no_grad()
def encodings(model: Model, views: Views) -> tuple[Array, Array]:
    """q̃(z | y) of each view alone: mean and variance [P, Q, L]."""
    mu, var = model.encode(views.images, views.angles, views.observed)
    return _array(mu), _array(var)


def evenly(total: int, count: int) -> NDArray[np.int64]:
    """`count` of so many rows, or all if there are fewer, at equal distances."""
    count = min(count, total)
    return np.arange(count) * total // count


@torch.no_grad()
def gp_share(model: Model, views: Views) -> float | None:
    """The share of the local channels' variance that differs between subjects at the same w.

    For the posterior means z(w) given the views of each subject: the variance across subjects,
    averaged over w, divided by the variance across subjects and w. Near 0 all subjects follow one
    curve, the prior mean, and the Gaussian process adds nothing. None for a model without local
    channels.
    """
    if "local" not in model.blocks:
        return None
    circle, line = model.config.period / PLACES * np.arange(PLACES), np.linspace(-1, 1, PLACES)
    w = line if model.config.on_a_line else circle
    posterior = model.infer(views.images, views.angles, views.observed, views.ids)
    z = posterior.mean(np.tile(w, (len(views), 1)))[..., model.blocks["local"]]  # [P, S, J]
    return share_within(z.swapaxes(0, 1))


def share_within(z: Array) -> float:
    """The share of the variance of codes [P, Q, C] that is within a row."""
    return float(z.var(1).mean(0).sum() / max(z.reshape(-1, z.shape[-1]).var(0).sum(), 1e-12))


@dataclass(frozen=True)
class Projection:
    """Some channels, over all views of all digits, along orthogonal directions."""

    points: Array  # [P, Q, D]
    shares: Array  # [D] of the variance that each direction explains
    mean: Array  # [C]
    directions: Array  # [C, D]

    def onto(self, codes: Array) -> Array:
        """Project other codes [..., C] onto the same directions: [..., D]."""
        return (codes - self.mean) @ self.directions


def project(z: Array, angles: Array | None = None) -> Projection:
    """PCA of channels [P, Q, C] in 3 dimensions; with fewer channels the others are 0.

    With `angles` [Q] the plane that predicts them best comes first, then the PCA of the rest.
    """
    P, Q, C = z.shape
    mean = z.reshape(P * Q, C).mean(0)
    rows = z.reshape(P * Q, C) - mean
    directions, shares, known = np.zeros((C, DIMENSIONS)), np.zeros(DIMENSIONS), 0
    if float(np.ptp(rows, axis=0).max(initial=0)) > 0:
        if angles is not None and C > 1:
            # ridge regression reads (-sin w, cos w): counter-clockwise from the top, as on the dial
            w, known = np.tile(angles, P), 2
            gram = rows.T @ rows + RIDGE * P * Q * (rows**2).mean() * np.eye(C)
            read = np.linalg.solve(gram, rows.T @ np.stack([-np.sin(w), np.cos(w)], 1))
            plane, factor = np.linalg.qr(read)
            directions[:, :2] = plane * np.sign(np.diag(factor))
        rest = rows - rows @ directions @ directions.T
        D = min(DIMENSIONS, C, P * Q)
        if known < D:
            directions[:, known:D] = principal_components(rest, D - known).T
        shares = (rows @ directions).var(0) / rows.var(0).sum()
    return Projection((rows @ directions).reshape(P, Q, DIMENSIONS), shares, mean, directions)


def laid_over(paths: Array, points: Array) -> Array:
    """Paths [P, S, 2] mapped to points [P, S, D] by the one affine map of least squares."""
    rows = np.pad(paths, ((0, 0), (0, 0), (0, 1)), constant_values=1.0).reshape(-1, 3)
    best = np.linalg.lstsq(rows, points.reshape(len(rows), -1), rcond=None)[0]
    return (rows @ best).reshape(points.shape)


def product(mu: Array, var: Array) -> tuple[Array, Array]:
    """Mean and sd [Q + 1, C] of global channels given the first 0 to Q of views [Q, C]."""
    # N(0, 1) times N(mu, var) of each view: precision 1 + Σ 1/var
    weights, weighted = (np.pad(x.cumsum(0), ((1, 0), (0, 0))) for x in (1 / var, mu / var))
    return weighted / (1 + weights), 1 / np.sqrt(1 + weights)


@torch.no_grad()
def effects(model: Model, z: Array, channels: Sequence[int]) -> Array:
    """Mean absolute change of a pixel when a channel moves one unit up and down: codes [N, L]."""
    codes = torch.as_tensor(z)[:, None, None]  # [N, 1, 1, L]
    unit = torch.eye(z.shape[-1], dtype=codes.dtype)[list(channels), None]  # [C, 1, L]
    both = torch.tensor([-1.0, 1.0], dtype=codes.dtype)[:, None]
    images = model.decode(codes + unit * both)  # [N, C, 2, H, W]
    return _array((images[:, :, 1] - images[:, :, 0]).abs().flatten(2).mean((0, 2)) / 2)


@torch.no_grad()
def traverse(model: Model, z: Array, channels: list[int], values: Array) -> NDArray[np.float32]:
    """Images [C, V, H, W] of one code [L] with one channel at a time set to each value."""
    codes = torch.as_tensor(z).repeat(len(channels), len(values), 1)  # [C, V, L]
    for row, channel in enumerate(channels):
        codes[row, :, channel] = torch.as_tensor(np.asarray(values), dtype=codes.dtype)
    return model.decode(codes).numpy()


@torch.no_grad()
def turn(model: Model, z: Array, view: int) -> NDArray[np.float32]:
    """Images [1 + J, Q, H, W] of one digit's codes [Q, L], turned channel by channel.

    In the first row all local channels follow the angle; in row 1 + j only channel j does, while
    the others stay where they are at `view`.
    """
    J, moving = model.config.local, torch.as_tensor(z)  # [Q, L]
    codes = moving[view].expand(1 + J, len(z), -1).clone()  # [1 + J, Q, L]
    codes[0] = moving
    for j in range(J):
        codes[1 + j, :, j] = moving[:, j]
    return model.decode(codes).numpy()


def channel_correlation(z: Array) -> Array:
    """Correlations [C, C] of channels [P, Q, C] over all views; 0 where a channel never moves."""
    rows = z.reshape(-1, z.shape[-1])
    return _cosines((rows - rows.mean(0)).T)


def angle_correlation(z: Array) -> Array:
    """Correlations [Q, Q] between angles, over digits and channels [P, Q, C], about zero.

    For draws from a zero-mean prior this estimates k(w, w') / σ².
    """
    return _cosines(z.swapaxes(0, 1).reshape(z.shape[1], -1))


def _cosines(rows: Array) -> Array:
    """Cosines [C, C] of the angles between rows [C, N]; 0 for a row of zeros."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = rows / np.where(length > 0, length, 1)
    return rows @ rows.T


@torch.no_grad()
def about_prior_mean(model: Model, z: Array, angles: Array = ANGLES) -> Array:
    """Local channels [P, Q, J] at angles [Q] minus the prior mean m(w), if there is one."""
    prior = model.infer(np.zeros((1, 1, *model.image_shape)), np.zeros((1, 1)), np.array([[False]]))
    return z - prior.mean(angles[None])[0, :, : z.shape[-1]]


@torch.no_grad()
def prior_gram(model: Model, angles: Array = ANGLES) -> Array:
    """The local kernel's correlations k(w, w') / σ² [Q, Q]."""
    w = torch.as_tensor(angles)
    return _array(model.kernel.gram(w, w) / model.kernel.amplitude**2)


NEAR = 0.3  # noise of a drawn style, in standard deviations of real styles
KEPT = 96  # number of digits whose styles are used


@dataclass(frozen=True, eq=False)
class Styles:
    """A density over the G global channels around the styles of real digits of one kind.

    A draw is a digit's style plus noise with the covariance of all styles, scaled by `near`. The
    digit's style is shrunk towards the mean, so that the density has the covariance of real styles.
    """

    mean: Array  # [G]
    factor: Array  # [R, G], a row a digit: its style less the mean, over √(R - 1)
    near: float = NEAR

    def draw(self, row: NDArray[np.int64], noise: Array) -> Array:
        """Styles [..., G] near the digits of these rows [...], from normal noise [..., R]."""
        own = np.sqrt((1 - self.near**2) * (len(self.factor) - 1)) * self.factor[row]
        return self.mean + own + self.near * noise @ self.factor


@torch.no_grad()
def own_styles(model: Model, views: Views) -> Array:
    """Posterior means [P, G] of the global channels of digits, from all of their views."""
    if not model.separates_style or len(views) < 2:
        raise UserError(f"The {model.title} keeps no style apart from the angle, so none is drawn.")
    return _array(model.infer(views.images, views.angles, views.observed).style()[0])


def styles(own: Array) -> Styles:
    """A density of the styles of digits, given theirs, [P, G].

    A draw from the prior, or from a Gaussian fitted to styles, is often not a digit. A draw near a
    digit's style nearly always is.
    """
    mean, some = own.mean(0), own[evenly(len(own), KEPT)]
    return Styles(mean, (some - mean) / np.sqrt(len(some) - 1))


def _array(tensor: Tensor) -> Array:
    return tensor.detach().double().numpy()
