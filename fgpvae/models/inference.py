"""Posterior over codes at any angle, given some views, and its calibration."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fgpvae import arrays
from fgpvae.errors import UserError, require
from fgpvae.gp import gaussian


@dataclass(frozen=True)
class Calibration:
    """Calibration of a model, fitted on digits that it was not trained on; empty if not measured.

    With the variance v of a pixel over posterior samples, sd² = v + pixel_variance.
    """

    pixel_variance: float
    views: tuple[int, ...]  # numbers of views at which bands were measured
    half: tuple[float, ...]  # the central 50 % band is `half` times sd to either side
    most: tuple[float, ...]  # the same for the 90 % band
    # posterior of an angle: a, b, c of softmax(-a error - b KL(style) + c evidence)
    angle: tuple[float, float, float]
    image: tuple[float, float]  # slope and floor of `picture_sd`
    # the same for an uploaded picture: a, b, c of softmax(-a error + b density + c angle density)
    picture: tuple[float, ...] = ()
    familiar: tuple[float, ...] = ()  # largest weighted sums of a typical and of an unusual digit
    unfamiliarity: tuple[float, ...] = ()  # weights of `novelty.features` in these sums

    def __post_init__(self) -> None:
        bands = len(self.views) == len(self.half) == len(self.most) > 0
        weights = len(self.picture) in (0, 3) and len(self.unfamiliarity) in (0, 4)
        limits = len(self.familiar) in (0, 2) and list(self.familiar) == sorted(self.familiar)
        numbers = self.pixel_variance, *self.half, *self.most, *self.angle, *self.image
        least = min(*numbers, *self.picture, min(self.views, default=0) - 1)
        fits = bands and weights and limits and least >= 0
        require(fits, "The calibration of a model is damaged.")

    def band(self, level: int, views: int) -> float:
        """Half-width of the central 50 or 90 % band, in sd, given a number of views."""
        factors = {50: self.half, 90: self.most}[level]
        return float(np.interp(np.log(max(views, 1)), np.log(self.views), factors))

    def picture_sd(self, variance: Any) -> Any:
        """Expected root mean squared error, from the mean variance of the pixels over samples."""
        slope, floor = self.image
        return (slope * variance + floor) ** 0.5


class Posterior:
    """Distribution of the codes of P digits at any angle, given their views.

    A code [L] is what the decoder takes. Angles `at` [P, S] may be an array or a tensor; answers
    [P, S, L] are of the same kind.

    >>> import numpy as np
    >>> import fgpvae
    >>> views, angles = np.zeros((2, 1, 28, 28), np.float32), np.zeros((2, 1))
    >>> posterior = fgpvae.load_pretrained("paper").infer(views, angles)
    >>> at = np.array([[0.0, 3.14]] * 2)
    >>> posterior.mean(at).shape == posterior.variance(at).shape == posterior.sample(at).shape
    True
    """

    # defined by subclasses, for float64 angles [P, S] on the model's device -> [P, S, L]
    _mean: Callable[[Tensor], Tensor]
    _variance: Callable[[Tensor], Tensor]
    _sample: Callable[[Tensor, torch.Generator | None], Tensor]

    def __init__(self, title: str, digits: int, device: torch.device) -> None:
        self.title, self.digits, self.device = title, digits, device

    def mean(self, at: Any) -> Any:
        """The mean of the codes at angles [P, S] -> [P, S, L]."""
        return arrays.like(self._mean(self._angles(at)), at)

    def variance(self, at: Any) -> Any:
        """The variance of each channel at angles [P, S] -> [P, S, L]."""
        return arrays.like(self._variance(self._angles(at)), at)

    @torch.no_grad()
    def sample(self, at: Any, generator: torch.Generator | None = None) -> Any:
        """One draw at angles [P, S] -> [P, S, L], jointly over the angles of a digit."""
        return arrays.like(self._sample(self._angles(at), generator), at)

    def style(self) -> tuple[Tensor, Tensor]:
        """Mean and variance [P, G] of the channels that do not depend on the angle."""
        raise UserError(f"The {self.title} does not separate a style from the angle.")

    def log_evidence(self) -> Tensor:
        """log Z [P] of the encodings of a digit's views."""
        raise UserError(f"The {self.title} has no evidence of a digit's views in closed form.")

    def unknown(self, at: Any) -> Any:
        """Posterior variance as a share of the prior variance, at angles [P, S] -> [P, S]."""
        raise UserError(f"The {self.title} has no measure of its uncertainty.")

    def _angles(self, at: Any) -> Tensor:
        w = arrays.tensor(at, "Angles to generate at", self.device).double()
        wanted = f"Angles to generate at must be [{self.digits}, S]; got {list(w.shape)}."
        require(w.ndim == 2 and len(w) == self.digits, wanted)
        require(w.isfinite().all(), "An angle to generate at is not a finite number.")
        return w


class StylePosterior(Posterior):
    """One Gaussian a digit for its style, and codes that follow from a style and an angle.

    `place` takes channels [P, S, G] that do not depend on the angle, and angles [P, S], to codes.
    """

    def __init__(
        self, title: str, mean: Tensor, var: Tensor, place: Callable[[Tensor, Tensor], Tensor]
    ) -> None:
        super().__init__(title, len(mean), mean.device)
        self.style_mean, self.style_var, self.place = mean, var, place

    def style(self) -> tuple[Tensor, Tensor]:
        return self.style_mean, self.style_var

    def _mean(self, w: Tensor) -> Tensor:
        return self._code(self.style_mean, w)

    def _variance(self, w: Tensor) -> Tensor:
        # the part set by the angle has no variance
        return self._code(self.style_var, w) - self._code(torch.zeros_like(self.style_var), w)

    def _sample(self, w: Tensor, generator: torch.Generator | None) -> Tensor:
        return self._code(gaussian.sample(self.style_mean, self.style_var, generator), w)

    def _code(self, style: Tensor, w: Tensor) -> Tensor:
        return self.place(style[:, None].expand(-1, w.shape[1], -1), w)
