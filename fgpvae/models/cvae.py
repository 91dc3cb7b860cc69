"""The conditional VAE of Sohn et al. (2015), conditioned on the angle."""

import torch
from torch import Tensor

from fgpvae import gaussian
from fgpvae.data import Views
from fgpvae.kernels import TWO_PI
from fgpvae.models.base import Model, ModelConfig, Terms
from fgpvae.models.vae import kl_to_prior
from fgpvae.networks import Decoder, Encoder


class CVAE(Model):
    """z ~ N(0, I) for every image; encoder and decoder are told sin w and cos w.

    The encoder sees them as two constant images beside its own, the decoder in front of the code
    (the paper's has no activation before its first map, where they would say nothing new). The
    identity of a digit is the mean latent of its views. Nothing makes that latent independent of
    the angle, which is why this model gets worse at new angles while it gets better at old ones.
    """

    title = "CVAE"

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.encoder = Encoder(config.network, config.latents, extra=2)
        self.decoder = Decoder(config.network, 2 + config.latents, local=2)

    def terms(self, views: Views, context: Tensor | None = None) -> Terms:
        context = views.observed if context is None else context & views.observed
        circle = self.circle(views.angles)
        mu, var = self.encode(
            views.images, views.angles, context, circle
        )  # the prior's 0 and 1 elsewhere
        z = torch.cat([circle, gaussian.sample(mu, var)], -1)
        return Terms(*self.squared_error(z, views), kl_to_prior(mu, var))

    def circle(self, w: Tensor) -> Tensor:
        """sin w and cos w [..., 2] (of an angle that has period 2π)."""
        phase = TWO_PI / self.config.period * w
        return torch.stack([phase.sin(), phase.cos()], -1).float()

    @torch.no_grad()
    def identity(self, views: Tensor, angles: Tensor, observed: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance [P, L] of the mean latent of a digit's views; 0 and 1 without any."""
        mu, var = self.encode(views, angles, observed, self.circle(angles))
        mask = observed[..., None]
        count = observed.sum(-1, keepdim=True)
        mean = torch.where(mask, mu, 0.0).sum(1) / count.clamp_min(1)
        # the mean of n independent latents has variance Σ var_q / n²
        spread = torch.where(mask, var, 0.0).sum(1) / count.clamp_min(1) ** 2
        return mean, torch.where(count > 0, spread, 1.0)

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
        mean, var = self.identity(views, angles, observed)
        z = gaussian.sample(mean, var, generator) if sample else mean
        style = z[:, None].expand(-1, at.shape[1], -1)  # [P, S, L]
        return self.decode(torch.cat([self.circle(at), style], -1))
