"""The exact posteriors of the paper's appendix B, batched over digits, with masks.

The encoder says N(μ_q, s_q²) of each view q and channel; the prior is a GP over the angle for a
local channel and one standard normal for a global one. Both posteriors and both normalising
constants are in closed form. A view that is not observed has precision zero and no influence.
Arrays arrive as [P, Q, channels]; all algebra is done in float64 and as [P, channels, Q].

S is the diagonal matrix of the precisions 1/s_q², A = (K + S⁻¹)⁻¹ and α = Aμ.
"""

import math
from typing import Any, Protocol, TypeGuard

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from fgpvae.errors import UserError
from fgpvae.gaussian import LOG_2PI

LARGEST = 1e290  # n max(1 + μ²) / min(s²) beyond which float64 overflows somewhere
DENSE_ARRAYS = 6  # of Q x Q numbers, that a step with its gradient holds; measured
FOURIER_ARRAYS = 4  # of Q x M and of M x M numbers
TINY = 1e-30  # for a variance that rounds to less: its square root still has a finite gradient


class Kernel(Protocol):
    def gram(self, a: Tensor, b: Tensor) -> Tensor: ...
    def diagonal(self, w: Tensor) -> Tensor: ...


class FeatureKernel(Kernel, Protocol):
    """k(a, b) = φ(a)·φ(b), with `rank` features φ."""

    def rank(self) -> int: ...
    def features(self, w: Tensor) -> Tensor: ...


def has_features(kernel: Kernel) -> TypeGuard[FeatureKernel]:
    return hasattr(kernel, "features")


