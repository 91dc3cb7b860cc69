"""The plain VAE, whose prior K = I makes all images independent; the CVAE of Sohn et al. (2015)."""

import torch
from torch import Tensor

from fgpvae.data import Views
from fgpvae.gp import gaussian
from fgpvae.gp.kernels import TWO_PI
from fgpvae.models.base import Model, ModelConfig, Terms
from fgpvae.models.inference import Posterior, StylePosterior
from fgpvae.networks.standard import Decoder, Encoder

SAME_ANGLE = 1e-6  # radians


class ViewPosterior(Posterior):
    """The encoding of an observed view at its angle, the prior N(0, I) at any other angle."""

    def __init__(
        self, model: "VAE", mu: Tensor, var: Tensor, angles: Tensor, observed: Tensor
    ) -> None:
        super().__init__(model.title, len(mu), mu.device)
        self.mu, self.var, self.angles, self.observed = mu, var, angles, observed
        self.period = model.config.period

    def _mean(self, w: Tensor) -> Tensor:
        return self._nearest(self.mu, w, 0.0)

    def _variance(self, w: Tensor) -> Tensor:
        return self._nearest(self.var, w, 1.0)

    def _sample(self, w: Tensor, generator: torch.Generator | None) -> Tensor:
        return gaussian.sample(self._mean(w), self._variance(w), generator)

    def _nearest(self, values: Tensor, w: Tensor, otherwise: float) -> Tensor:
        turn = self.period
        apart = (w[:, :, None] - self.angles[:, None] + turn / 2) % turn - turn / 2  # [P, S, Q]
        same = (apart.abs() < SAME_ANGLE) & self.observed[:, None]
        known, view = same.max(-1)  # the first such view
        rows = torch.arange(len(w), device=w.device)[:, None]
        return torch.where(known[..., None], values[rows, view], otherwise)  # [P, S, L]


class VAE(Model):
    """VAE: z ~ N(0, I) for every image, whatever its digit and angle.

    As a kernel over the angle this prior is δ(w, w'): at the angle of an observed view the
    posterior is that view's encoding, and at any other angle it is the prior. So `generate`
    reconstructs the given views and, at a new angle, decodes the prior mean (or a prior sample),
    whatever the digit.

    >>> import torch
    >>> from fgpvae import VAE, ModelConfig
    >>> model = VAE(ModelConfig(latents=4)).eval()
    >>> views, angles = torch.rand(2, 1, 28, 28), torch.zeros(2, 1)
    >>> first, second = model.generate(views, angles, angles + 1)
    >>> bool((first == second).all())
    True
    """

    name, title = "vae", "VAE"
    knows_angles = False

    def terms(
        self, views: Views, context: Tensor | None = None, generator: torch.Generator | None = None
    ) -> Terms:
        context = views.observed if context is None else context & views.observed
        # the prior's 0 and 1 outside the context
        mu, var = self.encode(views.images, views.angles, context)
        z = self.code(gaussian.sample(mu, var, generator), views.angles)
        return Terms(*self.squared_error(z, views), kl_to_prior(mu, var))

    def code(self, z: Tensor, w: Tensor) -> Tensor:
        """What the decoder takes for latents [..., L] at angles [...]: the latents."""
        return z

    def posterior(self, mu: Tensor, var: Tensor, angles: Tensor, observed: Tensor) -> Posterior:
        return ViewPosterior(self, mu, var, angles, observed)


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
        mask, count = observed[..., None], observed.sum(-1, keepdim=True)
        mean = torch.where(mask, mu, 0.0).sum(1) / count.clamp_min(1)
        # the mean of n independent latents has variance Σ var_q / n²
        mean_var = torch.where(mask, var, 0.0).sum(1) / count.clamp_min(1) ** 2
        return StylePosterior(self.title, mean, torch.where(count > 0, mean_var, 1.0), self.code)


def kl_to_prior(mu: Tensor, var: Tensor) -> Tensor:
    """KL(N(mu, var) || N(0, 1)) summed over views and channels: [P, Q, L] -> [P]."""
    return gaussian.kl(mu, var, mu.new_zeros(()), mu.new_ones(())).sum((-2, -1))
