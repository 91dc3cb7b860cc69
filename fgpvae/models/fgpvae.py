"""The factorized GP-VAE: a GP of its own for each digit, local and global channels."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fgpvae import gaussian
from fgpvae.data import Views
from fgpvae.kernels import ON_A_LINE, PERIODIC, Periodic, Stationary, fourier_basis
from fgpvae.models.base import Model, ModelConfig, Terms
from fgpvae.networks import Decoder, Encoder
from fgpvae.posterior import LocalPosterior, global_posterior, local_posterior

MOST_NODES = 129  # of a mean function on a line
JITTER = 1e-8  # on the nodes' gram matrix, which for smooth kernels is nearly singular


class MeanFunction(nn.Module):
    """m_j(w) = φ(w)·a_j, on features φ of the local kernel with amplitude 1, a ~ N(0, I).

    So the mean is as smooth as the kernel's functions.
    """

    def __init__(self, features: int, channels: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.randn(features, channels))

    def features(self, w: Tensor) -> Tensor:
        raise TypeError(f"{type(self).__name__} does not say what its features are")

    def forward(self, w: Tensor) -> Tensor:
        """Angles [...] -> [..., J]."""
        return self.features(w) @ self.weights.double()


class MeanOnACircle(MeanFunction):
    """On the Fourier features, which fall off as the kernel's do."""

    coefficients: Tensor

    def __init__(self, kernel: Periodic, channels: int) -> None:
        unit = Periodic(1.0, float(kernel.length_scale.detach()), kernel.period)
        coefficients = unit.coefficients(unit.harmonics()).detach()
        super().__init__(2 * len(coefficients) - 1, channels)
        self.register_buffer("coefficients", coefficients, persistent=False)
        self.period = kernel.period

    def features(self, w: Tensor) -> Tensor:
        return fourier_basis(w, self.coefficients, self.period)


class MeanOnALine(MeanFunction):
    """On nodes C from -1 to 1, half a length scale apart: φ(w) = L⁻¹ k(C, w), LLᵀ = k(C, C).

    φ(a)·φ(b) is then k(a, b) at the nodes and close to it between them.
    """

    nodes: Tensor
    inverse: Tensor

    def __init__(self, kernel: Stationary, channels: int) -> None:
        length_scale = float(kernel.length_scale.detach())
        count = min(math.ceil(4 / length_scale), MOST_NODES - 1) + 1
        super().__init__(count, channels)
        unit = type(kernel)(1.0, length_scale)
        nodes = torch.linspace(-1, 1, count, dtype=torch.float64)
        gram = unit.gram(nodes, nodes) + JITTER * torch.eye(count, dtype=torch.float64)
        self.gram = unit.gram  # the method alone: the unit kernel is no part of the model's weights
        self.register_buffer("nodes", nodes, persistent=False)
        self.register_buffer("inverse", torch.linalg.cholesky(gram).inverse(), persistent=False)

    def features(self, w: Tensor) -> Tensor:
        return self.gram(w, self.nodes) @ self.inverse.mT


