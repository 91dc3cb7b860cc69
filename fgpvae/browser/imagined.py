"""Predictions of one model for one subject: images, samples, doubt and style."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray

from fgpvae.browser import export
from fgpvae.browser.export import Scene
from fgpvae.data.collections import Subject
from fgpvae.errors import UserError
from fgpvae.models import Model, Posterior
from fgpvae.networks.moving import MOVES, MovingDecoder

SAMPLES = 24  # number of samples for the doubt about pixels

Images = NDArray[np.float32]
Array = NDArray[np.float64]
Style = Sequence[float] | np.ndarray | None  # None: the subject's own style


@dataclass(frozen=True, eq=False)
class Imagined:
    """Predictions of a model for a subject, given its observed views.

    >>> import fgpvae
    >>> from fgpvae.data.collections import Digits
    >>> three = Digits((3,)).first()
    >>> seen = fgpvae.imagine(fgpvae.load_pretrained("paper"), three, [0, 4, 8, 12])
    >>> seen.images([0.0, 0.5]).shape, seen.samples([0.0], 3).shape
    ((2, 28, 28), (3, 1, 28, 28))
    """

    model: Model
    subject: Subject
    observed: NDArray[np.bool_]  # [Q]
    _doubts: dict[bytes, Array] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def scene(self) -> Scene | None:
        """Data from which the browser draws it; None if only the server can."""
        try:
            return export.scene(self.model, self.posterior, self.subject.w, self.observed)
        except UserError:
            return None

    @property
    def own(self) -> Array:
        """The subject's own style, [G]; empty for a model without one."""
        return np.zeros(0) if self.scene is None else self.scene.own

    def images(self, w: ArrayLike, style: Style = None) -> Images:
        """Pictures at places [S], in the subject's own style or another: [S, H, W]."""
        at = np.asarray(w, dtype=np.float64)
        if self.scene is None:
            return self.decode(self.posterior.mean(at[None])[0])
        return self.decode(self.scene.at(at, None if style is None else np.asarray(style)))

    def samples(self, w: ArrayLike, count: int, seed: int = 0) -> Images:
        """Pictures of `count` posterior samples at places [S]: [count, S, H, W].

        Each sample is one subject, drawn jointly at all places. The seed determines the samples.
        """
        return self.decode(self.sampled_codes(w, count, seed))

    def sampled_codes(self, w: ArrayLike, count: int, seed: int = 0) -> Array:
        """Posterior samples of all channels at places [S]: [count, S, L]."""
        at, generator = np.asarray(w, dtype=np.float64)[None], torch.Generator().manual_seed(seed)
        return np.concatenate([self.posterior.sample(at, generator) for _ in range(count)])

    @torch.no_grad()
    def doubt(self, w: ArrayLike) -> Array | None:
        """Expected root mean squared error of a pixel at places [S], from samples.

        Calibrated on held-out digits if the model is; None for a model without a variance.
        """
        if not self.model.tells_certainty:
            return None
        key = np.asarray(w, dtype=np.float64).tobytes()
        if key not in self._doubts:
            mean, sd = self.channels(w)  # [S, L]
            seed = torch.Generator().manual_seed(0)
            draws = torch.randn(SAMPLES, 1, mean.shape[1], generator=seed).numpy()
            # a sample is one subject: its global channels are the same at all places
            codes = torch.as_tensor(mean + sd * draws)  # [SAMPLES, S, L]
            drawn = self.model.decode(codes, self.model.divides_channels).flatten(2)
            variance = drawn.var(dim=0).mean(dim=1).numpy()  # [S]
            known = self.model.calibration
            self._doubts[key] = known.picture_sd(variance) if known else np.sqrt(variance)
        return self._doubts[key]

    @torch.no_grad()
    def channels(self, w: ArrayLike, style: Style = None) -> tuple[Array, Array]:
        """Mean and standard deviation of each channel at places [S]; 0 for a chosen style."""
        at = np.asarray(w, dtype=np.float64)[None]
        mean, variance = self.posterior.mean(at)[0], self.posterior.variance(at)[0]
        if style is not None:
            mean[:, self.model.styles], variance[:, self.model.styles] = style, 0
        return mean, np.sqrt(variance)

    @torch.no_grad()
    def trails(self, w: ArrayLike, count: int) -> Array | None:
        """Paths through the picture at places [S]: the mean and `count` samples, [1 + count, S, 2].

        In shares of its width and height; None for a model whose channels are not places.
        """
        network = self.model.get_submodule("decoder.layers")
        if not isinstance(network, MovingDecoder):
            return None
        codes = np.concatenate([self.channels(w)[0][None], self.sampled_codes(w, count)])
        shift = network.place(torch.as_tensor(codes[..., :MOVES], dtype=torch.float32))
        _, height, width = network.shape
        return 0.5 + shift.double().numpy() / np.array([width, height])

    @torch.no_grad()
    def decode(self, codes: ArrayLike) -> Images:
        """Codes [..., L] -> pictures [..., H, W], or [..., 3, H, W] in colour."""
        return self.model.decode(torch.as_tensor(np.asarray(codes))).float().numpy()

    @cached_property
    def posterior(self) -> Posterior:
        """The distribution of codes given the observed views."""
        each = self.subject
        ids = np.array([each.row]) if each.row >= 0 else None
        return self.model.infer(each.images[None], each.w[None], self.observed[None], ids)


