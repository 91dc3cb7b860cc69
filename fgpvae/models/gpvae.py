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
from dataclasses import replace

import torch
from torch import Tensor, nn

from fgpvae import gaussian
from fgpvae.data import Views
from fgpvae.errors import UserError
from fgpvae.gaussian import LOG_2PI
from fgpvae.kernels import Periodic
from fgpvae.models.base import Model, ModelConfig, Terms
from fgpvae.models.vae import kl_to_prior
from fgpvae.networks import Decoder, Encoder, PaperEncoder, WideEncoder

PLAIN, GP_ONLY, JOINT = range(3)  # the phases of training
CHUNK = 64  # digits at a time where all of them are needed
MOST_FEATURES = 50_000_000  # numbers of V [N, R] and of VᵀV [R, R], 0.4 GB each


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
    factor = _cholesky(v.mT @ v / alpha + torch.eye(v.shape[1], dtype=v.dtype))  # of I + VᵀV/α
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

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.encoder = Encoder(config.network, config.latents)
        self.decoder = Decoder(config.network, config.latents, local=0)
        self.kernel = Periodic(config.amplitude, config.length_scale, config.period, learnable=True)
        self.log_alpha = nn.Parameter(torch.tensor(0.5, dtype=torch.float64).log())
        self._allocate(*config.training_set)

    def _allocate(self, P: int, Q: int) -> None:
        L, m = self.config.latents, self.config.digit_rank
        self.register_buffer("phase", torch.tensor(PLAIN))
        self.register_buffer("ids", torch.zeros(P, dtype=torch.int64))  # ascending
        # the expansion of the expected log prior
        self.register_buffer("slope_mu", torch.zeros(P, Q, L))
        self.register_buffer("slope_var", torch.zeros(P, Q))  # the same for all channels
        self.register_buffer("slope_vectors", torch.zeros(P, m))
        self.register_buffer("slope_kernel", torch.zeros(3, dtype=torch.float64))
        self.register_buffer("offset", torch.zeros(P, dtype=torch.float64))
        # the training set as the GP sees it
        self.register_buffer("angles", torch.zeros(P, Q, dtype=torch.float64))
        self.register_buffer("observed", torch.zeros(P, Q, dtype=torch.bool))
        self.register_buffer("mu", torch.zeros(P, Q, L))
        self.register_buffer("var", torch.ones(P, Q, L))
        self.register_buffer("known_vectors", torch.zeros(P, m))

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
        self.config = replace(self.config, training_set=(len(views), views.observed.shape[1]))
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

    def terms(self, views: Views, context: Tensor | None = None) -> Terms:
        if context is not None and bool((context & views.observed).ne(views.observed).any()):
            raise UserError(f"The {self.title} has no context dropout: set it to 0.")
        rows, phase = self._training_rows(views), int(self.phase)
        with torch.set_grad_enabled(phase != GP_ONLY and torch.is_grad_enabled()):
            mu, var = self.encode(views.images, views.angles, views.observed)
            error, pixels = self.squared_error(gaussian.sample(mu, var), views)
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
        for part in torch.arange(len(views)).split(CHUNK):
            images, observed = views.images[part], views.observed[part]
            d = self.digit_vectors(images, observed, rows[part])
            parts.append((*self.encode(images, views.angles[part], observed), d))
        self.train(training)
        mu, var, d = (torch.cat(x) for x in zip(*parts, strict=True))
        return mu, var, d

    # Prediction

    @torch.no_grad()
    def condition(self, data: Callable[[], Views]) -> None:
        views = data()
        rows = self._training_rows(views)
        self.mu[rows], self.var[rows], self.known_vectors[rows] = self._encode_all(views, rows)

    def codes(
        self,
        views: Tensor,
        angles: Tensor,
        at: Tensor,
        observed: Tensor,
        ids: Tensor | None,
        sample: bool = False,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """Posterior mean of z [P, S, L] at angles [P, S] given the training set, or one sample."""
        raise TypeError(f"{type(self).__name__} does not say which digits it conditions on")

    @torch.no_grad()
    def generate(
        self,
        views: Tensor,
        angles: Tensor,
        at: Tensor,
        observed: Tensor | None = None,
        ids: Tensor | None = None,
        sample: bool = False,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        views, angles, at = map(torch.as_tensor, (views, angles, at))
        observed = self.check(views, angles, at, observed)
        if ids is not None:
            ids = torch.as_tensor(ids)
            if ids.shape != at.shape[:1]:
                raise UserError(f"There must be one id for each of the {len(at)} digits.")
        return self.decode(self.codes(views, angles, at, observed, ids, sample, generator))

    def _training_set(
        self, sample: bool, generator: torch.Generator | None
    ) -> tuple[Tensor, Tensor]:
        """V [P, Q, R] and the codes Z [P, Q, L], their mean or a sample; 0 where not observed."""
        mask = self.observed[..., None]
        v = torch.where(mask, self.features(self.known_vectors, self.angles), 0.0)
        z = gaussian.sample(self.mu, self.var, generator) if sample else self.mu
        return v, torch.where(mask, z, 0.0).double()

    def _predict(
        self,
        gram: Tensor,
        right: Tensor,
        v: Tensor,
        sample: bool,
        generator: torch.Generator | None,
    ) -> Tensor:
        """z [.., S, L] at features v [.., S, R], given VᵀV [.., R, R] and VᵀZ [.., R, L]."""
        alpha = self.alpha
        factor = _cholesky(gram / alpha + torch.eye(gram.shape[-1], dtype=gram.dtype))
        # k_*ᵀ K⁻¹ Z = v_*·û, û = (αI + VᵀV)⁻¹ VᵀZ
        weights = torch.cholesky_solve(right / alpha, factor)
        if not sample:
            return v @ weights
        noise = torch.randn(weights.shape, dtype=weights.dtype, generator=generator)
        weights = weights + torch.linalg.solve_triangular(factor.mT, noise, upper=True)
        z = v @ weights
        return z + alpha.sqrt() * torch.randn(z.shape, dtype=z.dtype, generator=generator)


class GPVAE(JointGP):
    """A free vector for each training digit, so no others can be asked for."""

    title = "GP-VAE"
    takes_new_digits = False

    def _allocate(self, P: int, Q: int) -> None:
        super()._allocate(P, Q)
        self.vectors = nn.Parameter(torch.zeros(P, self.config.digit_rank))

    def gp_parameters(self) -> list[nn.Parameter]:
        return [*self.kernel_parameters(), self.vectors]

    def prepare(self, data: Callable[[], Views]) -> None:
        super().prepare(data)
        views = data()
        rows = self._training_rows(views)
        with torch.no_grad():
            self.vectors[rows] = principal_components(upright(views), self.config.digit_rank)

    def digit_vectors(self, images: Tensor, observed: Tensor, rows: Tensor) -> Tensor:
        return self.vectors[rows]

    @torch.no_grad()
    def codes(
        self,
        views: Tensor,
        angles: Tensor,
        at: Tensor,
        observed: Tensor,
        ids: Tensor | None,
        sample: bool = False,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        """The training digits `ids` at new angles; their views are in the training set already."""
        if ids is None:
            raise UserError("The GP-VAE knows its training digits only and needs their ids.")
        rows, known = self.rows(ids)
        if not bool(known.all()):
            raise UserError(
                "The GP-VAE cannot take new digits: it has a vector for each digit that it was "
                "trained on and no way to find one for another."
            )
        v, z = (x.flatten(0, 1) for x in self._training_set(sample, generator))
        asked = self.features(self.known_vectors[rows], at)  # [P, S, R]
        return self._predict(v.mT @ v, v.mT @ z, asked, sample, generator)


class AmortisedGPVAE(JointGP):
    """Appendix C of the paper: d_p is the mean of a representation network over a digit's views.

    A new digit joins the training set with the rows of its own views. The digits that `ids` names
    leave it first, so that the views of a training digit count once.
    """

    title = "Amortised GP-VAE"

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        network, m = config.network, config.digit_rank
        channels = network.shape[0]
        self.representation = (
            PaperEncoder(m, channels)
            if network.kind == "paper"
            else WideEncoder(network, m, channels)
        )
        self.representation.to(memory_format=torch.channels_last)  # type: ignore[call-overload]

    def digit_vectors(self, images: Tensor, observed: Tensor, rows: Tensor) -> Tensor:
        return self.represent(images, observed)

    def represent(self, images: Tensor, observed: Tensor) -> Tensor:
        """Views [P, Q, H, W] -> d [P, m], 0 for a digit without views."""
        seen = self.images_in(images[observed]).contiguous(memory_format=torch.channels_last)
        digit = observed.nonzero()[:, 0]
        total = torch.zeros(len(images), self.config.digit_rank)
        total = total.index_add(0, digit, self.representation(seen).float())
        return total / observed.sum(-1, keepdim=True).clamp_min(1)

    @torch.no_grad()
    def codes(
        self,
        views: Tensor,
        angles: Tensor,
        at: Tensor,
        observed: Tensor,
        ids: Tensor | None,
        sample: bool = False,
        generator: torch.Generator | None = None,
    ) -> Tensor:
        trained_v, trained_z = self._training_set(sample, generator)
        every_v, every_z = trained_v.flatten(0, 1), trained_z.flatten(0, 1)
        gram, right = every_v.mT @ every_v, every_v.mT @ every_z
        together = max(min(CHUNK, MOST_FEATURES // gram.numel()), 1)  # each has a VᵀV of its own
        parts = []
        for part in torch.arange(len(at)).split(together):
            seen = observed[part]
            d = self.represent(views[part], seen)
            mu, var = self.encode(views[part], angles[part], seen)
            z = gaussian.sample(mu, var, generator) if sample else mu
            z = torch.where(seen[..., None], z, 0.0).double()
            v = torch.where(seen[..., None], self.features(d, angles[part]), 0.0)
            # VᵀV and VᵀZ with the views of one more digit each
            grams, rights = gram + v.mT @ v, right + v.mT @ z  # [P, R, R], [P, R, L]
            if ids is not None:
                rows, known = self.rows(ids[part])
                old = torch.where(known[:, None, None], trained_v[rows], 0.0)
                grams, rights = grams - old.mT @ old, rights - old.mT @ trained_z[rows]
            asked = self.features(d, at[part])
            parts.append(self._predict(grams, rights, asked, sample, generator))
        return torch.cat(parts)


def upright(views: Views) -> Tensor:
    """The view nearest to upright of each digit [P, pixels]."""
    tilt = torch.where(views.observed, 1 - views.angles.cos(), torch.inf)
    return views.images[torch.arange(len(views)), tilt.argmin(-1)].flatten(1)


def principal_components(x: Tensor, m: int) -> Tensor:
    """Scores [P, m] of rows [P, pixels] about the origin, of mean squared length 1."""
    u, s, _ = torch.linalg.svd(x.double(), full_matrices=False)
    scores = torch.zeros(len(x), m, dtype=torch.float64)
    scores[:, : len(s)] = (u * s)[:, :m]
    return (scores / scores.square().sum(-1).mean().sqrt().clamp_min(1e-12)).float()


def _cholesky(matrix: Tensor) -> Tensor:
    factor, info = torch.linalg.cholesky_ex(matrix)
    if bool(info.any()):
        raise UserError("The covariance of the joint GP is no longer made of finite numbers.")
    return factor
