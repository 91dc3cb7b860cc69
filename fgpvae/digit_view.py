"""One digit as one model turns it: images at any angle, how sure they are, and what is true."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from fgpvae import scenes
from fgpvae.data import rotate
from fgpvae.errors import UserError
from fgpvae.metrics import circular_error, mse
from fgpvae.models import Model
from fgpvae.scenes import Scene

SAMPLES = 24  # pictures that the spread of pixels is measured on


@dataclass(frozen=True)
class DigitView:
    """A digit of which a model knows some views."""

    model: Model
    views: np.ndarray  # [Q, H, W]
    angles: np.ndarray  # [Q] radians
    observed: np.ndarray  # [Q] bool
    ids: torch.Tensor | None = None  # [1] which training digit it is
    scene: Scene | None = None  # None if only the server can draw it
    obstacle: str = ""  # why

    @torch.no_grad()
    def images(
        self, w: np.ndarray, style: Sequence[float] | np.ndarray | None = None
    ) -> np.ndarray:
        """Pictures at angles [S], in the digit's own style or another: [S, H, W]."""
        w = np.asarray(w, dtype=np.float64)
        if self.scene is not None:
            return self._decode(self.scene.at(w, None if style is None else np.asarray(style)))
        return self.model.generate(
            torch.as_tensor(self.views)[None],
            torch.as_tensor(self.angles)[None],
            torch.as_tensor(w)[None],
            torch.as_tensor(self.observed)[None],
            ids=self.ids,
        )[0].numpy()

    def pixel_sd(self, w: float, style: Sequence[float] | None = None) -> float | None:
        """Root mean variance of a pixel at an angle, over pictures drawn from the posterior."""
        found = self.pixel_sds(np.array([w]), style)
        return None if found is None else float(found[0])

    @torch.no_grad()
    def pixel_sds(self, w: np.ndarray, style: Sequence[float] | None = None) -> np.ndarray | None:
        """The same at angles [S] -> [S]; None for a model that does not say."""
        if not self.model.tells_certainty:
            return None
        mean, sd = self._channels(w, style)  # [S, L]
        seed = torch.Generator().manual_seed(0)
        draws = torch.randn(SAMPLES, 1, mean.shape[1], generator=seed).numpy()
        # a sample is a digit: where there are global channels, they are its own at all angles
        codes = torch.as_tensor(mean + sd * draws)  # [SAMPLES, S, L]
        drawn = self.model.decode(codes, self.model.divides_channels).flatten(2)
        variance = drawn.var(dim=0).numpy()  # [S, K]
        calibration = self.model.calibration
        if calibration is not None:
            variance = calibration.pixel_sd(variance, int(self.observed.sum())) ** 2
        return np.sqrt(variance.mean(axis=1))

    def channels(
        self, w: float, style: Sequence[float] | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Mean and standard deviation of each channel [L] at an angle; a chosen style is sure."""
        mean, sd = self._channels(np.array([w]), style)
        return mean[0], sd[0]

    @torch.no_grad()
    def _channels(
        self, w: np.ndarray, style: Sequence[float] | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The same at angles [S] -> [S, L]."""
        posterior = self.model.infer(
            self.views[None], self.angles[None], self.observed[None], self.ids
        )
        at = np.asarray(w, dtype=np.float64)[None]
        mean, variance = posterior.mean(at)[0], posterior.variance(at)[0]
        if style is not None:
            mean[:, self.model.styles], variance[:, self.model.styles] = style, 0
        return mean, np.sqrt(variance)

    @property
    def own(self) -> np.ndarray:
        """The digit's own style, [G]; empty for a model without one."""
        return np.zeros(0) if self.scene is None else self.scene.own

    def geometric(self, w: np.ndarray) -> np.ndarray:
        """The observed view nearest to each of the angles [S], turned as a picture: [S, H, W]."""
        seen = np.flatnonzero(self.observed)
        nearest = seen[circular_error(self.angles[seen], w[:, None]).argmin(1)]  # [S]
        turned = np.empty((len(w), *self.views.shape[1:]), np.float32)
        for view in set(nearest.tolist()):
            here = nearest == view
            turned[here] = rotate(self.views[[view]], w[here] - self.angles[view])[0]
        return turned

    def _decode(self, codes: np.ndarray) -> np.ndarray:
        images = self.model.decoder(torch.as_tensor(codes, dtype=torch.float32))
        return images.mean(1).numpy()


def turn(
    model: Model,
    views: np.ndarray,
    angles: np.ndarray,
    observed: np.ndarray,
    ids: torch.Tensor | None = None,
) -> DigitView:
    """What `model` makes of a digit from its observed views [Q, H, W] at angles [Q] radians."""
    try:
        scene = scenes.scene(model, views, angles, observed, ids)
    except UserError as error:
        return DigitView(model, views, angles, observed, ids, None, str(error))
    return DigitView(model, views, angles, observed, ids, scene)


@dataclass(frozen=True)
class Verdict:
    """A picture beside the true one, and the errors of those who had an easier task."""

    generated: np.ndarray  # [H, W]
    true: np.ndarray
    mse: float
    geometric: float  # of the nearest observed view, turned as a picture
    mean_image: float | None  # of the mean of all digits of the class
    pixel_sd: float | None


def verdict(
    turning: DigitView,
    w: float,
    true: np.ndarray,
    style: Sequence[float] | None = None,
    mean: np.ndarray | None = None,
) -> Verdict:
    """Compare with the true picture at an angle; `mean` is the mean image of the class there."""
    at = np.array([w])
    generated = turning.images(at, style)[0]
    return Verdict(
        generated=generated,
        true=true,
        mse=mse(generated, true),
        geometric=mse(turning.geometric(at)[0], true),
        mean_image=None if mean is None else mse(mean, true),
        pixel_sd=turning.pixel_sd(w, style),
    )


@torch.no_grad()
def uncertainty(
    model: Model, views: np.ndarray, angles: np.ndarray, order: Sequence[int]
) -> np.ndarray | None:
    """The share of the prior variance left, mean over the circle, with the first 1, 2, ... views.

    `order` are indices of views [Q, H, W] as they arrive. None for a model that does not say.
    """
    if not model.tells_certainty:
        return None
    n, arrived = len(order), torch.tensor(list(order))
    w = torch.as_tensor(angles, dtype=torch.float64)[arrived].expand(n, -1)
    mu, var = model.encode(
        torch.as_tensor(views)[arrived][None], w[:1], torch.ones(1, n, dtype=torch.bool)
    )
    first = torch.ones(n, n, dtype=torch.bool).tril()  # row k has the first k + 1 views
    posterior = model.posterior(mu.expand(n, -1, -1), var.expand(n, -1, -1), w, first)
    grid = torch.arange(48, dtype=torch.float64) * (model.config.period / 48)
    return posterior.unknown(grid.expand(n, -1)).mean(1).numpy()


def swapped(a: DigitView, b: DigitView, w: float) -> np.ndarray:
    """The style of A where B is at an angle: B's local channels with A's global ones, [H, W]."""
    return b.images(np.array([w]), a.own.tolist())[0]


@torch.no_grad()
def morphed(a: DigitView, b: DigitView, w: float, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Styles [steps, G] on the way from A's own to B's, and A with each of them [steps, H, W]."""
    assert a.scene is not None
    shares = np.linspace(0, 1, steps)[:, None]
    styles = (1 - shares) * a.own + shares * b.own
    return styles, a._decode(a.scene.at(np.full(steps, w), styles))


@torch.no_grad()
def prior(model: Model, seed: int) -> tuple[DigitView, list[float]]:
    """No digit at all, and a style drawn from the prior.

    A mean function, or being told the angle, makes the style turn. Without either the local
    channels would stay at zero, so these are drawn from their prior too.
    """
    if not model.separates_style:
        raise UserError(f"The {model.title} keeps no style apart from the angle, so none is drawn.")
    random = torch.Generator().manual_seed(seed)
    nothing = np.zeros((1, *model.config.network.shape[1:]), dtype=np.float32)
    angles, observed = np.zeros(1), np.zeros(1, dtype=bool)
    scene = scenes.scene(model, nothing, angles, observed)
    style = torch.randn(len(scene.styles), generator=random).tolist()
    if "local" in model.blocks and not model.tells_angle:
        scene = _with_local_sample(model, scene, random)
    return DigitView(model, nothing, angles, observed, scene=scene), style


def _with_local_sample(model: Model, scene: Scene, random: torch.Generator) -> Scene:
    """The local rows of a code drawn from the GP prior: φ(w)·a with a ~ N(0, I), as a series."""
    j = model.config.local
    kernel = model.config.build_kernel()
    weights = kernel.coefficients(kernel.harmonics()).detach().numpy() ** 0.5  # [H + 1]
    draws = torch.randn(2 * len(weights) - 1, j, generator=random, dtype=torch.float64).numpy()
    basis = np.concatenate([weights, weights[1:]])[:, None] * draws  # [2 H + 1, J]
    code = np.zeros((len(scene.code), len(basis)))
    code[:, 0] = scene.code[:, 0]
    code[:j] = basis.T
    return replace(scene, code=code)
