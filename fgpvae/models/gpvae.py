"""The GP-VAE of Casale et al. (2018): one Gaussian process over all images of all digits.

Every channel of the codes Z [N, L] has the prior N(0, K) with

    k(i, j) = (d_p(i) · d_p(j)) σ² k_r(w_i, w_j) + α δ_ij,

a learned vector d_p [m] for each digit. With the Fourier features φ of the angle kernel the image
of digit p at angle w has the row v = d_p ⊗ φ(w) [R], R = m H, and K = VVᵀ + αI exactly, whatever
angles a digit is observed at. All algebra goes through R x R matrices: O(N R²).

q(Z) is the encoder's, independent for each image, so the evidence lower bound contains

    E_q log N(Z | 0, K) = Σ_l log N(μ_l | 0, K) - ½ tr(K⁻¹ diag(var_l)),

which no mini-batch can compute. At the start of an epoch it is computed over all images and
expanded to first order in the codes, the digit vectors and the kernel's parameters. The expansion
is a sum over digits, so its gradient needs the digits of a batch only.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn

from fgpvae.data import Views
from fgpvae.errors import require
from fgpvae.gp import gaussian, randomness
from fgpvae.gp.gaussian import LOG_2PI
from fgpvae.gp.kernels import Periodic
from fgpvae.gp.sparse import cholesky
from fgpvae.models.base import Terms
from fgpvae.models.digit_vectors import (
    CHUNK,
    DigitVectorConfig,
    DigitVectorModel,
    FreeVectors,
    RepresentedVectors,
    masked,
)
from fgpvae.models.inference import Posterior
from fgpvae.models.vae import kl_to_prior
from fgpvae.settings import setting

PLAIN, GP_ONLY, JOINT = range(3)  # the phases of training
MOST_FEATURES = 50_000_000  # numbers of V [N, R] and of VᵀV [R, R], 0.4 GB each


@dataclass(frozen=True, kw_only=True)
class GPVAEConfig(DigitVectorConfig):
    """Settings of the GP-VAE.

    >>> from fgpvae import GPVAEConfig
    >>> GPVAEConfig(latents=4, digit_rank=6).digit_rank
    6
    """

    name: str = "gpvae"
    phases: tuple[float, float] = setting(
        (0.4, 0.5), "Shares of epochs until the GP learns alone, then both.", bounds=(0.0, 1.0)
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        ordered = self.phases[0] <= self.phases[1]
        require(ordered, "The phases must be two shares of the training, in order.")


def features_needed(images: int, rank: int, kernel: Periodic) -> int:
    """How many numbers the larger of V [N, R] and VᵀV [R, R] has, R = m H."""
    R = rank * kernel.rank()
    return R * max(R, images)


def product_features(d: Tensor, phi: Tensor) -> Tensor:
    """v = d_p ⊗ φ(w): vectors [P, m] and features [P, Q, H] -> [P, Q, m H]."""
    return (d[:, None, :, None] * phi[:, :, None, :]).flatten(-2)


def expected_log_prior(v: Tensor, alpha: Tensor, mu: Tensor, var: Tensor) -> Tensor:
    """E_q log N(Z | 0, VVᵀ + αI) of codes with mean and variance [N, L], for features [N, R]."""
    N, L = mu.shape
    factor = cholesky(v.mT @ v / alpha)  # of I + VᵀV/α
    w = torch.linalg.solve_triangular(factor, v.mT / alpha.sqrt(), upper=False)  # [R, N]
    # K⁻¹ = (I - WᵀW) / α
    quadratic = (mu.square().sum() - (w @ mu).square().sum()) / alpha
    trace = ((1 - w.square().sum(0)) * var.sum(-1)).sum() / alpha
    # log |K| = N log α + log |I + VᵀV/α|
    log_det = N * alpha.log() + 2 * factor.diagonal().log().sum()
    return -0.5 * (quadratic + trace + L * (log_det + N * LOG_2PI))


class JointGP(DigitVectorModel):
    """What the two joint GPs share: evidence, its expansion and training phases.

    Training starts as a plain VAE, continues with the GP's parameters alone, and ends with both.
    """

    Config = GPVAEConfig
    complexity = "O(NH²m²)"
    gp_rate = 10.0  # learning rate of the GP's parameters, relative to that of the networks

    def __init__(self, config: GPVAEConfig) -> None:
        super().__init__(config)
        self.log_alpha = nn.Parameter(torch.tensor(0.5, dtype=torch.float64).log())

    @classmethod
    def check_run(cls, config: GPVAEConfig, images: int) -> None:
        m, r = config.digit_rank, config.length_scale
        require(
            features_needed(images, m, Periodic(1.0, r)) <= MOST_FEATURES,
            f"A joint GP over {images} images with digit_rank {m} and length_scale {r:g} needs "
            "more memory than a run may take; choose fewer digits or a smaller rank.",
        )

    def _allocate(self, P: int, Q: int) -> None:
        super()._allocate(P, Q)
        L, m = self.config.latents, self.config.digit_rank
        self.phase = self._zeros(kind=torch.int64)
        # the expansion of the expected log prior
        self.slope_mu = self._zeros(P, Q, L)
        self.slope_var = self._zeros(P, Q)  # the same for all channels
        self.slope_vectors = self._zeros(P, m)
        self.slope_kernel = self._zeros(3, kind=torch.float64)
        self.offset = self._zeros(P, kind=torch.float64)

    @property
    def alpha(self) -> Tensor:
        return self.log_alpha.exp()

    def kernel_parameters(self) -> list[nn.Parameter]:
        """log σ, log r, log α."""
        return [self.kernel.log_amplitude, self.kernel.log_length_scale, self.log_alpha]

    def gp_parameters(self) -> list[nn.Parameter]:
        return self.kernel_parameters()

    def parameter_groups(self) -> list[tuple[list[nn.Parameter], float]]:
        fast = self.gp_parameters()
        slow = [p for p in self.parameters() if all(p is not other for other in fast)]
        return [(slow, 1.0), (fast, self.gp_rate)]

    def features(self, d: Tensor, w: Tensor) -> Tensor:
        """Vectors [P, m] and angles [P, Q] -> V [P, Q, R]."""
        needed = features_needed(self.angles.numel(), self.config.digit_rank, self.kernel)
        short = f"The length scale of the {self.title} has become too short for the memory."
        require(needed <= MOST_FEATURES, short)
        return product_features(d.double(), self.kernel.features(w))

    # Training

    def start_epoch(self, data: Callable[[], Views], progress: float) -> None:
        self.phase.fill_(sum(progress >= start for start in self.config.phases))
        if self.phase != PLAIN:
            self.expand(data())

    def expand(self, views: Views) -> None:
        """First-order expansion of the expected log prior around the current codes and GP."""
        rows, observed = self._training_rows(views), views.observed
        mu, var, d = (x.requires_grad_() for x in self._encode_all(views, rows))
        with torch.enable_grad():
            v = self.features(d, views.angles)
            value = expected_log_prior(
                v[observed], self.alpha, mu[observed].double(), var[observed].double()
            )
            by_mu, by_var, by_d, *by_kernel = torch.autograd.grad(
                value, [mu, var, d, *self.kernel_parameters()]
            )
        with torch.no_grad():
            self.slope_mu[rows], self.slope_var[rows] = by_mu, by_var[..., 0]
            self.slope_vectors[rows] = by_d
            self.slope_kernel.copy_(torch.stack(by_kernel))
            self.offset.zero_()
            self.offset[rows] = value / len(rows) - self._linear(mu, var, d, rows)

    def _linear(self, mu: Tensor, var: Tensor, d: Tensor, rows: Tensor) -> Tensor:
        """The expansion's value for each digit [P]: its share of E_q log N(Z | 0, K)."""
        return (
            self.offset[rows]
            + (self.slope_mu[rows] * mu).sum((-2, -1)).double()
            + (self.slope_var[rows] * var.sum(-1)).sum(-1).double()
            + (self.slope_vectors[rows] * d).sum(-1).double()
            + self.slope_kernel @ torch.stack([*self.kernel_parameters()]) / len(self.ids)
        )

    def terms(
        self, views: Views, context: Tensor | None = None, generator: torch.Generator | None = None
    ) -> Terms:
        rows, phase = self._training_rows(views, context), int(self.phase)
        with torch.set_grad_enabled(phase != GP_ONLY and torch.is_grad_enabled()):
            mu, var = self.encode(views.images, views.angles, views.observed)
            error, pixels = self.squared_error(gaussian.sample(mu, var, generator), views)
        if phase == PLAIN:
            return Terms(error, pixels, kl_to_prior(mu, var))
        d = self.digit_vectors(views.images, views.observed, rows)
        # entropy of q: ½ Σ log 2πe var
        each = torch.where(views.observed[..., None], 1 + LOG_2PI + var.log(), 0.0)
        return Terms(error, pixels, -self._linear(mu, var, d, rows) - 0.5 * each.sum((-2, -1)))