class LocalPosterior(Protocol):
    """GP posterior of the local channels of P digits given their views, at any angle."""

    @property
    def log_evidence(self) -> Tensor:
        """log Z = log ∫ Π_q N(z_q | μ_q, s_q²) GP(z) dz [P, J] of each channel."""
        ...

    def at_views(self) -> tuple[Tensor, Tensor, Tensor]:
        """Mean and variance [P, Q, J] at all views, observed or not, and the KL divergence [P, J].

        KL(posterior || prior) = E_q Σ_observed log N(z_q | μ_q, s_q²) - log Z.
        """
        ...

    def expected_log_views(self, mean: Tensor, var: Tensor) -> Tensor:
        """E Σ_observed log N(z_q | μ_q, s_q²) [P, J], with z_q ~ N(mean, var) [P, Q, J]."""
        ...

    def at(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """Angles [P, S] -> mean and variance [P, S, J] of each channel at each angle."""
        ...

    def sample(self, w: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """One draw of the whole function at angles [P, S] -> [P, S, J], smooth in the angle.

        The generator decides the function, whatever the angles, if the kernel has features;
        otherwise it decides the values at these angles. Has no gradient.
        """
        ...


class DensePosterior(LocalPosterior):
    """O(Q³) a digit and channel: one Cholesky factor L of B = I + S^½ K S^½, so that
    A = S^½ B⁻¹ S^½, whose rows are zero for views that are not observed.

    All eigenvalues of B are at least 1, whatever the noise, so it can be factorised.
    """

    def __init__(self, kernel: Kernel, w: Tensor, mu: Tensor, var: Tensor, observed: Tensor):
        self.kernel, self.views, self.observed, mask = kernel, w, observed, _mask(observed)
        self.w = _fill(w, mask, 0.0)
        self.mask = mask = None if mask is None else mask[:, None]
        self.mu, self.var = _prepare(mu, var, mask)  # [P, J, Q]
        self.gram = kernel.gram(self.w, self.w)  # [P, Q, Q]
        with torch.no_grad():
            self.root = _fill(self.var.rsqrt(), mask, 0.0).contiguous()  # S^½
            b = _outer(self.root, self.root) * self.gram[:, None]  # [P, J, Q, Q]
            b.diagonal(dim1=-2, dim2=-1).add_(1)
            self.factor, failed = torch.linalg.cholesky_ex(b)
            self.alpha = self.times_inverse(self.mu)
            _check(self.mu, self.var, self.alpha, self.gram, failed)

    @property
    def log_evidence(self) -> Tensor:
        # log Z = E_q Σ log N(z_q | μ_q, s_q²) - KL(posterior || prior)
        mean, var, kl = self._at(self.w, with_kl=True)  # [P, J, Q], [P, J]
        return self._expected(mean, var) - kl

    def expected_log_views(self, mean: Tensor, var: Tensor) -> Tensor:
        return self._expected(mean.mT, var.mT)

    def _expected(self, mean: Tensor, var: Tensor) -> Tensor:
        precision = _fill(1 / self.var, self.mask, 0.0)
        squares = (precision * ((mean - self.mu).square() + var)).sum(-1)
        return -0.5 * (squares + _log_2pi(self.var, self.observed))

    def at(self, w: Tensor) -> tuple[Tensor, Tensor]:
        mean, var, _ = self._at(w)
        return mean.mT, var.mT

    def at_views(self) -> tuple[Tensor, Tensor, Tensor]:
        mean, var, kl = self._at(self.views, with_kl=True)
        return mean.mT, var.mT, kl

    def _at(self, w: Tensor, with_kl: bool = False) -> tuple[Tensor, Tensor, Tensor]:
        new = self.gram if w is self.w else self.kernel.gram(w, self.w)  # [P, S, Q]
        diagonal = self.kernel.diagonal(w)
        marginals: tuple[Tensor, Tensor, Tensor] = _DenseMarginals.apply(
            self, self.mu, self.var, self.gram, new, diagonal, with_kl
        )
        return marginals

    @torch.no_grad()
    def sample(self, w: Tensor, generator: torch.Generator | None = None) -> Tensor:
        if not has_features(self.kernel):
            return self._sample_values(w, generator)
        # f ~ GP and y = f + noise at the views; then f + K*A (μ - y) has the posterior's law
        kernel, (digits, channels, _) = self.kernel, self.mu.shape
        noise = _normal(self.mu.shape, generator, w)
        prior = _normal((digits, kernel.rank(), channels), generator, w)
        y = (kernel.features(self.w) @ prior).mT + self.var.sqrt() * noise
        update = self.times_inverse(self.mu - y)  # [P, J, Q]
        return kernel.features(w) @ prior + kernel.gram(w, self.w) @ update.mT

    def _sample_values(self, w: Tensor, generator: torch.Generator | None) -> Tensor:
        new = self.kernel.gram(self.w, w)  # [P, Q, S]
        cross = _solve(self.factor, self.root[..., None] * new[:, None])  # L⁻¹S^½K*ᵀ [P, J, Q, S]
        mean = self.alpha @ new  # [P, J, S]
        covariance = self.kernel.gram(w, w)[:, None] - cross.mT @ cross  # [P, J, S, S]
        # angles may coincide: a root by eigenvalues needs no positive definite matrix
        values, vectors = torch.linalg.eigh(covariance)
        noise = _normal(mean.shape, generator, w)[..., None]
        drawn = vectors @ (values.clamp_min(0).sqrt()[..., None] * noise)
        return (mean + drawn.squeeze(-1)).mT

    def times_inverse(self, x: Tensor) -> Tensor:
        """Ax [P, J, Q]."""
        return self.root * torch.cholesky_solve((self.root * x)[..., None], self.factor).squeeze(-1)

    def inverse(self) -> Tensor:
        """A [P, J, Q, Q]."""
        r = _solve(self.factor, torch.diag_embed(self.root))
        return r.mT @ r


class _DenseMarginals(torch.autograd.Function):
    """m = K*α and v = k** - diag(K*AK*ᵀ), with their gradients in closed form.

    With H = AK*ᵀ: ∂m_i/∂μ_q = H_qi, ∂m_i/∂s_q² = -α_q H_qi, ∂v_i/∂s_q² = H_qi²;
    dm = dK* α - Hᵀ dK α and dv = dk** - 2 diag(dK* H) + diag(Hᵀ dK H).

    Where they are those at the views, also KL = ½ (log|B| - Σ v/s² + αᵀm). As a function of m, v,
    μ, s² and K it is E_q Σ log N(z_q | μ_q, s_q²) - log Z, with ∂/∂m = α, ∂/∂v = -½ 1/s²,
    ∂/∂K = ½ (A - ααᵀ); the derivatives by μ and s² cancel.
    """

    @staticmethod
    def forward(
        ctx: Any,
        q: DensePosterior,
        mu: Tensor,
        var: Tensor,
        gram: Tensor,
        new: Tensor,
        diagonal: Tensor,
        with_kl: bool,
    ) -> tuple[Tensor, Tensor, Tensor]:
        cross = _solve(q.factor, (new[:, None] * q.root[..., None, :]).mT)  # L⁻¹S^½K*ᵀ [P, J, Q, S]
        mean = q.alpha @ new.mT
        v = (diagonal[:, None] - cross.square().sum(-2)).clamp_min_(TINY)
        ctx.q, ctx.cross, ctx.positive, ctx.with_kl = q, cross, v > TINY, with_kl
        if not with_kl:
            return mean, v, mean.new_zeros(())
        ctx.precision = q.root.square()
        log_det = 2 * q.factor.diagonal(dim1=-2, dim2=-1).log().sum(-1)  # log|B|
        quadratic = torch.addcmul(q.alpha * mean, ctx.precision, v, value=-1).sum(-1)
        return mean, v, 0.5 * (log_det + quadratic)

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, by_mean: Tensor, by_v: Tensor, by_kl: Tensor
    ) -> tuple[Tensor | None, ...]:
        q = ctx.q
        if ctx.with_kl:
            by_kl = by_kl[..., None]
            by_mean = torch.addcmul(by_mean, by_kl, q.alpha)
            by_v = torch.addcmul(by_v, by_kl, ctx.precision, value=-0.5)
        h = q.root[..., None] * _solve(q.factor, ctx.cross, True)  # [P, J, Q, S]
        by_mean, by_v = by_mean[..., None, :], (by_v * ctx.positive)[..., None, :]
        by_mu = (h * by_mean).sum(-1)
        weighted = by_v * h
        by_var = torch.addcmul((weighted * h).sum(-1), q.alpha, by_mu, value=-1)
        by_gram = by_new = by_diagonal = None
        _, _, _, gram_wanted, new_wanted, diagonal_wanted, _ = ctx.needs_input_grad
        if gram_wanted:
            by_gram = weighted @ h.mT - _outer(by_mu, q.alpha)
            if ctx.with_kl:
                by_gram += 0.5 * by_kl[..., None] * (q.inverse() - _outer(q.alpha, q.alpha))
            by_gram = by_gram.sum(1)
        if new_wanted:
            by_new = (q.alpha[..., None] * by_mean - 2 * weighted).sum(1).mT
        if diagonal_wanted:
            by_diagonal = by_v.sum((1, 2))
        return None, by_mu, by_var, by_gram, by_new, by_diagonal, None


class FourierPosterior(LocalPosterior):
    """O(Q M²): with K = ΦΦᵀ the posterior is that of the M feature weights, N(ŵ, Λ⁻¹).

    Λ = I + ΦᵀSΦ, ŵ = Λ⁻¹ ΦᵀSμ.
    """

    def __init__(self, kernel: FeatureKernel, w: Tensor, mu: Tensor, var: Tensor, observed: Tensor):
        self.kernel, self.views, self.observed, mask = kernel, w, observed, _mask(observed)
        self.w = _fill(w, mask, 0.0)
        self.phi = kernel.features(self.w)  # [P, Q, M]
        mask = None if mask is None else mask[:, None]
        self.mu, self.var = _prepare(mu, var, mask)  # [P, J, Q]
        self.precision = _fill(1 / self.var, mask, 0.0)
        weighted = self.precision[..., None] * self.phi[:, None]  # SΦ [P, J, Q, M]
        self.covariance, self.root, self.log_det, failed = _Inverse.apply(
            self.phi[:, None].mT @ weighted
        )
        projected = (self.precision * self.mu) @ self.phi
        self.weights = (self.covariance @ projected[..., None]).squeeze(-1)  # ŵ [P, J, M]
        with torch.no_grad():
            _check(self.mu, self.var, self.weights, self.phi, failed)

    @property
    def log_evidence(self) -> Tensor:
        # μᵀAμ = |S^½(μ - Φŵ)|² + |ŵ|², of which ŵ is the minimum: no gradient passes through it
        weights = self.weights.detach()
        residual = self.mu - weights @ self.phi.mT
        quadratic = (self.precision * residual.square()).sum(-1) + weights.square().sum(-1)
        return -0.5 * (quadratic + self.log_det + _log_2pi(self.var, self.observed))

    def expected_log_views(self, mean: Tensor, var: Tensor) -> Tensor:
        squares = (self.precision * ((mean.mT - self.mu).square() + var.mT)).sum(-1)
        return -0.5 * (squares + _log_2pi(self.var, self.observed))

    def at(self, w: Tensor) -> tuple[Tensor, Tensor]:
        phi = self.phi if w is self.w else self.kernel.features(w)  # [P, S, M]
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
        drawn = self.weights + (self.root @ noise[..., None]).squeeze(-1)  # [P, J, M]
        return self.kernel.features(w) @ drawn.mT


class _Inverse(torch.autograd.Function):
    """(I + X)⁻¹, a root U of it with UUᵀ = (I + X)⁻¹, log|I + X|, and whether it failed; X ≥ 0."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
        factor, failed = torch.linalg.cholesky_ex(x + identity)
        root = _solve(factor, identity.expand_as(x)).mT
        inverse = root @ root.mT
        ctx.save_for_backward(inverse)
        ctx.mark_non_differentiable(root, failed)
        return inverse, root, 2 * factor.diagonal(dim1=-2, dim2=-1).log().sum(-1), failed

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, by_inverse: Tensor, _: Tensor, by_log_det: Tensor, __: Tensor) -> Tensor:
        (inverse,) = ctx.saved_tensors
        # d(I + X)⁻¹ = -(I + X)⁻¹ dX (I + X)⁻¹ and d log|I + X| = tr((I + X)⁻¹ dX)
        return by_log_det[..., None, None] * inverse - inverse @ by_inverse @ inverse


def numbers_held(kernel: Kernel, views: int) -> int:
    """How many numbers of 8 bytes one channel of one digit holds in a step, at its peak."""
    if has_features(kernel) and 2 * kernel.rank() <= views:
        rank = kernel.rank()
        return FOURIER_ARRAYS * rank * (views + rank)
    return DENSE_ARRAYS * views**2


def local_posterior(
    kernel: Kernel, w: Tensor, mu: Tensor, var: Tensor, observed: Tensor
) -> LocalPosterior:
    """Posterior given angles [P, Q], encodings [P, Q, J] and a mask [P, Q], by the cheaper path."""
    if has_features(kernel) and 2 * kernel.rank() <= w.shape[-1]:
        return FourierPosterior(kernel, w, mu, var, observed)
    return DensePosterior(kernel, w, mu, var, observed)


class GlobalPosterior:
    """One N(0, 1) variable a digit and channel: its mean, variance and KL divergence [P, channels]
    given encodings [P, Q, channels] and a mask [P, Q]."""

    def __init__(self, mu: Tensor, var: Tensor, observed: Tensor) -> None:
        mask = _mask(observed[:, None])
        self.observed = observed
        self.mu, self.noise = _prepare(mu, var, mask)  # [P, channels, Q]
        self.mask = mask
        self.mean, self.var, self.kl = _Product.apply(self.mu, self.noise, mask)

    @property
    def log_evidence(self) -> Tensor:
        """log ∫ Π_q N(z | μ_q, s_q²) N(z | 0, 1) dz [P, channels]."""
        # μᵀAμ = Σ (μ - m)²/s² + m², of which m is the minimum: no gradient passes through it
        fixed, precision = self.mean.detach(), _fill(1 / self.noise, self.mask, 0.0)
        squares = precision * (self.mu - fixed[..., None]).square()
        quadratic = squares.sum(-1) + fixed.square()
        return -0.5 * (quadratic - self.var.log() + _log_2pi(self.noise, self.observed))


class _Product(torch.autograd.Function):
    """N(0, 1) times all N(μ_q, s_q²): with λ_q = 1/s_q² it is v = 1 / (1 + Σ λ), m = v Σ λμ, and
    KL = ½ (v + m² - 1 - log v).

    ∂m/∂μ_q = v λ_q, ∂m/∂λ_q = v (μ_q - m), ∂v/∂λ_q = -v², ∂λ_q/∂s_q² = -λ_q².
    """

    @staticmethod
    def forward(
        ctx: Any, mu: Tensor, var: Tensor, mask: Tensor | None
    ) -> tuple[Tensor, Tensor, Tensor]:
        _check(mu, var)
        precision = _fill(var.reciprocal(), mask, 0.0)
        total = 1 + precision.sum(-1)
        v = total.reciprocal()
        mean = v * (precision * mu).sum(-1)
        ctx.save_for_backward(mu, precision, total, v, mean)
        return mean, v, 0.5 * (v + mean.square() - 1 + total.log())

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, by_mean: Tensor, by_v: Tensor, by_kl: Tensor
    ) -> tuple[Tensor, Tensor, None]:
        mu, precision, total, v, mean = ctx.saved_tensors
        scaled = (v * torch.addcmul(by_mean, by_kl, mean))[..., None]
        by_total = v.square() * torch.addcmul(by_v, by_kl, 1 - total, value=0.5)
        by_precision = torch.addcmul(-by_total[..., None], scaled, mu - mean[..., None])
        return scaled * precision, -precision.square() * by_precision, None


def global_posterior(mu: Tensor, var: Tensor, observed: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Mean, variance and log evidence [P, channels] of one N(0, 1) variable a digit and channel."""
    q = GlobalPosterior(mu, var, observed)
    return q.mean, q.var, q.log_evidence


def _mask(observed: Tensor) -> Tensor | None:
    """The mask, or None if there is nothing to mask."""
    return None if bool(observed.all()) else observed


def _fill(x: Tensor, mask: Tensor | None, value: float) -> Tensor:
    return x if mask is None else torch.where(mask, x, value)


def _prepare(mu: Tensor, var: Tensor, mask: Tensor | None) -> tuple[Tensor, Tensor]:
    """Means and variances as [P, channels, Q] in float64, 0 and 1 where not observed."""
    return _fill(mu.double().mT, mask, 0.0), _fill(var.double().mT, mask, 1.0)


def _outer(a: Tensor, b: Tensor) -> Tensor:
    return a[..., :, None] * b[..., None, :]


def _solve(lower: Tensor, right: Tensor, transposed: bool = False) -> Tensor:
    """L⁻¹ or L⁻ᵀ times the right-hand side."""
    matrix = lower.mT if transposed else lower
    return torch.linalg.solve_triangular(matrix, right, upper=transposed)


def _normal(shape: tuple[int, ...], generator: torch.Generator | None, w: Tensor) -> Tensor:
    """Drawn on the CPU, so that every device gets the same, and moved to where w is."""
    return torch.randn(shape, dtype=torch.float64, generator=generator, device="cpu").to(w.device)


def _log_2pi(var: Tensor, observed: Tensor) -> Tensor:
    """Σ log 2πs² over the observed views; s² is 1 where there is none."""
    return var.log().sum(-1) + observed.double().sum(-1)[:, None] * LOG_2PI


def _check(
    mu: Tensor,
    var: Tensor,
    result: Tensor | None = None,
    prior: Tensor | None = None,
    failed: Tensor | None = None,
) -> None:
    """Any angle that is not finite shows in the result; say which it was.

    Finite means and variances whose squares or inverses are not finite would show only later, in
    the evidence or the KL.
    """
    if not var.numel():
        return
    extremes = [*var.aminmax(), *mu.aminmax()]
    if result is not None:
        extremes.append(result.sum())
    least, most, lowest, highest, *rest = torch.stack(extremes).tolist()
    largest = max(-lowest, highest)
    fine = most < math.inf and all(map(math.isfinite, rest))
    fine = fine and var.numel() * (1 + largest * largest) < LARGEST * least
    if fine and (failed is None or not bool(failed.any())):
        return
    if not bool(mu.isfinite().all()):
        cause = "an encoded mean is not a finite number"
    elif not bool((var.isfinite() & (var > 0)).all()):
        cause = "an encoded variance is not a positive, finite number"
    elif prior is not None and not bool(prior.isfinite().all()):
        cause = "an angle or a kernel parameter is not a finite number"
    else:
        cause = "the means are too large or the variances too small next to the prior's"
    raise UserError(f"The posterior of a digit could not be computed: {cause}.")