@dataclass(frozen=True)
class Posterior:
    """q(Z | Y) of P digits: a GP for each local channel, a Gaussian for each global one."""

    local: LocalPosterior
    views: Tensor  # [P, Q] angles of the views
    mean_function: MeanFunction | None
    global_mean: Tensor  # [P, L - J]
    global_var: Tensor  # [P, L - J]
    global_log_evidence: Tensor  # [P, L - J]

    def at(self, w: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and variance [P, S, J] of the local channels at angles [P, S]."""
        mean, var = self.local.at(w)
        return (mean if self.mean_function is None else mean + self.mean_function(w)), var

    def at_views(self) -> tuple[Tensor, Tensor, Tensor]:
        """Mean and variance [P, Q, J] at the views, and the local channels' KL [P, J]."""
        mean, var, kl = self.local.at_views()
        shift = 0.0 if self.mean_function is None else self.mean_function(self.views)
        return mean + shift, var, kl

    def mean(self, w: Tensor) -> Tensor:
        """The posterior mean of all channels at angles [P, S] -> [P, S, L]."""
        return self.join(self.at(w)[0], self.global_mean)

    def sample(self, w: Tensor, generator: torch.Generator | None = None) -> Tensor:
        """One joint sample at angles [P, S] -> [P, S, L]: smooth in the angle, one style."""
        local = self.local.sample(w, generator)
        if self.mean_function is not None:
            local = local + self.mean_function(w)
        return self.join(local, gaussian.sample(self.global_mean, self.global_var, generator))

    def join(self, local: Tensor, style: Tensor) -> Tensor:
        return torch.cat([local, style[:, None].expand(-1, local.shape[1], -1)], -1)

    def log_evidence(self) -> Tensor:
        """log Z [P] of the encodings."""
        return self.local.log_evidence.sum(-1) + self.global_log_evidence.sum(-1)


class FGPVAE(Model):
    """The factorized GP-VAE: any digit, from any number of views at any angles, in closed form.

    >>> import torch
    >>> import fgpvae
    >>> model = fgpvae.load_pretrained("best")
    >>> digits = torch.from_numpy(fgpvae.data.unseen((7,)).images[:2])  # [P, 28, 28]
    >>> views, angles = digits[:, None], torch.zeros(2, 1)  # one view each, upright
    >>> at = torch.tensor([[0.0, 1.5], [0.5, 3.0]])  # where to imagine either
    >>> model.generate(views, angles, at).shape
    torch.Size([2, 2, 28, 28])

    What it knows of a digit is a distribution: the local channels of a view that it was given are
    certain, those on the other side of the circle are not.

    >>> posterior = model.infer(views, angles, torch.ones(2, 1, dtype=torch.bool))
    >>> _, variance = posterior.at(torch.tensor([[0.0, 3.14]], dtype=torch.float64).expand(2, 2))
    >>> bool((variance[:, 0] < variance[:, 1]).all())
    True

    Where a mean function ties angles to orientations, the angle of a picture can be asked for.

    >>> grid = torch.arange(360, dtype=torch.float64).deg2rad()
    >>> model.orientation(digits, grid).shape
    torch.Size([2, 360])
    """

    title = "FGP-VAE"
    one_style = True

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.encoder = Encoder(config.network, config.latents, local=config.local)
        self.decoder = Decoder(config.network, config.latents, config.local)
        shape, learned = (config.amplitude, config.length_scale), config.learn_kernel
        self.kernel: Stationary
        self.mean_function: MeanFunction | None = None
        if config.kernel == PERIODIC:
            self.kernel = circle = Periodic(*shape, config.period, learned)
            if config.mean_function:
                self.mean_function = MeanOnACircle(circle, config.local)
        else:
            self.kernel = ON_A_LINE[config.kernel](*shape, learned)
            if config.mean_function:
                self.mean_function = MeanOnALine(self.kernel, config.local)

    def posterior(self, mu: Tensor, var: Tensor, w: Tensor, observed: Tensor) -> Posterior:
        """q(Z | Y) from encodings [P, Q, L] at angles [P, Q]."""
        j = self.config.local
        local_mu = mu[..., :j].double()
        if self.mean_function is not None:
            local_mu = local_mu - self.mean_function(w)
        return Posterior(
            local_posterior(self.kernel, w, local_mu, var[..., :j], observed),
            w,
            self.mean_function,
            *global_posterior(mu[..., j:], var[..., j:], observed),
        )

    def terms(self, views: Views, context: Tensor | None = None) -> Terms:
        context = views.observed if context is None else context & views.observed
        mu, var = self.encode(views.images, views.angles, context)
        posterior = self.posterior(mu, var, views.angles, context)
        local_mean, local_var, local_kl = posterior.at_views()  # [P, Q, J], [P, J]
        style, style_var = posterior.global_mean, posterior.global_var  # [P, L - J]

        # KL(q || p) = Σ_context E_q log q̃(z_q | y_q) - log Z, which for one Gaussian is plainly
        style_kl = gaussian.kl(style, style_var, torch.zeros_like(style), torch.ones_like(style))
        kl = local_kl.sum(-1) + style_kl.sum(-1)

        # one sample of the style a digit; marginal samples of the local channels suffice, for the
        # expected error of a view depends on that view's channels alone
        local = gaussian.sample(local_mean, local_var)
        z = posterior.join(local, gaussian.sample(style, style_var)).float()
        squared_error, pixels = self.squared_error(z, views)
        return Terms(squared_error, pixels, kl)

    @torch.no_grad()
    def infer(self, views: Tensor, angles: Tensor, observed: Tensor) -> Posterior:
        mu, var = self.encode(views, angles, observed)
        return self.posterior(mu, var, angles.double(), observed)

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
        posterior = self.infer(views, angles, observed)
        z = posterior.sample(at.double(), generator) if sample else posterior.mean(at.double())
        return self.decode(z, one_style=True)

    @torch.no_grad()
    def orientation(self, images: Tensor, grid: Tensor) -> Tensor:
        """Posterior over the angle of images [P, H, W] on a grid [G] of angles -> [P, G].

        By the evidence of a single view, Π_j N(μ_j | m_j(w), σ² + s_j²), and a uniform prior. Only
        a mean function ties an angle to an orientation; without one every angle is as likely.
        """
        alone = torch.ones(len(images), 1, dtype=torch.bool)
        nowhere = torch.zeros(alone.shape, dtype=torch.float64)  # local channels know no angle
        mu, var = self.encode(images[:, None], nowhere, alone)  # [P, 1, L]
        j = self.config.local
        mean = torch.zeros(len(grid), j) if self.mean_function is None else self.mean_function(grid)
        spread = var[..., :j].double() + self.kernel.amplitude**2
        evidence = gaussian.log_density(mu[..., :j].double(), mean, spread).sum(-1)  # [P, G]
        return evidence.softmax(-1)

    def log_prior(self) -> Tensor:
        if self.mean_function is None:
            return torch.zeros(())
        return -0.5 * self.mean_function.weights.square().sum()
