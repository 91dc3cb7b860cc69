"""What every model is: a module that scores a batch of views and generates images at new angles."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import torch
from torch import Tensor, nn

from fgpvae.data import Views
from fgpvae.errors import UserError
from fgpvae.kernels import KERNELS, PERIODIC, TWO_PI
from fgpvae.networks import NetworkConfig

LARGEST_TRAINING_SET = 20_000_000  # codes; a file that announces more is not allocated


@dataclass(frozen=True)
class ModelConfig:
    """Everything needed to build a model. A model ignores the fields that it has no use for.

    >>> from fgpvae import FGPVAE, ModelConfig
    >>> model = FGPVAE(ModelConfig(latents=12, local=4))
    >>> sum(weights.numel() for weights in model.parameters())
    4947
    >>> ModelConfig(latents=4, local=8)
    Traceback (most recent call last):
    fgpvae.errors.UserError: local (J) must be from 0 to latents, not 8.
    """

    name: str = "fgpvae"
    latents: int = 16  # L
    local: int = 8  # J, the channels that depend on the angle
    amplitude: float = 1.0  # σ of the local kernel
    length_scale: float = 1.0  # r
    period: float = TWO_PI
    learn_kernel: bool = False
    mean_function: bool = False  # a smooth prior mean of the local channels, shared by all digits
    digit_rank: int = 8  # m, the length of a digit vector in the joint GP
    phases: tuple[float, float] = (0.4, 0.5)  # where the GP and the joint phase of a joint GP start
    training_set: tuple[int, int] = (0, 0)  # P, Q that a joint GP remembers; it says so itself
    network: NetworkConfig = field(default_factory=NetworkConfig)
    kernel: str = PERIODIC  # over an angle; the others are over a place on a line, from -1 to 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "phases", tuple(self.phases))
        object.__setattr__(self, "training_set", tuple(self.training_set))
        if self.kernel not in KERNELS:
            raise UserError(
                f"There is no kernel '{self.kernel:.60}'; choose one of {', '.join(KERNELS)}."
            )
        if self.kernel != PERIODIC and self.name != "fgpvae":
            raise UserError("Only the factorized GP-VAE (fgpvae) has kernels on a line.")
        if not 1 <= self.latents <= 256:
            raise UserError(f"latents (L) must be from 1 to 256, not {self.latents}.")
        if not 0 <= self.local <= self.latents:
            raise UserError(f"local (J) must be from 0 to latents, not {self.local}.")
        # a shorter length scale has Fourier features by the ten thousand
        for name, most in (("amplitude", 1000), ("length_scale", 100), ("period", 1000)):
            value = getattr(self, name)
            if not 1 / most <= value <= most:
                raise UserError(f"{name} must be from {1 / most:g} to {most}, not {value:g}.")
        if not 1 <= self.digit_rank <= 64:
            raise UserError(f"digit_rank (m) must be from 1 to 64, not {self.digit_rank}.")
        if not 0 <= self.phases[0] <= self.phases[1] <= 1:
            raise UserError("phases must be two shares of the training, in order, from 0 to 1.")
        digits, views = self.training_set
        if (
            min(digits, views) < 0
            or digits * (views * self.latents + self.digit_rank) > LARGEST_TRAINING_SET
        ):
            raise UserError("training_set has more digits and views than a joint GP can remember.")


@dataclass(frozen=True)
class Terms:
    """The parts of the evidence lower bound of each digit of a batch."""

    squared_error: Tensor  # [P] summed over the observed views and their pixels
    pixels: Tensor  # [P] how many pixel values that sum has
    kl: Tensor  # [P] nats


class Model(nn.Module):
    """Base of all models: a config, `terms` to train on and `generate` to use.

    Every model is used in the same way; one that knows only the digits it was trained on
    (`takes_new_digits` is false) needs their ids as well.

    >>> import fgpvae
    >>> task = fgpvae.data.one_view()  # unseen threes, upright, and fifteen angles to imagine
    >>> errors = {}
    >>> for name in ("wide", "cvae", "vae"):
    ...     model = fgpvae.load_pretrained(name)
    ...     images = model.generate(task.context.images, task.context.angles, task.at)
    ...     errors[model.title] = float((images - task.targets).square().mean())
    >>> sorted(errors, key=errors.get)
    ['FGP-VAE', 'CVAE', 'VAE']
    """

    title: ClassVar[str]  # how tables and pages call it
    takes_new_digits: ClassVar[bool] = True
    one_style: ClassVar[bool] = False  # are global channels the same at all angles of a digit?
    fixed_angles: ClassVar[bool] = False  # must a digit have the same angles in every epoch?

    encoder: nn.Module  # [N, C, H, W] -> mean and variance [N, L]
    decoder: nn.Module  # [N, L] -> [N, C, H, W]

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config

    def terms(self, views: Views, context: Tensor | None = None) -> Terms:
        """Score a batch, reconstructing all observed views from those in `context` [P, Q]."""
        raise TypeError(f"{type(self).__name__} does not say how it is scored")

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
        """Images of each digit at new angles.

        `views` [P, Q, H, W] at `angles` [P, Q] radians, of which only `observed` [P, Q] count;
        `at` [P, S] -> [P, S, H, W]. Decodes the posterior mean, or one posterior sample.
        `ids` [P] says which training digits these are, for a model that knows no others.
        """
        raise TypeError(f"{type(self).__name__} does not say how it generates")

    def log_prior(self) -> Tensor:
        """Log prior of parameters that have one, in nats; the loss gets its share of it."""
        return torch.zeros(())

    def prepare(self, data: Callable[[], Views]) -> None:
        """Called once before training: sizes and first values that depend on the training views."""

    def start_epoch(self, data: Callable[[], Views], progress: float) -> None:
        """Called before each epoch; `data()` is all training views, `progress` the share done."""

    def condition(self, data: Callable[[], Views]) -> None:
        """Called before use: what the model has to remember of the training views."""

    def parameter_groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """All parameters in groups, each with the factor of its learning rate."""
        return [(list(self.parameters()), 1.0)]

    def place(self, device: torch.device) -> torch.device:
        """Move to a device; where there is no float64 the networks alone, and the GP stays.

        Returns the device that views are expected on.
        """
        home = torch.device("cpu") if device.type == "mps" else device
        self.to(home)
        self.encoder.to(device)
        self.decoder.to(device)
        return home

    def images_in(self, images: Tensor) -> Tensor:
        """[..., H, W] (or [..., C, H, W] in colour) -> [N, C, H, W] float32."""
        return images.reshape(-1, *self.config.network.shape).float()

    def images_out(self, images: Tensor, *batch: int) -> Tensor:
        """[N, C, H, W] -> [*batch, H, W] (or [*batch, C, H, W] in colour)."""
        shape = self.config.network.shape
        return images.reshape(*batch, *(shape[1:] if shape[0] == 1 else shape))

    def phase(self, w: Tensor) -> Tensor:
        """The view as an encoder is told it: an angle, or from -π/2 to π/2 on a line."""
        turn = self.config.period if self.config.kernel == PERIODIC else 4.0
        return TWO_PI / turn * w

    def encode(
        self, images: Tensor, angles: Tensor, observed: Tensor, planes: Tensor | None = None
    ) -> tuple[Tensor, Tensor]:
        """q(z | y, w) of the observed views: mean and variance [P, Q, L] (0 and 1 elsewhere).

        The encoder sees `planes` [P, Q, C], where a model has some, as constant images.
        """
        P, Q = observed.shape
        everything = bool(observed.all())
        seen = self.images_in(images if everything else images[observed])
        if planes is not None:
            constant = planes[observed].float()[..., None, None]
            seen = torch.cat([seen, constant.expand(-1, -1, *seen.shape[2:])], 1)
        seen_mu, seen_var = self.encoder(seen, self.phase(angles)[observed])
        if everything:
            return seen_mu.view(P, Q, -1), seen_var.view(P, Q, -1)
        where = observed.reshape(-1).nonzero().squeeze(-1)
        flat = (P * Q, seen_mu.shape[-1])
        mu = torch.zeros(flat).index_copy(0, where, seen_mu)
        var = torch.ones(flat).index_copy(0, where, seen_var)
        return mu.view(P, Q, -1), var.view(P, Q, -1)

    def decode(self, z: Tensor, one_style: bool = False) -> Tensor:
        """Codes [..., L] -> images [..., H, W].

        `one_style`: codes [P, S, L] of digits, each with the same global channels at all angles.
        """
        codes = z if one_style else z.reshape(-1, z.shape[-1])
        return self.images_out(self.decoder(codes.float()), *z.shape[:-1])

    def squared_error(self, z: Tensor, views: Views) -> tuple[Tensor, Tensor]:
        """Decode codes [P, Q, L] and compare: squared error and number of pixels, each [P]."""
        observed = views.observed
        pixels = observed.sum(-1) * views.images[0, 0].numel()
        if bool(observed.all()):
            return (self.decode(z, self.one_style) - views.images).square().flatten(1).sum(
                -1
            ), pixels
        each = (self.decode(z[observed]) - views.images[observed]).square().flatten(1).sum(-1)
        error = torch.zeros(observed.shape).masked_scatter(observed, each).sum(-1)
        return error, pixels

    def check(self, views: Tensor, angles: Tensor, at: Tensor, observed: Tensor | None) -> Tensor:
        """The mask of observed views [P, Q], after a look at the shapes and values."""
        shape = self.config.network.shape
        image = shape[1:] if shape[0] == 1 else shape
        if views.shape[2:] != image or views.shape[:2] != angles.shape or angles.ndim != 2:
            raise UserError(
                f"Views must be [P, Q, {', '.join(map(str, image))}] with angles [P, Q]; "
                f"got {list(views.shape)} and {list(angles.shape)}."
            )
        if not angles.shape[1]:
            raise UserError("Give at least one view.")
        if at.ndim != 2 or at.shape[0] != angles.shape[0]:
            raise UserError(f"Angles to generate at must be [P, S]; got {list(at.shape)}.")
        if observed is None:
            observed = torch.ones(angles.shape, dtype=torch.bool)
        if observed.shape != angles.shape or observed.dtype != torch.bool:
            raise UserError("The mask of observed views must be boolean and as large as angles.")
        seen = views[observed]
        if not (seen.isfinite().all() and angles[observed].isfinite().all()):
            raise UserError("A view or its angle is not a finite number.")
        if not at.isfinite().all():
            raise UserError("An angle to generate at is not a finite number.")
        return observed
