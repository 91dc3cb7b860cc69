"""The exact posteriors of the paper's appendix B, batched over digits, with masks.

The encoder gives N(μ_q, s_q²) for each view q and channel; the prior is a GP over the angle for a
local channel and one standard normal for a global one. Both posteriors and both normalising
constants are in closed form. A view that is not observed has precision zero and no influence.
Arrays arrive as [P, Q, channels]; all algebra is done in float64 and as [P, channels, Q].

S is the diagonal matrix of the precisions 1/s_q², A = (K + S⁻¹)⁻¹ and α = Aμ.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable

import torch
from torch import Tensor

from fgpvae.errors import UserError
from fgpvae.gp import randomness
from fgpvae.gp.gaussian import LOG_2PI
from fgpvae.gp.kernels import Periodic, Stationary

LARGEST = 1e290  # maximum of n max(1 + μ²) / min(s²), against overflow of float64
DENSE_ARRAYS = 7  # Q x Q arrays that a step with its gradient holds; measured
FOURIER_ARRAYS = 5  # Q x M and M x M arrays
TINY = 1e-30  # lower bound of a variance: its square root still has a finite gradient


class LocalPosterior(ABC):
    """GP posterior of the local channels of P digits given their views, at any angle."""

    # angles [P, S] -> mean and variance [P, S, J] of each channel at each angle
    at: Callable[[Tensor], tuple[Tensor, Tensor]]
    # mean and variance [P, Q, J] at all views, observed or not, and the divergence
    # KL(posterior || prior) = E_q Σ_observed log N(z_q | μ_q, s_q²) - log Z [P, J]
    at_views: Callable[[], tuple[Tensor, Tensor, Tensor]]
    # angles [P, S], generator -> a draw [P, S, J] of the function, smooth in the angle, detached.
    # With a periodic kernel the generator determines the function, otherwise values at these angles
    sample: Callable[..., Tensor]

    def __init__(self, w: Tensor, mu: Tensor, var: Tensor, observed: Tensor) -> None:
        self.views, self.w = w, torch.where(observed, w, 0.0)
        self.mu, self.var, self.root, self.log_2pi = _prepare(mu, var, observed)  # [P, J, Q]
        self.precision = self.root.square()

    @property
    @abstractmethod
    def log_evidence(self) -> Tensor:
        """log Z = log ∫ Π_q N(z_q | μ_q, s_q²) GP(z) dz [P, J] of each channel."""

    def expected_log_views(self, mean: Tensor, var: Tensor) -> Tensor:
        """E Σ_observed log N(z_q | μ_q, s_q²) [P, J], with z_q ~ N(mean, var) [P, Q, J]."""
        squares = (self.precision * ((mean.mT - self.mu).square() + var.mT)).sum(-1)
        return -0.5 * (squares + self.log_2pi)


class DensePosterior(LocalPosterior):
    """Posterior by one Cholesky factor L of B = I + S^½ K S^½ for each digit and channel: O(Q³).

    A = S^½ B⁻¹ S^½, whose rows are zero for views that are not observed. All eigenvalues of B are
    at least 1, whatever the noise, so it can be factorised.
    """

    def __init__(self, kernel: Stationary, w: Tensor, mu: Tensor, var: Tensor, observed: Tensor):
        super().__init__(w, mu, var, observed)
        self.kernel = kernel
        gram = kernel.gram(self.w, self.w)  # [P, Q, Q]
        b = self.root[..., :, None] * self.root[..., None, :] * gram[:, None]  # [P, J, Q, Q]
        self.factor, self.log_det, failed = _cholesky(b)
        self.alpha = self.times_inverse(self.mu)
        _check(self.mu, self.var, self.alpha, gram, failed=failed)

    @property
    def log_evidence(self) -> Tensor:
        # μᵀAμ = |L⁻¹S^½μ|²
        white = _solve(self.factor, (self.root * self.mu)[..., None]).squeeze(-1)
        return -0.5 * (white.square().sum(-1) + self.log_det + self.log_2pi)

    def cross(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """The mean [P, J, S] at angles [P, S], and L⁻¹S^½K*ᵀ [P, J, Q, S]."""
        new = self.kernel.gram(self.w, w)  # K*ᵀ [P, Q, S]
        return self.alpha @ new, _solve(self.factor, self.root[..., None] * new[:, None])

    def at(self, w: Tensor) -> tuple[Tensor, Tensor]:
        mean, cross = self.cross(w)
        var = self.kernel.diagonal(w)[:, None] - cross.square().sum(-2)
        return mean.mT, var.clamp_min(TINY).mT

    def at_views(self) -> tuple[Tensor, Tensor, Tensor]:
        mean, var = self.at(self.views)
        # KL = ½ (log|B| - Σ v/s² + αᵀm)
        quadratic = (self.alpha * mean.mT - self.precision * var.mT).sum(-1)
        return mean, var, 0.5 * (self.log_det + quadratic)

    @torch.no_grad()
    def sample(self, w: Tensor, generator: torch.Generator | None = None) -> Tensor:
        if not isinstance(self.kernel, Periodic):
            mean, cross = self.cross(w)
            covariance = self.kernel.gram(w, w)[:, None] - cross.mT @ cross  # [P, J, S, S]
            # by eigenvalues, because equal angles make the matrix singular
            values, vectors = torch.linalg.eigh(covariance)
            noise = _normal(mean.shape, generator, w)[..., None]
            drawn = vectors @ (values.clamp_min(0).sqrt()[..., None] * noise)
            return (mean + drawn.squeeze(-1)).mT
        # f ~ GP and y = f + noise at the views; then f + K*A (μ - y) has the posterior's law
        kernel, (digits, channels, _) = self.kernel, self.mu.shape
        noise = _normal(self.mu.shape, generator, w)
        prior = _normal((digits, kernel.rank(), channels), generator, w)
        y = (kernel.features(self.w) @ prior).mT + self.var.sqrt() * noise
        update = self.times_inverse(self.mu - y)  # [P, J, Q]
        return kernel.features(w) @ prior + kernel.gram(w, self.w) @ update.mT

    def times_inverse(self, x: Tensor) -> Tensor:
        """Ax [P, J, Q]."""
        return self.root * torch.cholesky_solve((self.root * x)[..., None], self.factor).squeeze(-1)


class FourierPosterior(LocalPosterior):
    """O(Q M²): with K = ΦΦᵀ the posterior is that of the M feature weights, N(ŵ, Λ⁻¹).

    Λ = I + ΦᵀSΦ, ŵ = Λ⁻¹ ΦᵀSμ.
    """

    def __init__(self, kernel: Periodic, w: Tensor, mu: Tensor, var: Tensor, observed: Tensor):
        super().__init__(w, mu, var, observed)
        self.kernel = kernel
        self.phi = kernel.features(self.w)  # [P, Q, M]
        weighted = self.precision[..., None] * self.phi[:, None]  # SΦ [P, J, Q, M]
        factor, self.log_det, failed = _cholesky(self.phi[:, None].mT @ weighted)
        identity = torch.eye(factor.shape[-1], dtype=factor.dtype, device=factor.device)
        self.covariance_root = _solve(factor, identity.expand_as(factor)).mT  # of Λ⁻¹ [P, J, M, M]
        self.covariance = self.covariance_root @ self.covariance_root.mT
        projected = (self.precision * self.mu) @ self.phi
        self.weights = (self.covariance @ projected[..., None]).squeeze(-1)  # ŵ [P, J, M]
        _check(self.mu, self.var, self.weights, self.phi, failed=failed)

    @property
    def log_evidence(self) -> Tensor:
        # μᵀAμ = |S^½(μ - Φŵ)|² + |ŵ|², of which ŵ is the minimum: no gradient passes through it
        weights = self.weights.detach()
        residual = self.mu - weights @ self.phi.mT
        quadratic = (self.precision * residual.square()).sum(-1) + weights.square().sum(-1)
        return -0.5 * (quadratic + self.log_det + self.log_2pi)

    def at(self, w: Tensor) -> tuple[Tensor, Tensor]:
        phi = self.kernel.features(w)  # [P, S, M]
        mean = phi @ self.weights.mT
        var = ((phi[:, None] @ self.covariance) * phi[:, None]).sum(-1).mT  # diag(ΦΛ⁻¹Φᵀ)
        return mean, var.clamp_min(TINY)

    def at_views(self) -> tuple[Tensor, Tensor, Tensor]:
        # KL(N(ŵ, Λ⁻¹) || N(0, I)) = ½ Σ (diag Λ⁻¹ + ŵ² - 1) + ½ log|Λ|
        diagonal = self.covariance.diagonal(dim1=-2, dim2=-1)
        kl = 0.5 * ((diagonal + self.weights.square() - 1).sum(-1) + self.log_det)
        return *self.at(self.views), kl

    @torch.no_grad()
    def sample(self, w: Tensor, generator: torch.Generator | None = None) -> Tensor:
        noise = _normal(self.weights.shape, generator, w)
        drawn = self.weights + (self.covariance_root @ noise[..., None]).squeeze(-1)  # [P, J, M]
        return self.kernel.features(w) @ drawn.mT


def numbers_held(kernel: Stationary, views: int) -> int:
    """Peak number of 8-byte numbers that one channel of one digit holds in a step."""
    if isinstance(kernel, Periodic) and 2 * kernel.rank() <= views:
        rank = kernel.rank()
        return FOURIER_ARRAYS * rank * (views + rank)
    return DENSE_ARRAYS * views**2


def local_posterior(
    kernel: Stationary, w: Tensor, mu: Tensor, var: Tensor, observed: Tensor
) -> LocalPosterior:
    """Posterior given angles [P, Q], encodings [P, Q, J] and a mask [P, Q], by the cheaper path."""
    if isinstance(kernel, Periodic) and 2 * kernel.rank() <= w.shape[-1]:
        return FourierPosterior(kernel, w, mu, var, observed)
    return DensePosterior(kernel, w, mu, var, observed)


class GlobalPosterior:
    """One N(0, 1) variable for each digit and channel, given encodings [P, Q, channels] and a mask.

    N(0, 1) times all N(μ_q, s_q²): with λ_q = 1/s_q² the variance is v = 1 / (1 + Σ λ), the mean
    m = v Σ λμ, and KL = ½ (v + m² - 1 - log v), each [P, channels].
    """

    def __init__(self, mu: Tensor, var: Tensor, observed: Tensor) -> None:
        self.mu, noise, root, self.log_2pi = _prepare(mu, var, observed)  # [P, channels, Q]
        _check(self.mu, noise)
        self.precision = root.square()
        total = 1 + self.precision.sum(-1)
        self.var = total.reciprocal()
        self.mean = self.var * (self.precision * self.mu).sum(-1)
        self.kl = 0.5 * (self.var + self.mean.square() - 1 + total.log())

    @property
    def log_evidence(self) -> Tensor:
        """log ∫ Π_q N(z | μ_q, s_q²) N(z | 0, 1) dz [P, channels]."""
        # μᵀAμ = Σ (μ - m)²/s² + m², of which m is the minimum: no gradient passes through it
        fixed = self.mean.detach()
        squares = self.precision * (self.mu - fixed[..., None]).square()
        quadratic = squares.sum(-1) + fixed.square()
        return -0.5 * (quadratic - self.var.log() + self.log_2pi)


def global_posterior(mu: Tensor, var: Tensor, observed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, variance and log evidence [P, channels] of one N(0, 1) variable for each of them."""
    q = GlobalPosterior(mu, var, observed)
    return q.mean, q.var, q.log_evidence


