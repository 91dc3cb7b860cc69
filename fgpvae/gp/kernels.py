"""Kernels over the view w: a periodic one for angles on a circle, three for a line."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np
import torch
from scipy.special import ive
from torch import Tensor, nn

from fgpvae.errors import require

TWO_PI = 2 * math.pi
NEGLIGIBLE = 1e-12  # relative size of a Fourier coefficient that no picture shows
SHORTEST = 1e-3  # length scale; its Fourier features are 17,000
EXACT = 1e-16  # and of one that float64 does not: next to noise s², δk matters as δk/s²


class Stationary(nn.Module):
    """k(w, w') = σ² c(w - w'): amplitude σ and length scale r, both positive, learned if asked."""

    correlation: Callable[[Tensor], Tensor]  # c(δ), with c(0) = 1

    def __init__(
        self, amplitude: float = 1.0, length_scale: float = 1.0, learnable: bool = False
    ) -> None:
        super().__init__()
        for name, value in (("amplitude", amplitude), ("length scale", length_scale)):
            positive = 0 < value < math.inf
            require(positive, f"The {name} of a kernel must be positive, not {value:g}.")
        log = torch.tensor([amplitude, length_scale], dtype=torch.float64).log()
        self.log_amplitude = nn.Parameter(log[0], requires_grad=learnable)
        self.log_length_scale = nn.Parameter(log[1], requires_grad=learnable)

    @property
    def amplitude(self) -> Tensor:
        return self.log_amplitude.double().exp()

    @property
    def length_scale(self) -> Tensor:
        return self.log_length_scale.double().exp()

    def gram(self, a: Tensor, b: Tensor) -> Tensor:
        """Views [..., S] and [..., Q] -> covariances [..., S, Q]."""
        delta = a.double()[..., :, None] - b.double()[..., None, :]
        return self.amplitude.square() * self.correlation(delta)

    def diagonal(self, w: Tensor) -> Tensor:
        return self.amplitude.square().expand(w.shape)


class SquaredExponential(Stationary):
    """c(δ) = exp(-δ² / 2r²): infinitely smooth functions."""

    def correlation(self, delta: Tensor) -> Tensor:
        return torch.exp(-0.5 * (delta / self.length_scale).square())


class Matern32(Stationary):
    """c(δ) = (1 + x) exp(-x) with x = √3 |δ| / r: functions with one derivative."""

    def correlation(self, delta: Tensor) -> Tensor:
        x = math.sqrt(3) * delta.abs() / self.length_scale
        return (1 + x) * torch.exp(-x)


class Matern52(Stationary):
    """c(δ) = (1 + x + x²/3) exp(-x) with x = √5 |δ| / r: functions with two derivatives."""

    def correlation(self, delta: Tensor) -> Tensor:
        x = math.sqrt(5) * delta.abs() / self.length_scale
        return (1 + x + x.square() / 3) * torch.exp(-x)


class Periodic(Stationary):
    """k(w, w') = σ² exp(-2 sin²(π|w - w'| / period) / r²).

    The paper prints the sine without the half, which gives period π and makes a digit equal to its
    upside-down copy; its program, and this class by default, use period 2π.
    """

    def __init__(
        self,
        amplitude: float = 1.0,
        length_scale: float = 1.0,
        period: float = TWO_PI,
        learnable: bool = False,
    ) -> None:
        super().__init__(amplitude, length_scale, learnable)
        require(0 < period < math.inf, f"The period of a kernel must be positive, not {period:g}.")
        self.period = period

    def correlation(self, delta: Tensor) -> Tensor:
        sine = torch.sin(math.pi / self.period * delta)
        return torch.exp(-2 * (sine / self.length_scale).square())

    def harmonics(self, smallest: float = NEGLIGIBLE) -> int:
        """The highest Fourier mode whose coefficient is at least `smallest` of the first."""
        return _harmonics(float(self.length_scale.detach()), smallest)

    def rank(self) -> int:
        return 2 * self.harmonics(EXACT) + 1

    def coefficients(self, harmonics: int) -> Tensor:
        """Fourier coefficients c_k, k = 0..harmonics, of k(δ) = Σ c_k cos(k 2π δ / period)."""
        # c_k = 2 σ² e^{-x} I_k(x) with x = 1/r², half of that for k = 0
        x = self.length_scale**-2
        order = np.arange(-1, harmonics + 2)
        bessel = torch.from_numpy(2 * ive(np.abs(order), float(x.detach()))).to(x.device)
        value = bessel[1:-1]
        # d/dx e^{-x} I_k = e^{-x} (½ I_{k-1} + ½ I_{k+1} - I_k)
        slope = 0.5 * (bessel[:-2] + bessel[2:]) - value
        half = torch.ones_like(value)
        half[0] = 0.5
        return self.amplitude.square() * half * (value + slope * (x - x.detach()))

    def features(self, w: Tensor) -> Tensor:
        """φ(w) [..., M] with φ(a)·φ(b) = k(a, b); M is the rank."""
        return fourier_basis(w, self.coefficients(self.harmonics(EXACT)), self.period)


def fourier_basis(w: Tensor, coefficients: Tensor, period: float = TWO_PI) -> Tensor:
    """√c_0, √c_k cos(k 2π w / period), √c_k sin(k 2π w / period) as the last dimension."""
    modes = torch.arange(1, len(coefficients), dtype=torch.float64, device=w.device)
    phase = TWO_PI / period * w.double()[..., None] * modes  # [..., harmonics]
    scale = coefficients.sqrt()
    waves = scale[1:] * phase.cos(), scale[1:] * phase.sin()
    return torch.cat([scale[0].expand(*w.shape, 1), *waves], -1)


@lru_cache(maxsize=256)
def _harmonics(length_scale: float, smallest: float) -> int:
    short = f"The length scale of a kernel is {length_scale:.2g}, shorter than {SHORTEST:g}."
    require(length_scale >= SHORTEST, short)
    x, k = length_scale**-2, 0
    # the coefficients fall monotonically: 2 I_k(x) / I_0(x)
    while 2 * ive(k + 1, x) > smallest * ive(0, x):
        k += 1
    return k


PERIODIC = "periodic"
ON_A_LINE: dict[str, type[Stationary]] = {
    "squared-exponential": SquaredExponential,
    "matern32": Matern32,
    "matern52": Matern52,
}
KERNELS = (PERIODIC, *ON_A_LINE)
