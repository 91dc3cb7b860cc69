"""The two joint GPs: digit vectors are learned for each digit or computed by a network."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from fgpvae.data import Views
from fgpvae.gp import gaussian, randomness
from fgpvae.models.digit_vectors import CHUNK, FreeVectors, RepresentedVectors, masked
from fgpvae.models.inference import Posterior
from fgpvae.models.joint import MOST_FEATURES, JointGP, JointGPConfig, cholesky


@dataclass(frozen=True, kw_only=True)
class GPVAEConfig(JointGPConfig):
    """Settings of the GP-VAE.

    >>> from fgpvae import GPVAEConfig
    >>> GPVAEConfig(latents=4, digit_rank=6).digit_rank
    6
    """

    name: str = field(default="gpvae", init=False)


@dataclass(frozen=True, kw_only=True)
class AmortisedGPVAEConfig(JointGPConfig):
    """Settings of the amortised GP-VAE.

    >>> from fgpvae import AmortisedGPVAEConfig
    >>> AmortisedGPVAEConfig(latents=4).name
    'gpvae-amortised'
    """

    name: str = field(default="gpvae-amortised", init=False)


class JointPosterior(Posterior):
    """Posterior of digits with vectors d [P, m], given the training set and the views of new
    digits.

    z(w) = v·u + noise of variance α with v = d ⊗ φ(w) and u ~ N(0, I) a priori; given codes Z of
    images with features V, u has mean û = (αI + VᵀV)⁻¹VᵀZ and covariance Λ⁻¹, Λ = I + VᵀV/α. The
    codes themselves have the distribution q(Z). The views of a training digit count once: the
    stored ones are left out.
    """

    def __init__(self, model: JointGP, d: Tensor, views: Views | None = None) -> None:
        super().__init__(model.title, len(d), d.device)
        self.model, self.d, self.views, self.alpha = model, d, views, model.alpha
        self.v, self.mu, self.var = model.training_set()
        every = self.v.flatten(0, 1)  # [N, R]
        self.gram = every.mT @ every
        self.together = max(self.digits, 1)
        if views is not None:
            self.rows, self.known = model.rows(views.ids)
            encoded = model.encode(views.images, views.angles, views.observed)
            self.own_mu, self.own_var = (masked(x, views.observed) for x in encoded)
            # each digit has a VᵀV of its own
            self.together = max(min(CHUNK, MOST_FEATURES // self.gram.numel()), 1)

    def _mean(self, w: Tensor) -> Tensor:
        def means(mu: Tensor, var: Tensor) -> Tensor:
            return mu

        return torch.cat([v @ weights for v, weights, _ in self._solved(w, means)])

    def _sample(self, w: Tensor, generator: torch.Generator | None) -> Tensor:
        def draw(mu: Tensor, var: Tensor) -> Tensor:
            return gaussian.sample(mu, var, generator)

        parts = []
        for v, weights, factor in self._solved(w, draw):
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
                own, own_z = self._own(part), codes(self.own_mu[part], self.own_var[part])
                old, old_z = self._left(part, self.v), self._left(part, z)
                grams = grams + own.mT @ own - old.mT @ old  # [p, R, R]
                rights = rights + own.mT @ own_z - old.mT @ old_z
            factor = cholesky(grams / self.alpha)
            weights = torch.cholesky_solve(rights / self.alpha, factor)
            yield self.model.features(self.d[part], w[part]), weights, factor

    def _variance(self, w: Tensor) -> Tensor:
        """α + vᵀΛ⁻¹v + Σ_n h_n² var_n, h = VΛ⁻¹v/α the share of each code in the mean."""
        training = self.v.flatten(0, 1), self.var.flatten(0, 1)
        parts = []
        for start in range(self.digits):  # h has N entries
            part = slice(start, start + 1)
            images = [training]
            grams = self.gram
            if self.views is not None:
                own, old = self._own(part)[0], self._left(part, self.v)[0]
                grams = grams + own.mT @ own - old.mT @ old
                images += [(own, self.own_var[start]), (old, -self._left(part, self.var)[0])]
            v = self.model.features(self.d[part], w[part])[0]  # [S, R]
            known = torch.cholesky_solve(v.mT, cholesky(grams / self.alpha))  # Λ⁻¹v [R, S]
            var = self.alpha + (v.mT * known).sum(0)[:, None]  # [S, 1]
            for rows, row_var in images:
                var = var + (rows @ known / self.alpha).square().mT @ row_var
            parts.append(var)
        shape = (0, w.shape[1], self.mu.shape[-1])
        return torch.stack(parts) if parts else w.new_zeros(shape)

    def _own(self, part: slice) -> Tensor:
        """Features [p, Q, R] of the digits' own views."""
        assert self.views is not None
        v = self.model.features(self.d[part], self.views.angles[part])
        return masked(v, self.views.observed[part])

    def _left(self, part: slice, values: Tensor) -> Tensor:
        """Information of the stored views of these digits; 0 for digits that are not stored."""
        if not len(values):
            return values.new_zeros(len(self.known[part]), *values.shape[1:])
        return torch.where(self.known[part, None, None], values[self.rows[part]], 0.0)


class GPVAE(FreeVectors, JointGP):
    """GP-VAE of Casale et al.: one GP over all images, a free vector for each training digit.

    It cannot take digits that it was not trained on.

    >>> from fgpvae import GPVAE
    >>> GPVAE.takes_new_digits
    False
    """

    Config = GPVAEConfig
    title = "GP-VAE"

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

    Config = AmortisedGPVAEConfig
    title = "Amortised GP-VAE"

    def _infer(self, views: Views) -> JointPosterior:
        return JointPosterior(self, self.represent(views.images, views.observed), views)