def _prepare(mu: Tensor, var: Tensor, observed: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Means, variances and S^½ as [P, channels, Q] in float64; 0, 1 and 0 where not observed.

    The last is Σ log 2πs² over the observed views [P, channels].
    """
    mask = observed[:, None]
    mu, var = torch.where(mask, mu.double().mT, 0.0), torch.where(mask, var.double().mT, 1.0)
    log_2pi = var.log().sum(-1) + observed.double().sum(-1)[:, None] * LOG_2PI
    return mu, var, torch.where(mask, var.rsqrt(), 0.0), log_2pi


def _cholesky(x: Tensor) -> tuple[Tensor, Tensor, bool]:
    """The factor of I + X, log|I + X|, and whether it failed."""
    identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    factor, failed = torch.linalg.cholesky_ex(x + identity)
    return factor, 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1), bool(failed.any())


def _solve(lower: Tensor, right: Tensor) -> Tensor:
    """L⁻¹ times the right-hand side."""
    return torch.linalg.solve_triangular(lower, right, upper=False)


def _normal(shape: tuple[int, ...], generator: torch.Generator | None, w: Tensor) -> Tensor:
    return randomness.normal(shape, torch.float64, generator).to(w.device)


@torch.no_grad()
def _check(mu: Tensor, var: Tensor, *results: Tensor, failed: bool = False) -> None:
    """Raise a UserError for numbers that are not finite, or whose squares or inverses overflow."""
    if not var.numel():
        return
    fine = bool(var.numel() * (1 + mu.abs().amax().square()) < LARGEST * var.amin())
    if fine and not failed and all(bool(x.isfinite().all()) for x in (var, *results)):
        return
    cause = "the means are too large or the variances too small next to the prior's"
    if not all(bool(x.isfinite().all()) for x in (mu, var, *results[1:])):
        cause = "an encoding, an angle or a kernel parameter is not a finite number"
    raise UserError(f"The posterior of a digit could not be computed: {cause}.")
