"""The GP-VAE of Casale et al. (2018): one Gaussian process over all images of all digits.

Every channel of the codes Z [N, L] has the prior N(0, K) with

    k(i, j) = (d_p(i) · d_p(j)) σ² k_r(w_i, w_j) + α δ_ij,

a learned vector d_p [m] for each digit. With the Fourier features φ of the angle kernel the image
of digit p at angle w has the row v = d_p ⊗ φ(w) [R], R = m H, and K = VVᵀ + αI exactly, whatever
angles a digit has been seen at. (A Cholesky factor of the gram matrix of the sixteen angles would
do as well, but needs all angles on one grid and grows with it; H = 29 features at r = 1 do not.)
All algebra goes through R x R matrices: O(N R²), never an N x N matrix.

q(Z) is the encoder's, independent for each image, so the evidence lower bound contains

    E_q log N(Z | 0, K) = Σ_l log N(μ_l | 0, K) - ½ tr(K⁻¹ diag(var_l)),

which no mini-batch can compute. At the start of an epoch it is computed over all images and
expanded to first order in the codes, the digit vectors and the kernel's parameters. The expansion
is a sum over digits, so its gradient needs the digits of a batch only.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from fgpvae import gaussian
from fgpvae.data import Views
from fgpvae.errors import UserError
from fgpvae.gaussian import LOG_2PI
from fgpvae.kernels import Periodic
from fgpvae.models.base import Model, ModelConfig, Terms
from fgpvae.models.vae import kl_to_prior

PLAIN, GP_ONLY, JOINT = range(3)  # the phases of training
CHUNK = 64  # digits at a time where all of them are needed
MOST_FEATURES = 50_000_000  # numbers of V [N, R] and of VᵀV [R, R], 0.4 GB each


@dataclass(frozen=True, kw_only=True)
class JointGPConfig(ModelConfig):
    amplitude: float = 1.0  # σ to start with
    length_scale: float = 1.0  # r to start with
    digit_rank: int = 8  # m, the length of a digit vector
    phases: tuple[float, float] = (0.4, 0.5)  # where the GP and the joint phase start

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "phases", tuple(self.phases))
        self.check_range("amplitude", 1000)
        self.check_range("length_scale", 100)
        if not 1 <= self.digit_rank <= 64:
            raise UserError(f"digit_rank (m) must be from 1 to 64, not {self.digit_rank}.")
        if not 0 <= self.phases[0] <= self.phases[1] <= 1:
            raise UserError("phases must be two shares of the training, in order, from 0 to 1.")


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


class JointGP(Model):
    """What the two joint GPs share: the evidence, its expansion, the phases, the prediction.

    Training starts as a plain VAE, goes on with the parameters of the GP while the networks stand
    still, and ends with both. `config.phases` are the shares of the training at which the second
    and the third phase start.
    """

    complexity = "O(NH²m²)"
    fixed_angles = True
    gp_rate = 10.0  # the GP's parameters learn this much faster than the networks

    phase: Tensor
    ids: Tensor
    slope_mu: Tensor
    slope_var: Tensor
    slope_vectors: Tensor
    slope_kernel: Tensor
    offset: Tensor
    angles: Tensor
    observed: Tensor
    mu: Tensor
    var: Tensor
    known_vectors: Tensor

    def __init__(self, config: JointGPConfig) -> None:
        super().__init__(config)
        self.kernel = Periodic(config.amplitude, config.length_scale, config.period, learnable=True)
        self.log_alpha = nn.Parameter(torch.tensor(0.5, dtype=torch.float64).log())
        self._allocate(0, 0)
        self.register_load_state_dict_pre_hook(JointGP._take_sizes)

    @classmethod
    def check_run(cls, config: JointGPConfig, images: int, context_dropout: float) -> None:
        if context_dropout:
            raise UserError(
                "A joint GP learns a digit from all of its views: set training.context_dropout to "
                "0."
            )
        kernel = Periodic(1.0, config.length_scale)
        if features_needed(images, config.digit_rank, kernel) > MOST_FEATURES:
            raise UserError(
                f"A joint GP over {images} images with digit_rank {config.digit_rank} and "
                f"length_scale {config.length_scale:g} needs more memory than a run may take; "
                "choose fewer digits, a smaller digit_rank or a longer length_scale."
            )

    def harmonics(self) -> int:
        return self.kernel.harmonics()

    def _take_sizes(self, state: dict[str, Any], prefix: str, *_: object) -> None:
        """Make room for the training set of a saved state; what does not fit is refused later."""
        angles, ids, mu, d = (
            state.get(prefix + name) for name in ("angles", "ids", "mu", "known_vectors")
        )
        if angles is None or ids is None or mu is None or d is None or angles.ndim != 2:
            return
        P, Q = angles.shape
        L, m = self.config.latents, self.config.digit_rank
        # nothing larger is made than what is there already
        fresh = self.angles.shape != (P, Q)
        if fresh and (ids.shape, mu.shape, d.shape) == ((P,), (P, Q, L), (P, m)):
            self._allocate(P, Q)

    def _allocate(self, P: int, Q: int) -> None:
        """Room for P training digits with up to Q views; `ids` ascend."""
        L, m, home, dtype = self.config.latents, self.config.digit_rank, self.home, self.dtype
        whole, real = torch.int64, torch.float64

        def zeros(name: str, *shape: int, kind: torch.dtype = dtype) -> None:
            self.register_buffer(name, torch.zeros(shape, dtype=kind, device=home))

        zeros("phase", kind=whole)
        zeros("ids", P, kind=whole)
        # the expansion of the expected log prior
        zeros("slope_mu", P, Q, L)
        zeros("slope_var", P, Q)  # the same for all channels
        zeros("slope_vectors", P, m)
        zeros("slope_kernel", 3, kind=real)
        zeros("offset", P, kind=real)
        # the training set as the GP sees it
        zeros("angles", P, Q, kind=real)
        zeros("observed", P, Q, kind=torch.bool)
        zeros("mu", P, Q, L)
        self.register_buffer("var", torch.ones(P, Q, L, dtype=dtype, device=home))
        zeros("known_vectors", P, m)

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

    def digit_vectors(self, images: Tensor, observed: Tensor, rows: Tensor) -> Tensor:
        """d [P, m] of training digits, given as views [P, Q, H, W] and as rows [P]."""
        raise TypeError(f"{type(self).__name__} does not say what its digit vectors are")

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

    def rows(self, ids: Tensor) -> tuple[Tensor, Tensor]:
        """Rows [P] of training digits by id, and which of the ids are theirs [P]."""
        if not len(self.ids):
            return torch.zeros_like(ids), torch.zeros_like(ids, dtype=torch.bool)
        rows = torch.searchsorted(self.ids, ids).clamp_max(len(self.ids) - 1)
        return rows, self.ids[rows] == ids

    # Training

    def prepare(self, data: Callable[[], Views]) -> None:
        views = data()
        self._allocate(*views.observed.shape)
        self.ids.copy_(views.ids.sort().values)
        rows, _ = self.rows(views.ids)
        self.angles[rows], self.observed[rows] = views.angles, views.observed

    def start_epoch(self, data: Callable[[], Views], progress: float) -> None:
        self.phase.fill_(sum(progress >= start for start in self.config.phases))
        if self.phase != PLAIN:
            self.expand(data())

    def expand(self, views: Views) -> None:
        """First-order expansion of the expected log prior around codes and GP as they are now."""
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
        self,
        views: Views,
        context: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Terms:
        if context is not None and bool((context & views.observed).ne(views.observed).any()):
            raise UserError(f"The {self.title} has no context dropout: set it to 0.")
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

    def _training_rows(self, views: Views) -> Tensor:
        rows, known = self.rows(views.ids)
        if not bool(known.all()):
            raise UserError(f"The {self.title} is trained on the digits that it was prepared for.")
        observed = self.observed[rows]
        same = observed.shape == views.observed.shape and torch.equal(observed, views.observed)
        if not (same and torch.equal(self.angles[rows][observed], views.angles[observed])):
            raise UserError(f"The {self.title} needs the same angles of a digit in every epoch.")
        return rows

    @torch.no_grad()
    def _encode_all(self, views: Views, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Codes, mean and variance [P, Q, L], and digit vectors [P, m], without dropout."""
        training = self.training
        self.eval()
        parts = []
        for start in range(0, len(views), CHUNK):
            part = views[start : start + CHUNK]
            d = self.digit_vectors(part.images, part.observed, rows[start : start + CHUNK])
            parts.append((*self.encode(part.images, part.angles, part.observed), d))
        self.train(training)
        mu, var, d = (torch.cat(x) for x in zip(*parts, strict=True))
        return mu, var, d

    # Prediction

    @torch.no_grad()
    def condition(self, data: Callable[[], Views]) -> None:
        views = data()
        rows = self._training_rows(views)
        self.mu[rows], self.var[rows], self.known_vectors[rows] = self._encode_all(views, rows)

    def training_set(self) -> tuple[Tensor, Tensor, Tensor]:
        """V [P, Q, R], means and variances of the codes Z [P, Q, L]; 0 where not observed."""
        v = masked(self.features(self.known_vectors, self.angles), self.observed)
        return v, masked(self.mu, self.observed), masked(self.var, self.observed)


def masked(values: Tensor, observed: Tensor) -> Tensor:
    """Values [P, Q, ...] in float64, 0 where not observed."""
    return torch.where(observed[..., None], values, 0.0).double()


def cholesky(x: Tensor) -> Tensor:
    """The factor of I + X."""
    identity = torch.eye(x.shape[-1], dtype=x.dtype, device=x.device)
    factor, info = torch.linalg.cholesky_ex(x + identity)
    if bool(info.any()):
        raise UserError("The covariance of the joint GP is no longer made of finite numbers.")
    return factor
