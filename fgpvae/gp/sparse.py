"""Gaussian processes through M inducing points, in coordinates in which their prior is N(0, I).

With K_MM = CCᵀ the values at the inducing points are u = Cv, v ~ N(0, I), and an input x has the
features φ(x) = C⁻¹k(Z, x): z(x) = φ(x)·v + e(x), e(x) of variance k(x, x) - |φ(x)|².
"""

from dataclasses import dataclass

import torch
from torch import Tensor

from fgpvae.errors import require

JITTER = 1e-6  # noise of the inducing values, a share of the mean variance: the bound stays valid


def factor(gram: Tensor) -> Tensor:
    """C [M, M] with CCᵀ = K_MM and a little noise."""
    return cholesky(gram, JITTER * gram.diagonal().mean().clamp_min(1e-12))


def features(cross: Tensor, C: Tensor) -> Tensor:
    """Covariances with the inducing values [..., S, M] -> φ [..., S, M]."""
    return torch.linalg.solve_triangular(C, cross.mT, upper=False).mT


def information(phi: Tensor, mu: Tensor, weight: Tensor) -> tuple[Tensor, Tensor]:
    """Information of codes mu [..., n, L] of precision `weight` on v: ΦᵀSΦ [..., L, M, M] and ΦᵀSμ.

    That of independent images adds up.
    """
    weighted = phi.mT[..., None, :, :] * weight.mT[..., :, None, :]  # [..., L, M, n]
    return weighted @ phi[..., None, :, :], (weighted @ mu.mT[..., None])[..., 0]


@dataclass(frozen=True)
class InducingPosterior:
    """q(v) = N(mean, root rootᵀ) in each of L channels, root triangular."""

    mean: Tensor  # [..., L, M]
    root: Tensor  # [..., L, M, M]

    @classmethod
    def given(cls, precision: Tensor, shift: Tensor) -> "InducingPosterior":
        """The posterior given an `information`: covariance (I + ΦᵀSΦ)⁻¹."""
        lower = cholesky(precision)
        identity = torch.eye(lower.shape[-1], dtype=lower.dtype, device=lower.device)
        root = torch.linalg.solve_triangular(lower.mT, identity.expand_as(lower), upper=True)
        return cls((root @ (root.mT @ shift[..., None]))[..., 0], root)

    def kl(self) -> Tensor:
        """KL(q(v) || N(0, I)) = KL(q(u) || p(u)) in nats, summed over channels: [...]."""
        M = self.mean.shape[-1]
        squares = self.root.square().sum((-2, -1)) + self.mean.square().sum(-1)
        log_det = 2 * self.root.diagonal(dim1=-2, dim2=-1).abs().log().sum(-1)
        return 0.5 * (squares - M - log_det).sum(-1)

    def at(self, phi: Tensor, prior: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance [..., S, L] at features [..., S, M] with prior variance [..., S]."""
        left = (prior - phi.square().sum(-1)).clamp_min(0)  # unexplained by them
        known = (phi[..., None, :, :] @ self.root).square().sum(-1).mT  # [..., S, L]
        return phi @ self.mean.mT, left[..., None] + known


def cholesky(x: Tensor, noise: Tensor | float = 1.0) -> Tensor:
    """The factor of X plus `noise` on its diagonal."""
    identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    lower, info = torch.linalg.cholesky_ex(x + noise * identity)
    require(not info.any(), "A covariance is not made of finite numbers.")
    return lower