class JointPosterior(Posterior):
    """Posterior of digits with vectors d [P, m], given the training set and new digits' views.

    z(w) = v·u + noise of variance α with v = d ⊗ φ(w) and u ~ N(0, I) a priori; given codes Z of
    images with features V, u has mean û = (αI + VᵀV)⁻¹VᵀZ and covariance Λ⁻¹, Λ = I + VᵀV/α. The
    codes themselves have the distribution q(Z). The views of a training digit count once: the
    stored ones are left out.
    """

    def __init__(self, model: JointGP, d: Tensor, views: Views | None = None) -> None:
        super().__init__(model.title, len(d), d.device)
        self.model, self.d, self.views, self.alpha = model, d, views, model.alpha
        stored = (model.features(model.known_vectors, model.angles), model.mu, model.var)
        self.v, self.mu, self.var = (masked(x, model.observed) for x in stored)  # [P, Q, R or L]
        every = self.v.flatten(0, 1)  # [N, R]
        self.gram = every.mT @ every
        self.together = max(self.digits, 1)
        if views is not None:
            self.rows, self.known = model.rows(views.ids)
            encoded = model.encode(views.images, views.angles, views.observed)
            own = (model.features(d, views.angles), *encoded)
            self.own_v, self.own_mu, self.own_var = (masked(x, views.observed) for x in own)
            # each digit has a VᵀV of its own
            self.together = max(min(CHUNK, MOST_FEATURES // self.gram.numel()), 1)

    def _mean(self, w: Tensor) -> Tensor:
        return torch.cat([v @ weights for v, weights, _ in self._solved(w, lambda mu, var: mu)])

    def _sample(self, w: Tensor, generator: torch.Generator | None) -> Tensor:
        parts = []
        for v, weights, factor in self._solved(w, partial(gaussian.sample, generator=generator)):
            noise = randomness.normal(weights.shape, weights.dtype, generator).to(w.device)
            u = weights + torch.linalg.solve_triangular(factor.mT, noise, upper=True)
            z = v @ u
            parts.append(gaussian.sample(z, self.alpha.expand_as(z), generator))
        return torch.cat(parts)

    def _solved(
        self, w: Tensor, codes: Callable[[Tensor, Tensor], Tensor]
    ) -> Iterator[tuple[Tensor, Tensor, Tensor]]:
        """Features v [p, S, R], û [.., R, L] and the factor of Λ [.., R, R], some digits a time."""
        z = codes(self.mu, self.var)  # [P, Q, L]
        right = torch.einsum("pqr,pql->rl", self.v, z)
        for start in range(0, max(self.digits, 1), self.together):
            part = slice(start, start + self.together)
            grams, rights = self.gram, right
            if self.views is not None:
                own_z = codes(self.own_mu[part], self.own_var[part])
                v, signed = self._exchanged(part, self.own_v[part], self.v)
                grams = grams + v.mT @ signed  # [p, R, R]
                rights = rights + v.mT @ self._exchanged(part, own_z, z)[1]
            factor = cholesky(grams / self.alpha)
            weights = torch.cholesky_solve(rights / self.alpha, factor)
            yield self.model.features(self.d[part], w[part]), weights, factor

    def _variance(self, w: Tensor) -> Tensor:
        """α + vᵀΛ⁻¹v + Σ_n h_n² var_n, h = VΛ⁻¹v/α the share of each code in the mean."""
        training = self.v.flatten(0, 1), self.var.flatten(0, 1)
        result = w.new_empty(*w.shape, self.mu.shape[-1])
        for p in range(self.digits):  # h has N entries
            part, gram, images = slice(p, p + 1), self.gram, [training]
            if self.views is not None:
                rows, signed = self._exchanged(part, self.own_v[part], self.v)
                gram = gram + (rows.mT @ signed)[0]
                images.append((rows[0], self._exchanged(part, self.own_var[part], self.var)[1][0]))
            v = self.model.features(self.d[part], w[part])[0]  # [S, R]
            known = torch.cholesky_solve(v.mT, cholesky(gram / self.alpha))  # Λ⁻¹v [R, S]
            shares = sum((x @ known / self.alpha).square().mT @ var for x, var in images)
            result[p] = self.alpha + (v.mT * known).sum(0)[:, None] + shares
        return result

    def _exchanged(self, part: slice, own: Tensor, stored: Tensor) -> tuple[Tensor, Tensor]:
        """Values of these digits' own and stored views [p, Q, ...], the stored also with sign -."""
        if not len(stored):
            return own, own
        old = torch.where(self.known[part, None, None], stored[self.rows[part]], 0.0)
        return torch.cat([own, old], 1), torch.cat([own, -old], 1)


class GPVAE(FreeVectors, JointGP):
    """GP-VAE of Casale et al.: one GP over all images, a free vector for each training digit.

    It cannot take digits that it was not trained on.

    >>> from fgpvae import GPVAE
    >>> GPVAE.takes_new_digits
    False
    """

    name, title = "gpvae", "GP-VAE"

    def gp_parameters(self) -> list[nn.Parameter]:
        return [*self.kernel_parameters(), self.vectors]

    def _infer(self, views: Views) -> JointPosterior:
        """The posterior of training digits, whose views are stored already."""
        return JointPosterior(self, self.known_vectors[self.known_rows(views)])


class AmortisedGPVAE(RepresentedVectors, JointGP):
    """GP-VAE whose digit vectors come from a representation network, so that it takes new digits.

    A new digit joins the training set with the rows of its own views. The digits that `ids` names
    leave it first, so that the views of a training digit count once.

    >>> from fgpvae import AmortisedGPVAE
    >>> AmortisedGPVAE.takes_new_digits
    True
    """

    name, title = "gpvae-amortised", "Amortised GP-VAE"

    def _infer(self, views: Views) -> JointPosterior:
        return JointPosterior(self, self.represent(views.images, views.observed), views)
