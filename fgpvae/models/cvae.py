"""The conditional VAE of Sohn et al. (2015), conditioned on the angle."""

import torch
from torch import Tensor

from fgpvae.gp.kernels import TWO_PI
from fgpvae.models.base import ModelConfig
from fgpvae.models.inference import StylePosterior
from fgpvae.models.vae import VAE
from fgpvae.networks.standard import Decoder, Encoder


class CVAE(VAE):
    """Conditional VAE: z ~ N(0, I) for every image; encoder and decoder get sin w and cos w.

    The encoder sees them as two constant images beside its own, the decoder in front of the latent
    (the paper's decoder has no activation before its first map, so there they would add nothing),
    so that a code has 2 + L channels. The identity of a digit is the mean latent of its views.
    Nothing makes that latent independent of the angle; so with more training the model improves at
    training angles and gets worse at new ones.

    >>> import torch
    >>> from fgpvae import CVAE, ModelConfig
    >>> model = CVAE(ModelConfig(latents=4)).eval()
    >>> model.generate(torch.zeros(1, 2, 28, 28), torch.zeros(1, 2), torch.ones(1, 3)).shape
    torch.Size([1, 3, 28, 28])
    """

    name, title = "cvae", "CVAE"
    knows_angles = True
    decoder_takes_angle = True

    @classmethod
    def networks(cls, config: ModelConfig) -> tuple[Encoder, Decoder]:
        network, L = config.network, config.latents
        return Encoder(network, L, extra=2), Decoder(network, 2 + L, local=2)

    @property
    def blocks(self) -> dict[str, slice]:
        return {"global": slice(0, self.config.latents)}

    @property
    def styles(self) -> range:
        return range(2, 2 + self.config.latents)

    def harmonics(self) -> int:
        return 1

    def encode_each(self, images: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        planes = self.circle(w).to(images)[..., None, None].expand(-1, -1, *images.shape[2:])
        return super().encode_each(torch.cat([images, planes], 1), w)

    def circle(self, w: Tensor) -> Tensor:
        """sin w and cos w [..., 2], for an angle with period 2π."""
        phase = TWO_PI / self.config.period * w
        return torch.stack([phase.sin(), phase.cos()], -1)

    def code(self, z: Tensor, w: Tensor) -> Tensor:
        """Latents [..., L] at angles [...] -> [..., 2 + L]."""
        return torch.cat([self.circle(w).to(z), z], -1)

    def posterior(
        self, mu: Tensor, var: Tensor, angles: Tensor, observed: Tensor
    ) -> StylePosterior:
        """The mean latent of a digit's views (the prior without a view), and an angle."""
        mask = observed[..., None]
        count = observed.sum(-1, keepdim=True)
        mean = torch.where(mask, mu, 0.0).sum(1) / count.clamp_min(1)
        # the mean of n independent latents has variance Σ var_q / n²
        mean_var = torch.where(mask, var, 0.0).sum(1) / count.clamp_min(1) ** 2
        return StylePosterior(self.title, mean, torch.where(count > 0, mean_var, 1.0), self.code)
