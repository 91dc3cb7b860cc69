"""The exact posteriors of the paper's appendix B, batched over digits, with masks.

The encoder says N(μ_q, s_q²) of each view q and channel; the prior is a GP over the angle for a
local channel and one standard normal for a global one. Both posteriors and both normalising
constants are in closed form. A view that is not observed has precision zero and no influence.
Arrays arrive as [P, Q, channels]; all algebra is done in float64.
"""

from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from fgpvae.errors import UserError
from fgpvae.gaussian import LOG_2PI


class Kernel(Protocol):
    def gram(self, a: Tensor, b: Tensor) -> Tensor: ...
    def diagonal(self, w: Tensor) -> Tensor: ...


@runtime_checkable
class FeatureKernel(Kernel, Protocol):
    def rank(self) -> int: ...
    def features(self, w: Tensor) -> Tensor: ...


class LocalPosterior(Protocol):
    """GP posterior of the local channels of P digits given their views, at any angle.

    `log_evidence` [P, J] is log ∫ Π_q N(z_q | μ_q, s_q²) GP(z) dz of each channel.
    """

    log_evidence: Tensor

    def at(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """Angles [P, S] -> mean and variance [P, S, J] of each channel at each angle."""
        ...

    def sample(self, w: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """One draw of the whole function at angles [P, S] -> [P, S, J], smooth in the angle."""
        ...


class DensePosterior(LocalPosterior):
    """O(Q³) a digit and channel: one Cholesky factor of B = I + S^½ K S^½, S the precisions.

    All eigenvalues of B are at least 1, whatever the noise, so it can always be factorised.
    """

    def __init__(self, kernel: Kernel, w: Tensor, mu: Tensor, var: Tensor, observed: Tensor):
        self.kernel, self.w = kernel, w
        root, self.scaled, log_var = _scale(mu, var, observed)  # [P, J, Q]
        self.root = root
        self.gram = kernel.gram(w, w)  # [P, Q, Q]
        b = root[..., :, None] * self.gram[:, None] * root[..., None, :]
        b.diagonal(dim1=-2, dim2=-1).add_(1)
        self.cholesky = _cholesky(b)  # [P, J, Q, Q]
        whitened = _solve(self.cholesky, self.scaled[..., None])  # L⁻¹ S^½ μ
        # log Z = -½ (μᵀ(K + S⁻¹)⁻¹μ + log|B| + Σ log s² + n log 2π)
        log_det = 2 * self.cholesky.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        count = observed.sum(-1)[:, None]
        self.whitened = whitened
        quadratic = whitened.square().sum((-2, -1))
        self.log_evidence = -0.5 * (quadratic + log_det + log_var + count * LOG_2PI)

    def _cross(self, w: Tensor) -> Tensor:
        """L⁻¹ S^½ K(views, w) [P, J, Q, S]."""
        gram = self.gram if w is self.w else self.kernel.gram(self.w, w)
        return _solve(self.cholesky, self.root[..., :, None] * gram[:, None])

    def at(self, w: Tensor) -> tuple[Tensor, Tensor]:
        cross = self._cross(w)
        mean = (cross * self.whitened).sum(-2)  # k_*ᵀ S^½ B⁻¹ S^½ μ
        var = self.kernel.diagonal(w)[:, None] - cross.square().sum(-2)
        return mean.mT, var.clamp_min(0).mT

    def sample(self, w: Tensor, generator: torch.Generator | None = None) -> Tensor:
        cross = self._cross(w)
        mean = (cross * self.whitened).sum(-2)  # [P, J, S]
        covariance = self.kernel.gram(w, w)[:, None] - cross.mT @ cross
        values, vectors = torch.linalg.eigh(covariance)
        noise = torch.randn(mean.shape, dtype=torch.float64, generator=generator)
        scaled = values.clamp_min(0).sqrt() * noise
        return (mean + (vectors @ scaled[..., None]).squeeze(-1)).mT


class FourierPosterior(LocalPosterior):
    """O(Q M²): with K = ΦΦᵀ the posterior is that of the M feature weights, N(ŵ, Λ⁻¹).

    Λ = I + ΦᵀSΦ, ŵ = Λ⁻¹ ΦᵀSμ. The features of the periodic kernel are exact to 1e-12.
    """

    def __init__(self, kernel: FeatureKernel, w: Tensor, mu: Tensor, var: Tensor, observed: Tensor):
        self.kernel = kernel
        root, scaled, log_var = _scale(mu, var, observed)  # [P, J, Q]
        phi = kernel.features(w)[:, None]  # [P, 1, Q, M]
        scaled_phi = root[..., None] * phi  # S^½ Φ [P, J, Q, M]
        precision = scaled_phi.mT @ scaled_phi
        precision.diagonal(dim1=-2, dim2=-1).add_(1)
        self.cholesky = _cholesky(precision)  # [P, J, M, M]
        projected = scaled_phi.mT @ scaled[..., None]
        self.weights = torch.cholesky_solve(projected, self.cholesky)  # ŵ [P, J, M, 1]
        # μᵀ(K + S⁻¹)⁻¹μ = |S^½(μ - Φŵ)|² + |ŵ|²
        residual = scaled[..., None] - scaled_phi @ self.weights
        quadratic = residual.square().sum((-2, -1)) + self.weights.square().sum((-2, -1))
        log_det = 2 * self.cholesky.diagonal(dim1=-2, dim2=-1).log().sum(-1)
        count = observed.sum(-1)[:, None]
        self.log_evidence = -0.5 * (quadratic + log_det + log_var + count * LOG_2PI)

    def at(self, w: Tensor) -> tuple[Tensor, Tensor]:
        phi = self.kernel.features(w)[:, None]  # [P, 1, S, M]
        mean = (phi @ self.weights).squeeze(-1)
        var = _solve(self.cholesky, phi.mT.expand(-1, self.cholesky.shape[1], -1, -1))
        return mean.mT, var.square().sum(-2).mT

    def sample(self, w: Tensor, generator: torch.Generator | None = None) -> Tensor:
        noise = torch.randn(self.weights.shape, dtype=torch.float64, generator=generator)
        drawn = self.weights + torch.linalg.solve_triangular(self.cholesky.mT, noise, upper=True)
        return (self.kernel.features(w)[:, None] @ drawn).squeeze(-1).mT


def local_posterior(
    kernel: Kernel, w: Tensor, mu: Tensor, var: Tensor, observed: Tensor
) -> LocalPosterior:
    """Posterior given angles [P, Q], encodings [P, Q, J] and a mask [P, Q], by the cheaper path."""
    if isinstance(kernel, FeatureKernel) and 2 * kernel.rank() <= w.shape[-1]:
        return FourierPosterior(kernel, w, mu, var, observed)
    return DensePosterior(kernel, w, mu, var, observed)


def global_posterior(mu: Tensor, var: Tensor, observed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, variance and log evidence [P, channels] of one N(0, 1) variable a digit and channel."""
    root, scaled, log_var = _scale(mu, var, observed)  # [P, channels, Q]
    precision = 1 + root.square().sum(-1)
    mean = (root * scaled).sum(-1) / precision
    # Σ μ²/s² - m̄²/v̄ = Σ (μ - m̄)²/s² + m̄²
    quadratic = (scaled - root * mean[..., None]).square().sum(-1) + mean**2
    count = observed.sum(-1)[:, None]
    log_evidence = -0.5 * (quadratic + precision.log() + log_var + count * LOG_2PI)
    return mean, 1 / precision, log_evidence


def _scale(mu: Tensor, var: Tensor, observed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """S^½ and S^½ μ [P, channels, Q], zero where not observed, and Σ_observed log s²."""
    mask = observed[..., None]
    var = torch.where(mask, var.double(), 1.0)
    root = torch.where(mask, var.rsqrt(), 0.0)
    scaled = root * torch.where(mask, mu.double(), 0.0)
    return root.mT, scaled.mT, var.log().sum(-2)


def _cholesky(matrix: Tensor) -> Tensor:
    factor, info = torch.linalg.cholesky_ex(matrix)
    if bool(info.any()):
        bad = int(info.reshape(-1).ne(0).nonzero()[0])
        values = matrix.reshape(-1, *matrix.shape[-2:])[bad]
        cause = (
            "an encoded mean, variance or kernel parameter is not finite"
            if not bool(values.isfinite().all())
            else f"its condition number is {float(torch.linalg.cond(values.detach())):.1e}"
        )
        raise UserError(f"A covariance matrix could not be factorised: {cause}.")
    return factor


def _solve(lower: Tensor, right: Tensor) -> Tensor:
    return torch.linalg.solve_triangular(lower, right, upper=False)
