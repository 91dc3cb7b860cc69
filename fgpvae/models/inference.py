"""Posterior over codes at any angle, given some views, and its calibration."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from fgpvae import arrays
from fgpvae.errors import UserError
from fgpvae.gp import gaussian


@dataclass(frozen=True)
class Calibration:
    """Calibration of a model, fitted on digits that it was not trained on.

    Pixels: with the variance v of a pixel over posterior samples, sd² = v + pixel_variance, and the
    central 50 % and 90 % bands are `half` and `most` times sd to either side, at each number of
    `views`. Pictures: with v̄ the mean of v over the pixels, `picture_sd` is the root of the mean
    squared error to be expected, `image` = slope, floor of slope v̄ + floor. Angles: the posterior
    is softmax(-a error - b KL(style) + c evidence), `angle` = a, b, c. Angles of uploaded pictures,
    by `picture_scores`: softmax(-a error + b density + c angle density), `picture` = a, b, c.
    `unfamiliarity` are the weights of `novelty.features`; `familiar` are the largest weighted sums
    of a typical digit and of an unusual one. All are empty if they were not measured.
    """

    pixel_variance: float
    views: tuple[int, ...]
    half: tuple[float, ...]
    most: tuple[float, ...]
    angle: tuple[float, float, float]
    image: tuple[float, float]
    picture: tuple[float, ...] = ()
    familiar: tuple[float, ...] = ()
    unfamiliarity: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        bands = len(self.views) == len(self.half) == len(self.most) > 0
        weights = len(self.picture) in (0, 3) and len(self.unfamiliarity) in (0, 4)
        limits = len(self.familiar) in (0, 2) and list(self.familiar) == sorted(self.familiar)
        numbers = self.pixel_variance, *self.half, *self.most, *self.angle, *self.image
        least = min(*numbers, *self.picture, min(self.views, default=0) - 1)
        if not (bands and weights and limits and least >= 0):
            raise UserError("The calibration of a model is damaged.")

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
    [P, S, L] are of the same kind. Subclasses define `_mean`, `_variance` and `_sample` for float64
    angles on the model's device.

    >>> import numpy as np
    >>> import fgpvae
    >>> views, angles = np.zeros((2, 1, 28, 28), np.float32), np.zeros((2, 1))
    >>> posterior = fgpvae.load_pretrained("paper").infer(views, angles)
    >>> at = np.array([[0.0, 3.14]] * 2)
    >>> posterior.mean(at).shape == posterior.variance(at).shape == posterior.sample(at).shape
    True
    """

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

    def _mean(self, w: Tensor) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not implement `_mean`")

    def _variance(self, w: Tensor) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not implement `_variance`")

    def _sample(self, w: Tensor, generator: torch.Generator | None) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not implement `_sample`")

    def _angles(self, at: Any) -> Tensor:
        w = arrays.tensor(at, "Angles to generate at", self.device).double()
        if w.ndim != 2 or len(w) != self.digits:
            raise UserError(
                f"Angles to generate at must be [P, S] with P = {self.digits}; got {list(w.shape)}."
            )
        if not bool(w.isfinite().all()):
            raise UserError("An angle to generate at is not a finite number.")
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
        known = self._code(torch.zeros_like(self.style_var), w)
        return self._code(self.style_var, w) - known  # the part set by the angle has no variance

    def _sample(self, w: Tensor, generator: torch.Generator | None) -> Tensor:
        return self._code(gaussian.sample(self.style_mean, self.style_var, generator), w)

    def _code(self, style: Tensor, w: Tensor) -> Tensor:
        return self.place(style[:, None].expand(-1, w.shape[1], -1), w)
