"""Smooth prior means of the local channels, shared by all digits."""

import math
from collections.abc import Callable

import torch
from torch import Tensor, nn

from fgpvae.gp.kernels import Periodic, Stationary, fourier_basis

MOST_NODES = 129  # on a line
JITTER = 1e-8  # on the diagonal of the nodes' gram matrix, nearly singular for smooth kernels


class MeanFunction(nn.Module):
    """m_j(w) = φ(w)·a_j, on features φ of the local kernel with amplitude 1, a ~ N(0, I).

    The mean is as smooth as draws from the kernel.
    """

    features: Callable[[Tensor], Tensor]  # φ(w)

    def __init__(self, features: int, channels: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.randn(features, channels))

    def forward(self, w: Tensor) -> Tensor:
        """Angles [...] -> [..., J]."""
        return self.features(w) @ self.weights.double()


class MeanOnACircle(MeanFunction):
    """Mean function on the Fourier features of the kernel."""

    def __init__(self, kernel: Periodic, channels: int) -> None:
        unit = Periodic(1.0, float(kernel.length_scale.detach()), kernel.period)
        coefficients = unit.coefficients(unit.harmonics()).detach()
        super().__init__(2 * len(coefficients) - 1, channels)
        self.coefficients = nn.Buffer(coefficients, persistent=False)
        self.period = kernel.period

    def features(self, w: Tensor) -> Tensor:
        return fourier_basis(w, self.coefficients, self.period)


class MeanOnALine(MeanFunction):
    """Mean function on nodes C from -1 to 1, half a length scale apart.

    φ(w) = L⁻¹ k(C, w) with LLᵀ = k(C, C): φ(a)·φ(b) is k(a, b) at the nodes and close to it between
    them.
    """

    def __init__(self, kernel: Stationary, channels: int) -> None:
        length_scale = float(kernel.length_scale.detach())
        count = min(math.ceil(4 / length_scale), MOST_NODES - 1) + 1
        super().__init__(count, channels)
        unit = type(kernel)(1.0, length_scale)
        nodes = torch.linspace(-1, 1, count, dtype=torch.float64)
        gram = unit.gram(nodes, nodes) + JITTER * torch.eye(count, dtype=torch.float64)
        self.gram = unit.gram  # the method alone, so that the model's weights do not include `unit`
        self.nodes = nn.Buffer(nodes, persistent=False)
        self.inverse = nn.Buffer(torch.linalg.cholesky(gram).inverse(), persistent=False)

    def features(self, w: Tensor) -> Tensor:
        return self.gram(w, self.nodes) @ self.inverse.mT
