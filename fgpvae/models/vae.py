"""The plain VAE: the prior with K = I, under which all images are independent."""

import torch
from torch import Tensor

from fgpvae.data import Views
from fgpvae.gp import gaussian
from fgpvae.models.base import Model, Terms
from fgpvae.models.inference import Posterior

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


def kl_to_prior(mu: Tensor, var: Tensor) -> Tensor:
    """KL(N(mu, var) || N(0, 1)) summed over views and channels: [P, Q, L] -> [P]."""
    return gaussian.kl(mu, var, mu.new_zeros(()), mu.new_ones(())).sum((-2, -1))
