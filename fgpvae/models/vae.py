"""The plain VAE: the prior with K = I, under which no two images have anything in common."""

import torch
from torch import Tensor

from fgpvae import gaussian
from fgpvae.data import Views
from fgpvae.models.base import Model, ModelConfig, Terms
from fgpvae.networks import Decoder, Encoder

SAME_ANGLE = 1e-6  # radians


class VAE(Model):
    """z ~ N(0, I) for every image.

    As a kernel over the angle this prior is δ(w, w'): at the angle of an observed view the
    posterior is that view's encoding, and at any other angle it is the prior. `generate` says
    just that: it reconstructs what it was given and, asked for a new angle, decodes the prior mean
    (or a prior sample), whatever the digit.
    """

    title = "VAE"

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.encoder = Encoder(config.network, config.latents)
        self.decoder = Decoder(config.network, config.latents, local=0)

    def terms(self, views: Views, context: Tensor | None = None) -> Terms:
        context = views.observed if context is None else context & views.observed
        mu, var = self.encode(
            views.images, views.angles, context
        )  # the prior's 0 and 1 outside the context
        return Terms(*self.squared_error(gaussian.sample(mu, var), views), kl_to_prior(mu, var))

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
        mu, var = self.encode(views, angles, observed)
        turn = self.config.period
        apart = (at[:, :, None] - angles[:, None] + turn / 2) % turn - turn / 2  # [P, S, Q]
        same = (apart.abs() < SAME_ANGLE) & observed[:, None]
        known, view = same.max(-1)  # the first such view
        rows = torch.arange(len(at))[:, None]
        mean = torch.where(known[..., None], mu[rows, view], 0.0)  # [P, S, L]
        spread = torch.where(known[..., None], var[rows, view], 1.0)
        return self.decode(gaussian.sample(mean, spread, generator) if sample else mean)


def kl_to_prior(mu: Tensor, var: Tensor) -> Tensor:
    """KL(N(mu, var) || N(0, 1)) summed over views and channels: [P, Q, L] -> [P]."""
    zero, one = mu.new_zeros(()), mu.new_ones(())
    return gaussian.kl(mu, var, zero, one).sum((-2, -1))
