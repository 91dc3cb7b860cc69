"""The GP-VAE of Casale et al. (2018): one Gaussian process over all images of all digits.

Every channel of the codes Z [N, L] has the prior N(0, K) with

    k(i, j) = (d_p(i) · d_p(j)) σ² k_r(w_i, w_j) + α δ_ij,

a learned vector d_p [m] for each digit. With the Fourier features φ of the angle kernel the image
of digit p at angle w has the row v = d_p ⊗ φ(w) [R], R = m H, and K = VVᵀ + αI exactly, whatever
angles a digit is observed at. (A Cholesky factor of the gram matrix of the sixteen angles would
work as well, but only for angles on one grid; H = 29 features at r = 1 work for all angles.) All
algebra goes through R x R matrices: O(N R²), never an N x N matrix.

q(Z) is the encoder's, independent for each image, so the evidence lower bound contains

    E_q log N(Z | 0, K) = Σ_l log N(μ_l | 0, K) - ½ tr(K⁻¹ diag(var_l)),

which no mini-batch can compute. At the start of an epoch it is computed over all images and
expanded to first order in the codes, the digit vectors and the kernel's parameters. The expansion
is a sum over digits, so its gradient needs the digits of a batch only.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fgpvae.data import Views
from fgpvae.errors import UserError
from fgpvae.gp import gaussian
from fgpvae.gp.gaussian import LOG_2PI
from fgpvae.gp.kernels import Periodic
from fgpvae.models.base import Terms
from fgpvae.models.digit_vectors import DigitVectorConfig, DigitVectorModel, masked
from fgpvae.models.vae import kl_to_prior
from fgpvae.settings import setting

PLAIN, GP_ONLY, JOINT = range(3)  # the phases of training
MOST_FEATURES = 50_000_000  # numbers of V [N, R] and of VᵀV [R, R], 0.4 GB each


@dataclass(frozen=True, kw_only=True)
class JointGPConfig(DigitVectorConfig):
    phases: tuple[float, float] = setting(
        (0.4, 0.5),
        "Shares of the epochs after which training turns from the networks to the Gaussian "
        "process, and then to both.",
        bounds=(0.0, 1.0),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "phases", tuple(self.phases))
        super().__post_init__()
        if self.phases[0] > self.phases[1]:
            raise UserError("The phases must be two shares of the training, in order.")


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
    """What the two joint GPs share: evidence, its expansion, training phases and prediction.

    Training starts as a plain VAE, continues with the GP's parameters alone, and ends with both.
    `config.phases` are the shares of the training at which the second and the third phase start.
    """

    complexity = "O(NH²m²)"
    gp_rate = 10.0  # learning rate of the GP's parameters, relative to that of the networks

    phase: Tensor
    slope_mu: Tensor
    slope_var: Tensor
    slope_vectors: Tensor
    slope_kernel: Tensor
    offset: Tensor

    def __init__(self, config: JointGPConfig) -> None:
        super().__init__(config)
        self.kernel = Periodic(config.amplitude, config.length_scale, config.period, learnable=True)
        self.log_alpha = nn.Parameter(torch.tensor(0.5, dtype=torch.float64).log())

    @classmethod
    def check_run(cls, config: JointGPConfig, images: int, context_dropout: float) -> None:
        super().check_run(config, images, context_dropout)
        kernel = Periodic(1.0, config.length_scale)
        if features_needed(images, config.digit_rank, kernel) > MOST_FEATURES:
            raise UserError(
                f"A joint GP over {images} images with digit_rank {config.digit_rank} and "
                f"length_scale {config.length_scale:g} needs more memory than a run may take; "
                "choose fewer digits, a smaller digit_rank or a longer length_scale."
            )

    def harmonics(self) -> int:
        return self.kernel.harmonics()

    def _allocate(self, P: int, Q: int) -> None:
        super()._allocate(P, Q)
        L, m = self.config.latents, self.config.digit_rank
        self._zeros("phase", kind=torch.int64)
        # the expansion of the expected log prior
        self._zeros("slope_mu", P, Q, L)
        self._zeros("slope_var", P, Q)  # the same for all channels
        self._zeros("slope_vectors", P, m)
        self._zeros("slope_kernel", 3, kind=torch.float64)
        self._zeros("offset", P, kind=torch.float64)

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
        known = {id(parameter) for parameter in fast}
        slow = [p for p in self.parameters() if id(p) not in known]
        return [(slow, 1.0), (fast, self.gp_rate)]

    def features(self, d: Tensor, w: Tensor) -> Tensor:
        """Vectors [P, m] and angles [P, Q] -> V [P, Q, R]."""
        rank = self.config.digit_rank
        if features_needed(self.angles.numel(), rank, self.kernel) > MOST_FEATURES:
            r = float(self.kernel.length_scale.detach())
            raise UserError(
                f"The length scale of the {self.title} has become so short, {r:.2g}, that its "
                "features do not fit in memory."
            )
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
        self.refuse_part(views, context)
        rows, phase = self._training_rows(views), int(self.phase)
        with torch.set_grad_enabled(phase != GP_ONLY and torch.is_grad_enabled()):
            mu, var = self.encode(views.images, views.angles, views.observed)
            error, pixels = self.squared_error(gaussian.sample(mu, var, generator), views)
        if phase == PLAIN:
            return Terms(error, pixels, kl_to_prior(mu, var))
        d = self.digit_vectors(views.images, views.observed, rows)
        # entropy of q: ½ Σ log 2πe var
        each = torch.where(views.observed[..., None], 1 + LOG_2PI + var.log(), 0.0)
        entropy = 0.5 * each.sum((-2, -1))
        return Terms(error, pixels, -self._linear(mu, var, d, rows) - entropy)

    # Prediction

    def training_set(self) -> tuple[Tensor, Tensor, Tensor]:
        """V [P, Q, R], means and variances of the codes Z [P, Q, L]; 0 where not observed."""
        v = masked(self.features(self.known_vectors, self.angles), self.observed)
        return v, masked(self.mu, self.observed), masked(self.var, self.observed)


def cholesky(x: Tensor) -> Tensor:
    """The factor of I + X."""
    identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    factor, info = torch.linalg.cholesky_ex(x + identity)
    if bool(info.any()):
        raise UserError("The covariance of the joint GP is no longer made of finite numbers.")
    return factor
