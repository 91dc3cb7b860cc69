"""The factorized GP-VAE: a GP of its own for each digit, local and global channels."""

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from fgpvae import arrays
from fgpvae.data import Views
from fgpvae.errors import require
from fgpvae.gp import gaussian, randomness
from fgpvae.gp import posterior as gp_posterior
from fgpvae.gp.kernels import KERNELS, ON_A_LINE, PERIODIC, Periodic, Stationary
from fgpvae.gp.mean_functions import MeanOnACircle, MeanOnALine
from fgpvae.gp.posterior import GlobalPosterior, local_posterior
from fgpvae.models.base import KernelConfig, Model, Terms
from fgpvae.models.inference import Posterior
from fgpvae.networks import angle_classifier
from fgpvae.networks.angle_classifier import Recogniser
from fgpvae.networks.standard import AngleEncoder, Decoder, Encoder
from fgpvae.settings import setting

MEAN_CODE = 0.8  # weight of the mean code's error; the rest is the conditional bound's


@dataclass(frozen=True, kw_only=True)
class FGPVAEConfig(KernelConfig):
    """Settings of the FGP-VAE: the number of local channels (J) and their kernel.

    >>> from fgpvae import FGPVAEConfig
    >>> FGPVAEConfig(latents=6, local=2).blocks
    {'local': slice(0, 2, None), 'global': slice(2, 6, None)}
    """

    name: str = "fgpvae"
    local: int = setting(
        8, "Channels that change with the angle.", "J", "Local channels", bounds=(0, 256)
    )
    kernel: str = PERIODIC  # over an angle; others are over a line from -1 to 1
    learn_kernel: bool = setting(
        False, "Learn its amplitude and length scale.", "σ, r", "Learn the kernel"
    )
    style_dropout: bool = setting(
        False, "Context dropout hides views from the global channels alone."
    )
    mean_function: bool = setting(
        False, "Learn a smooth prior mean, shared by all subjects: makes one view enough.", "m(w)"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        L, J, known = self.latents, self.local, ", ".join(KERNELS)
        found = self.kernel in KERNELS
        require(found, f"There is no kernel '{self.kernel:.60}'; choose one of {known}.")
        require(J <= L, f"There are {L} channels (L), so {J} of them cannot be local (J).")
        tied = not self.network.recogniser or (self.mean_function and not self.on_a_line)
        require(tied, "Only the angle on a circle, with a mean function, can be recognised.")

    @property
    def blocks(self) -> dict[str, slice]:
        parts = {"local": slice(0, self.local), "global": slice(self.local, self.latents)}
        return {name: part for name, part in parts.items() if part.start < part.stop}

    @property
    def on_a_line(self) -> bool:
        return self.kernel != PERIODIC

    def build_kernel(self) -> Stationary:
        if self.on_a_line:
            return ON_A_LINE[self.kernel](self.amplitude, self.length_scale, self.learn_kernel)
        return Periodic(self.amplitude, self.length_scale, self.period, self.learn_kernel)


class FactorizedPosterior(Posterior):
    """q(Z | Y) of P digits: a GP for each local channel, a Gaussian for each global one.

    `local` and `style` [P, Q] are masks of the views that local and global channels see.
    """

    def __init__(
        self, model: "FGPVAE", mu: Tensor, var: Tensor, w: Tensor, local: Tensor, style: Tensor
    ) -> None:
        super().__init__(model.title, len(mu), mu.device)
        self.views, self.kernel = w, model.kernel
        self.m = model.mean_function or (lambda w: 0.0)  # the prior mean m(w)
        channels = [model.config.local, mu.shape[-1] - model.config.local]
        local_mu, style_mu = mu.double().split(channels, -1)
        local_var, style_var = var.double().split(channels, -1)
        self.local = local_posterior(model.kernel, w, local_mu - self.m(w), local_var, local)
        self.shared = GlobalPosterior(style_mu, style_var, style)

    def draw(self, generator: torch.Generator | None = None) -> tuple[Tensor, Tensor]:
        """A code of each view [P, Q, L], and the KL divergence of all channels [P].

        One sample of the style for each digit. Marginal samples of the local channels suffice,
        because the error of a view depends on its own channels alone.
        """
        mean, var, kl = self.local.at_views()
        local = gaussian.sample(mean + self.m(self.views), var, generator)
        codes = self.join(local, gaussian.sample(*self.style(), generator))
        # KL(q || p) = Σ_context E_q log q̃(z_q | y_q) - log Z
        return codes, kl.sum(-1) + self.shared.kl.sum(-1)

    def divergence(self, context: "FactorizedPosterior") -> Tensor:
        """KL(q(Z | D) || q(Z | C)) [P] from the posterior given a part C of the views D.

        q(Z | D) / q(Z | C) is the product of q̃ over D without C, times Z_C / Z_D. So the
        divergence is KL(q(Z | D) || p) - E_q(Z | D) Σ_C log q̃ + log Z_C; without a context it is
        the first term alone.
        """
        mean, var, kl = self.local.at_views()  # [P, Q, J], [P, J]
        local = kl - context.local.expected_log_views(mean, var) + context.local.log_evidence
        return local.sum(-1) + gaussian.kl(*self.style(), *context.style()).sum(-1)

    def join(self, local: Tensor, style: Tensor) -> Tensor:
        """Local channels [P, S, J] and a style [P, L - J] as codes [P, S, L]."""
        return torch.cat([local, style[:, None].expand(-1, local.shape[1], -1)], -1)

    def style(self) -> tuple[Tensor, Tensor]:
        return self.shared.mean, self.shared.var  # [P, L - J]

    def log_evidence(self) -> Tensor:
        return self.local.log_evidence.sum(-1) + self.shared.log_evidence.sum(-1)

    def unknown(self, at: Any) -> Any:
        left = self.local.at(self._angles(at))[1] / self.kernel.amplitude**2  # [P, S, J]
        return arrays.like(left.mean(-1), at)

    def _mean(self, w: Tensor) -> Tensor:
        return self.join(self.local.at(w)[0] + self.m(w), self.shared.mean)

    def _variance(self, w: Tensor) -> Tensor:
        return self.join(self.local.at(w)[1], self.shared.var)

    def _sample(self, w: Tensor, generator: torch.Generator | None) -> Tensor:
        """Smooth in the angle, one style."""
        local = self.local.sample(w, generator) + self.m(w)
        return self.join(local, gaussian.sample(*self.style(), generator))


class FGPVAE(Model):
    """Factorized GP-VAE: infers a digit from any number of views at any angles, in closed form.

    >>> import torch
    >>> import fgpvae
    >>> model = fgpvae.load_pretrained("best")
    >>> digits = torch.from_numpy(fgpvae.data.unseen((7,)).images[:2])  # [P, 28, 28]
    >>> views, angles = digits[:, None], torch.zeros(2, 1)  # one view each, upright
    >>> at = torch.tensor([[0.0, 1.5], [0.5, 3.0]])  # where to imagine either
    >>> model.generate(views, angles, at).shape
    torch.Size([2, 2, 28, 28])

    The posterior is a distribution: local channels are certain at the angle of an observed view and
    uncertain on the other side of the circle.

    >>> posterior = model.infer(views, angles)
    >>> unknown = posterior.unknown(torch.tensor([[0.0, 3.14], [0.0, 3.14]]))
    >>> bool((unknown[:, 0] < unknown[:, 1]).all())
    True

    With a mean function, which ties angles to orientations, it infers the angle of a picture.

    >>> grid = torch.arange(360, dtype=torch.float64).deg2rad()
    >>> model.orientation(digits, grid).shape
    torch.Size([2, 360])
    """

    Config = FGPVAEConfig
    name, title = "fgpvae", "FGP-VAE"
    complexity = "O(PQ³)"
    takes_objects = True
    conditional = True

    def __init__(self, config: FGPVAEConfig) -> None:
        super().__init__(config)
        self.kernel = config.build_kernel()
        mean: Any = MeanOnALine if config.on_a_line else MeanOnACircle
        self.mean_function: Any = mean(self.kernel, config.local) if config.mean_function else None
        self.recogniser: Any = Recogniser(config.network) if config.network.recogniser else None

    @classmethod
    def networks(cls, config: FGPVAEConfig) -> tuple[Encoder, Decoder]:
        network, L, J = config.network, config.latents, config.local
        return Encoder(network, L, local=J), Decoder(network, L, local=J)

    @classmethod
    def numbers_in_a_step(cls, config: FGPVAEConfig, digits: int, views: int) -> int:
        channels = config.local * gp_posterior.numbers_held(config.build_kernel(), views)
        # the GP's numbers have 8 bytes
        return super().numbers_in_a_step(config, digits, views) + digits * 2 * channels

    @property
    def tells_angle(self) -> bool:
        return self.mean_function is not None and self.config.local > 0

    def harmonics(self) -> int | None:
        if not isinstance(self.kernel, Periodic):
            return None
        own = 0 if self.mean_function is None else len(self.mean_function.coefficients) - 1
        return max(self.kernel.harmonics(), own)

    def posterior(
        self, mu: Tensor, var: Tensor, angles: Tensor, observed: Tensor
    ) -> FactorizedPosterior:
        return FactorizedPosterior(self, mu, var, angles.double(), observed, observed)

    def terms(
        self, views: Views, context: Tensor | None = None, generator: torch.Generator | None = None
    ) -> Terms:
        context = views.observed if context is None else context & views.observed
        # averaging over the unknown path between few views would teach the kernel that paths are
        # straight. The bound holds for any context of each channel
        local = views.observed if self.config.style_dropout else context
        mu, var = self.encode(views.images, views.angles, local)
        q = FactorizedPosterior(self, mu, var, views.angles.double(), local, context)
        z, kl = q.draw(generator)
        return Terms(*self.squared_error(z, views), kl)

    def conditional_terms(
        self, views: Views, context: Tensor, generator: torch.Generator | None = None
    ) -> Terms:
        """A share of a bound on log ∫ q(z | C) p(y_D | z) dz, the rest log p(y_D | mean code of C).

        The bound is E_q(z | D) log p(y_D | z) - KL(q(z | D) || q(z | C)), for all views D and a
        part C of them. The bound makes samples of q(z | C) cover the possible other views; the rest
        makes the mean code predict them.
        """
        context = context & views.observed
        mu, var = self.encode(views.images, views.angles, views.observed)
        whole = self.posterior(mu, var, views.angles, views.observed)
        part = self.posterior(mu, var, views.angles, context)
        error, pixels = self.squared_error(whole.draw(generator)[0], views)
        foreseen, _ = self.squared_error(part._mean(views.angles.double()), views)
        share = 1 - MEAN_CODE
        return Terms(share * error + MEAN_CODE * foreseen, pixels, share * whole.divergence(part))

    def recognising(self) -> list[nn.Parameter]:
        layers = self.encoder.layers
        if self.mean_function is None or not isinstance(layers, AngleEncoder):
            return []
        own = [] if self.recogniser is None else list(self.recogniser.parameters())
        return [*layers.local.parameters(), *own]

    def recognition(self, views: Views, generator: torch.Generator | None = None) -> Tensor:
        """-Σ log q̃(z | y) [P] over the observed views, for local channels z drawn from the prior.

        If the encoder takes the angle, the bound does not train it to predict the angle. So the
        encoder of the local channels learns from draws of the prior with mean m(w), as in the
        sleep phase of wake-sleep. The recogniser, if there is one, minimises -log q(w | y). Half of
        its views are centred, so that it does not rely on the position of a digit.
        """
        mu, var = self.encode(views.images, views.angles, views.observed)
        j = self.config.local
        prior = self.mean_function(views.angles).detach()
        drawn = gaussian.sample(prior, self.kernel.amplitude.detach() ** 2, generator)
        log_q = gaussian.log_density(drawn, mu[..., :j].double(), var[..., :j].double())
        each = log_q.sum(-1)  # [P, Q]
        if self.recogniser is not None:
            half = randomness.uniform(views.angles.shape, generator=generator) < 0.5
            half = half.to(mu.device)[..., *[None] * len(self.image_shape)]
            images = torch.where(half, angle_classifier.centred(views.images), views.images)
            each = each + self.angle_density(images, views.angles[..., None])[..., 0]
        return -torch.where(views.observed, each, 0.0).sum(-1)

    def angle_density(self, images: Tensor, w: Tensor) -> Tensor:
        """log q(w | y) [P, Q, G] of images [P, Q, ...] at angles [P, Q, G]."""
        phase = 2 * math.pi / self.config.period * w.flatten(0, 1)
        seen = images.reshape(-1, *self.config.network.shape).to(self.dtype)
        return self.recogniser.log_density(seen, phase).double().view(w.shape)

    @torch.no_grad()
    def orientation(self, images: Any, grid: Any) -> Any:
        """Posterior over the angle of images [P, H, W] on a grid [G] of angles -> [P, G].

        Uses the `angle_log_density` and a uniform prior; if the encoder takes the angle and the
        model is calibrated, all `angle_scores`. Only a mean function ties an angle to an
        orientation.
        """
        if not self.tells_angle:
            return super().orientation(images, grid)
        w = arrays.tensor(grid, "The grid", self.home).double()
        seen = arrays.tensor(images, "Images", self.home)
        fits = w.ndim == 1 and seen.shape[1:] == self.image_shape
        require(fits, "`orientation` takes images [P, H, W] and a grid [G] of angles.")
        views = self.given(seen[:, None], w.new_zeros(len(seen), 1))
        if self.calibration is None or not self.encoder.takes_angle:
            return arrays.like(self.angle_log_density(views, w).softmax(-1), grid)
        scores = torch.stack(self.angle_scores(views, w), -1)  # [P, G, 3]
        weights = torch.tensor(self.calibration.angle, dtype=w.dtype, device=w.device)
        return arrays.like((scores @ weights).softmax(-1), grid)  # [P, G]

    @torch.no_grad()
    def angle_scores(self, views: Views, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Three scores [P, G] of each angle [G] for one view each [P, 1, ...].

        Minus the squared error of the view, encoded and decoded as if it were at that angle; minus
        the KL divergence of its style; the `angle_log_density`.
        """
        errors, divergences = [], []
        for image in views.images:  # [1, H, W], at all angles at once
            at, seen = w[:, None], torch.ones(len(w), 1, dtype=torch.bool, device=w.device)
            mu, var = self.encode(image.expand(len(w), *image.shape), at, seen)
            posterior = self.posterior(mu, var, at, seen)
            divergences.append(posterior.shared.kl.sum(-1))
            made = self.decode(posterior._mean(at), one_style=True)
            errors.append((made - image).square().flatten(1).sum(-1).double())
        return -torch.stack(errors), -torch.stack(divergences), self.angle_log_density(views, w)

    @torch.no_grad()
    def angle_log_density(self, views: Views, w: Tensor) -> Tensor:
        """log q(w | y), or the evidence log Π_j N(μ_j | m_j(w), σ² + s_j²), of one view: [P, G]."""
        if self.recogniser is not None:
            return self.angle_density(views.images, w.expand(*views.angles.shape, -1))[:, 0]
        mu, var = self.encode(views.images, views.angles, views.observed)  # [P, 1, L]
        j = self.config.local
        either = var[..., :j].double() + self.kernel.amplitude**2
        return gaussian.log_density(mu[..., :j].double(), self.mean_function(w), either).sum(-1)

    def log_prior(self) -> Tensor:
        if self.mean_function is None:
            return super().log_prior()
        return -0.5 * self.mean_function.weights.square().sum()
