"""The SVGP-VAE of Jazbec et al. (2021): one GP over all images, through M inducing points.

Prior: k(i, j) = (d_p(i) · d_p(j)) σ² k_r(w_i, w_j) in every channel, d_p a vector for each digit.
The inducing points are pairs of a digit vector and an angle, learned like everything else.

q(u) is the posterior given the codes N(μ_i, s_i²) that the encoder finds for the b images of a
batch, each counted N/b times. The published bound contains E_q log N(μ_i | z_i, s_i²) twice, with
opposite signs; what is left is (N/b) Σ_i E_q log p(y_i | z_i) - KL(q(u) || p(u)). Without an
encoder, q(u) is learned itself: the sparse variational GP of Hensman et al. (2013) with a decoder
on top. Cost of a batch: O(M³ + bM²).
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from fgpvae.data import Views
from fgpvae.errors import UserError
from fgpvae.gp import gaussian, randomness, sparse
from fgpvae.gp.sparse import InducingPosterior
from fgpvae.models.base import Terms
from fgpvae.models.digit_vectors import (
    CHUNK,
    DigitVectorConfig,
    DigitVectorModel,
    FreeVectors,
    RepresentedVectors,
)
from fgpvae.models.inference import Posterior
from fgpvae.networks.standard import Decoder
from fgpvae.settings import setting

VARIANCES = 1e-3, 10.0  # bounds of the encoder's variance, as in the published program
MOST_NUMBERS = 50_000_000  # numbers in the information of one chunk of digits, 0.4 GB


@dataclass(frozen=True, kw_only=True)
class SVGPVAEConfig(DigitVectorConfig):
    """Settings of the sparse GPs: rank of the digit vectors, number of inducing points.

    >>> from fgpvae import SVGPVAEConfig
    >>> SVGPVAEConfig(latents=4).inducing
    32
    """

    name: str = "svgpvae"
    inducing: int = setting(
        32, "Points that stand for all images.", "M", "Inducing points", bounds=(1, 512)
    )


class SparsePosterior(Posterior):
    """Posterior of digits with vectors d [P, m], with one q(u) for all or one for each."""

    def __init__(self, model: "InducingGP", d: Tensor, q: InducingPosterior) -> None:
        super().__init__(model.title, len(d), d.device)
        self.model, self.d, self.q = model, d, q

    def _mean(self, w: Tensor) -> Tensor:
        return self.q.at(*self.model.features(self.d, w))[0]

    def _variance(self, w: Tensor) -> Tensor:
        return self.q.at(*self.model.features(self.d, w))[1]

    def _sample(self, w: Tensor, generator: torch.Generator | None) -> Tensor:
        q, (phi, _) = self.q, self.model.features(self.d, w)
        noise = randomness.normal(q.mean.shape, q.mean.dtype, generator).to(w.device)
        v = q.mean + (q.root @ noise[..., None])[..., 0]  # [..., L, M]
        length = self.d.double().square().sum(-1)[:, None, None]
        gram = length * self.model.kernel.gram(w, w)  # [P, S, S]
        jitter = sparse.JITTER * gram.diagonal(dim1=-2, dim2=-1).mean(-1) + 1e-12
        lower = sparse.cholesky(gram - phi @ phi.mT, jitter[:, None, None])
        noise = randomness.normal((*w.shape, v.shape[-2]), w.dtype, generator).to(w.device)
        return phi @ v.mT + lower @ noise


class InducingGP(DigitVectorModel):
    """What the sparse GPs share; a subclass defines q(u) in training and given all views."""

    Config = SVGPVAEConfig
    complexity = "O(M³ + bM²)"
    from_batch: Callable[[Views, Tensor], InducingPosterior]  # q(u) given a batch and its φ

    def __init__(self, config: SVGPVAEConfig) -> None:
        super().__init__(config)
        M = config.inducing
        self.inducing_angles = nn.Parameter(torch.zeros(M, dtype=torch.float64))
        self.inducing_vectors = nn.Parameter(torch.zeros(M, config.digit_rank))

    @torch.no_grad()
    def prepare(self, data: Callable[[], Views]) -> None:
        """Initialise the inducing points with M training views, evenly spaced in order of angle."""
        super().prepare(data)
        views, M = data(), self.config.inducing
        digit, view = views.observed.nonzero(as_tuple=True)
        order = views.angles[digit, view].argsort(stable=True)
        chosen = order[((torch.arange(M) + 0.5) * len(order) / M).long()]
        self.inducing_angles.copy_(views.angles[digit[chosen], view[chosen]])
        mine = views[digit[chosen]]
        self.eval()  # without dropout
        rows = self.rows(mine.ids)[0]
        self.inducing_vectors.copy_(self.digit_vectors(mine.images, mine.observed, rows))
        self.train()

    def features(self, d: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors [P, m] and angles [P, S] -> features [P, S, M] and prior variance [P, S]."""
        d, inducing = d.double(), self.inducing_vectors.double()
        angles = self.inducing_angles
        C = sparse.factor((inducing @ inducing.mT) * self.kernel.gram(angles, angles))
        cross = (d @ inducing.mT)[:, None] * self.kernel.gram(w, angles)  # [P, S, M]
        return sparse.features(cross, C), d.square().sum(-1, keepdim=True) * self.kernel.diagonal(w)

    def terms(
        self, views: Views, context: Tensor | None = None, generator: torch.Generator | None = None
    ) -> Terms:
        rows = self._training_rows(views, context)
        d = self.digit_vectors(views.images, views.observed, rows)
        phi, prior = self.features(d, views.angles)
        q = self.from_batch(views, phi)
        z = gaussian.sample(*q.at(phi, prior), generator)
        share = views.observed.sum(-1) / self.observed.sum()  # scaled to all training images
        return Terms(*self.squared_error(z, views), q.kl() * share)


