"""Kernels over the angle w: each has `gram` and `diagonal` and, if it can, `features`."""

import math
from functools import lru_cache

import torch
from scipy.special import ive
from torch import Tensor, nn

TWO_PI = 2 * math.pi
TRUNCATION = 1e-12  # relative size of the Fourier coefficients that are left out


class Periodic(nn.Module):
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
        super().__init__()
        self.period = period
        log = torch.tensor([amplitude, length_scale], dtype=torch.float64).log()
        self.log_amplitude = nn.Parameter(log[0], requires_grad=learnable)
        self.log_length_scale = nn.Parameter(log[1], requires_grad=learnable)

    @property
    def amplitude(self) -> Tensor:
        return self.log_amplitude.double().exp()

    @property
    def length_scale(self) -> Tensor:
        return self.log_length_scale.double().exp()

    def of_difference(self, delta: Tensor) -> Tensor:
        # σ² exp(-2 sin²(π δ / period) / r²)
        sine = torch.sin(math.pi / self.period * delta.double())
        return self.amplitude**2 * torch.exp(-2 * (sine / self.length_scale) ** 2)

    def gram(self, a: Tensor, b: Tensor) -> Tensor:
        """Angles [..., S] and [..., Q] -> covariances [..., S, Q]."""
        return self.of_difference(a[..., :, None] - b[..., None, :])

    def diagonal(self, w: Tensor) -> Tensor:
        return self.amplitude**2 * torch.ones_like(w, dtype=torch.float64)

    def harmonics(self) -> int:
        """The highest Fourier mode that still matters at this length scale."""
        return _harmonics(float(self.length_scale.detach()))

    def rank(self) -> int:
        return 2 * self.harmonics() + 1

    def coefficients(self, harmonics: int) -> Tensor:
        """Fourier coefficients c_k, k = 0..harmonics, of k(δ) = Σ c_k cos(k 2π δ / period).

        By a discrete cosine transform of the kernel itself, which (unlike the Bessel functions
        c_k = 2 σ² e^{-1/r²} I_k(1/r²) they equal) torch can differentiate.
        """
        n = 4 * (harmonics + 1)
        delta = torch.arange(n, dtype=torch.float64) * (self.period / n)
        modes = torch.arange(harmonics + 1, dtype=torch.float64)
        cosines = torch.cos(TWO_PI / n * torch.outer(modes, torch.arange(n, dtype=torch.float64)))
        weights = torch.full((harmonics + 1,), 2.0 / n, dtype=torch.float64)
        weights[0] = 1.0 / n
        return (weights * (cosines @ self.of_difference(delta))).clamp_min(1e-300)

    def features(self, w: Tensor) -> Tensor:
        """φ(w) [..., M] with φ(a)·φ(b) = k(a, b); M = 2 harmonics + 1."""
        return fourier_basis(w, self.coefficients(self.harmonics()), self.period)


def fourier_basis(w: Tensor, coefficients: Tensor, period: float = TWO_PI) -> Tensor:
    """√c_0, √c_k cos(k 2π w / period), √c_k sin(k 2π w / period) as the last dimension."""
    modes = torch.arange(1, len(coefficients), dtype=torch.float64)
    phase = TWO_PI / period * w.double()[..., None] * modes  # [..., harmonics]
    scale = coefficients.sqrt()
    constant = scale[0].expand(*w.shape, 1)
    return torch.cat([constant, scale[1:] * phase.cos(), scale[1:] * phase.sin()], -1)


@lru_cache(maxsize=256)
def _harmonics(length_scale: float) -> int:
    c = 1 / length_scale**2
    k = 0
    # coefficients fall monotonically: I_k(c) / I_0(c)
    while 2 * ive(k + 1, c) > TRUNCATION * ive(0, c):
        k += 1
    return k