def imagine(model: Model, subject: Subject, views: Sequence[int] | np.ndarray) -> Imagined:
    """Predictions of `model` for a subject, given the indices of the observed views.

    >>> import fgpvae
    >>> from fgpvae.data.collections import Digits
    >>> seen = fgpvae.imagine(fgpvae.load_pretrained("best"), Digits().first(), [0])
    >>> seen.own.shape
    (80,)
    """
    return Imagined(model, subject, np.isin(np.arange(len(subject.w)), list(views)))


def remembered(model: Model, subject: Subject) -> list[int] | None:
    """The views of a training subject that a model has stored; None if it stores none."""
    found = model.stored_views(torch.tensor([subject.row])) if subject.row >= 0 else None
    if found is None:
        return None
    angles, observed = found
    stored = angles[0][observed[0]].numpy()
    apart = np.abs(np.exp(1j * stored[:, None]) - np.exp(1j * subject.w))  # [S, Q]
    return sorted(set(apart.argmin(1).tolist()))


def morphed(a: Imagined, b: Imagined, w: float, steps: int) -> tuple[Array, Images]:
    """Styles [steps, G] interpolated from A's to B's, and images of A with each [steps, H, W]."""
    shares = np.linspace(0, 1, steps)[:, None]
    styles = (1 - shares) * a.own + shares * b.own
    assert a.scene is not None  # as it has a style
    return styles, a.decode(np.stack([a.scene.at(w, style) for style in styles]))


class Nothing(Subject):
    """A subject without views: predictions come from the prior."""

    def __init__(self, shape: tuple[int, ...], seed: int) -> None:
        super().__init__(f"random-{seed}", "random subject")
        self.shape = shape

    @property
    def images(self) -> Images:
        return np.zeros((1, *self.shape), dtype=np.float32)

    @property
    def w(self) -> Array:
        return np.zeros(1)


@torch.no_grad()
def prior(model: Model, seed: int) -> tuple[Imagined, list[float]]:
    """The prior predictions, with a style drawn from the prior.

    The picture moves with the angle if the model has a mean function or its decoder gets the angle.
    Without either the local channels would stay at zero, so these are drawn from their prior, too.
    """
    if not model.separates_style:
        raise UserError(f"The {model.title} keeps no style apart from the angle, so none is drawn.")
    random = torch.Generator().manual_seed(seed)
    seen = Imagined(model, Nothing(model.image_shape, seed), np.zeros(1, dtype=bool))
    if (scene := seen.scene) is None:
        raise UserError(f"The {model.title} cannot draw a random subject in the browser.")
    style = torch.randn(len(scene.styles), generator=random).tolist()
    if "local" in model.blocks and not model.tells_angle:
        # a draw from the GP prior, φ(w)·a with a ~ N(0, I)
        kernel, j = model.config.build_kernel(), model.config.local
        weights = kernel.coefficients(kernel.harmonics()).detach().numpy() ** 0.5  # [H + 1]
        size = (2 * len(weights) - 1, j)
        draws = torch.randn(size, generator=random, dtype=torch.float64).numpy()
        code = np.zeros((len(scene.code), len(draws)))
        code[:, 0] = scene.code[:, 0]
        code[:j] = (np.concatenate([weights, weights[1:]])[:, None] * draws).T
        object.__setattr__(seen, "scene", replace(scene, code=code))
    return seen, style