class EncodedGP(InducingGP):
    """q(u) from the encodings of images."""

    joint_batches = True

    def encode_each(self, images: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        mean, var = super().encode_each(images, w)
        return mean, var.clamp(*VARIANCES)

    def from_batch(self, views: Views, phi: Tensor) -> InducingPosterior:
        codes = self.encode(views.images, views.angles, views.observed)
        times = self.observed.sum() / views.observed.sum()  # N/b
        return InducingPosterior.given(*_information(phi, *codes, views.observed, times))

    def training_information(self) -> tuple[Tensor, Tensor]:
        """The information of the whole training set: [L, M, M] and [L, M]."""
        M, L = self.config.inducing, self.config.latents
        zeros = self.inducing_angles.new_zeros
        precision, shift = zeros(L, M, M), zeros(L, M)
        stored = (self.known_vectors, self.angles, self.mu, self.var, self.observed)
        for d, w, *codes in zip(*(values.split(CHUNK) for values in stored), strict=True):
            more = _information(self.features(d, w)[0], *codes)
            precision, shift = precision + more[0], shift + more[1]
        return precision, shift


class SVGPVAE(FreeVectors, EncodedGP):
    """GP-VAE through inducing points, with a free vector for each training digit.

    >>> from fgpvae import SVGPVAE
    >>> SVGPVAE.takes_new_digits
    False
    """

    name, title = "svgpvae", "SVGP-VAE"

    def _infer(self, views: Views) -> SparsePosterior:
        rows = self.known_rows(views)
        q = InducingPosterior.given(*self.training_information())
        return SparsePosterior(self, self.known_vectors[rows], q)


class AmortisedSVGPVAE(RepresentedVectors, EncodedGP):
    """SVGP-VAE whose digit vectors come from a network, so that it takes new digits.

    The digits that `ids` names leave the training set first, so that their views count once.

    >>> from fgpvae import AmortisedSVGPVAE
    >>> AmortisedSVGPVAE.takes_new_digits
    True
    """

    name, title = "svgpvae-amortised", "Amortised SVGP-VAE"

    def _infer(self, views: Views) -> SparsePosterior:
        d = self.represent(views.images, views.observed)
        mu, var = self.encode(views.images, views.angles, views.observed)
        codes = [self.features(d, views.angles)[0], mu.double(), _weight(var, views.observed)]
        rows, known = self.rows(views.ids)
        if bool(known.any()):
            phi, _ = self.features(self.known_vectors[rows], self.angles[rows])
            counted = self.observed[rows] & known[:, None]
            stored = (phi, self.mu[rows].double(), -_weight(self.var[rows], counted))
            codes = [torch.cat(pair, 1) for pair in zip(codes, stored, strict=True)]
        precision, shift = self.training_information()
        together = max(MOST_NUMBERS // precision.numel(), 1)
        chunks = zip(*(values.split(together) for values in codes), strict=True)
        own = (sparse.information(*chunk) for chunk in chunks)
        parts = [InducingPosterior.given(precision + more[0], shift + more[1]) for more in own]
        means, roots = (torch.cat(x) for x in zip(*((q.mean, q.root) for q in parts), strict=True))
        return SparsePosterior(self, d, InducingPosterior(means, roots))


class DeepSVGP(FreeVectors, InducingGP):
    """Sparse variational GP with a decoder and no encoder: q(u) is a parameter.

    >>> from fgpvae import DeepSVGP
    >>> DeepSVGP.takes_new_digits
    False
    """

    name, title = "deep-svgp", "Deep SVGP"

    def __init__(self, config: SVGPVAEConfig) -> None:
        super().__init__(config)
        L, M = config.latents, config.inducing
        self.q_mean = nn.Parameter(torch.zeros(L, M, dtype=torch.float64))
        # lower triangle of the root, with the logarithm of its diagonal
        start = math.log(0.1) * torch.eye(M, dtype=torch.float64)
        self.q_root = nn.Parameter(start.repeat(L, 1, 1))

    @classmethod
    def networks(cls, config: Any) -> tuple[Any, Decoder]:
        return nn.Module(), Decoder(config.network, config.latents, local=0)

    def encode_each(self, images: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        raise UserError(f"The {self.title} has no encoder: choose another model.")

    def from_batch(self, *_: Any) -> InducingPosterior:
        diagonal = self.q_root.diagonal(dim1=-2, dim2=-1).exp()
        return InducingPosterior(self.q_mean, self.q_root.tril(-1) + torch.diag_embed(diagonal))

    @torch.no_grad()
    def condition(self, data: Callable[[], Views]) -> None:
        self.known_vectors.copy_(self.vectors)

    def _infer(self, views: Views) -> SparsePosterior:
        return SparsePosterior(self, self.known_vectors[self.known_rows(views)], self.from_batch())


def _weight(var: Tensor, observed: Tensor) -> Tensor:
    """The precision of codes [P, Q, L], 0 where not observed."""
    return torch.where(observed[..., None], 1 / var.double(), 0.0)


def _information(
    phi: Tensor, mu: Tensor, var: Tensor, observed: Tensor, times: Tensor | float = 1.0
) -> tuple[Tensor, Tensor]:
    """The information of all codes together, each with a weight: [L, M, M] and [L, M]."""
    return sparse.information(phi[observed], mu[observed].double(), times / var[observed].double())
