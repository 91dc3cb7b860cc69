"""What every model is: a module that scores a batch of views and infers a posterior from views."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from fgpvae import arrays
from fgpvae.data import Views
from fgpvae.errors import UserError
from fgpvae.kernels import TWO_PI
from fgpvae.models.inference import Calibration, Posterior
from fgpvae.networks import Decoder, Encoder, NetworkConfig, numbers_held


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """What the config of every model has; each model adds its own settings.

    >>> from fgpvae import FGPVAE, FGPVAEConfig
    >>> model = FGPVAE(FGPVAEConfig(latents=12, local=4))
    >>> sum(weights.numel() for weights in model.parameters())
    4947
    >>> FGPVAEConfig(latents=4, local=8)
    Traceback (most recent call last):
    fgpvae.errors.UserError: local (J) must be from 0 to latents, not 8.
    """

    name: str = field(default="", init=False)  # of the model in the registry
    latents: int = 16  # L
    period: float = TWO_PI  # of the angle
    network: NetworkConfig = field(default_factory=NetworkConfig)

    def __post_init__(self) -> None:
        if not 1 <= self.latents <= 256:
            raise UserError(f"latents (L) must be from 1 to 256, not {self.latents}.")
        self.check_range("period", 1000)

    def check_range(self, name: str, most: float) -> None:
        """A positive setting from 1 / most to most."""
        value = getattr(self, name)
        if not 1 / most <= value <= most:
            raise UserError(f"{name} must be from {1 / most:g} to {most:g}, not {value:g}.")

    @property
    def blocks(self) -> dict[str, slice]:
        """Channels of an encoding by what they hold: "local", "global", or "joint" for both."""
        return {"joint": slice(0, self.latents)}

    @property
    def divides_channels(self) -> bool:
        """Has the model local channels that turn, and global ones that stay?"""
        return {"local", "global"} <= self.blocks.keys()

    @property
    def on_a_line(self) -> bool:
        """Is a view at a place from -1 to 1 instead of at an angle?"""
        return False


@dataclass(frozen=True)
class Terms:
    """The parts of the evidence lower bound of each digit of a batch."""

    squared_error: Tensor  # [P] summed over the observed views and their pixels
    pixels: Tensor  # [P] how many pixel values that sum has
    kl: Tensor  # [P] nats


class Model(nn.Module):
    """Base of all models: a config, `terms` to train on, `infer` and `generate` to use.

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

    Config: ClassVar[type[ModelConfig]]
    title: ClassVar[str]  # how tables and pages call it
    complexity: ClassVar[str] = "-"  # of its Gaussian process, for tables

    # What it can be asked for. Whatever it cannot is refused in one sentence.
    takes_new_digits: ClassVar[bool] = True
    takes_objects: ClassVar[bool] = False  # can it learn one's own objects?
    knows_angles: ClassVar[bool] = True  # does it imagine angles that it was not shown?
    told_angle: ClassVar[bool] = False  # is its decoder told the angle?
    fixed_angles: ClassVar[bool] = False  # must a digit have the same angles in every epoch?
    joint_batches: ClassVar[bool] = False  # does the score of a digit depend on its whole batch?
    conditional: ClassVar[bool] = False  # has it a bound on the views of a digit given some?

    config: Any  # of the class Config
    calibration: Calibration | None = None  # how far to believe it, where that was measured
    kernel: Any  # over the angle, where it has one
    encoder: nn.Module  # [N, C, H, W] -> mean and variance [N, L]
    decoder: nn.Module  # [N, L] -> [N, C, H, W]

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder, self.decoder = self.networks(config)

    @classmethod
    def networks(cls, config: Any) -> tuple[Encoder, Decoder]:
        """The encoder and the decoder of a config, with fresh weights."""
        return Encoder(config.network, config.latents), Decoder(
            config.network, config.latents, local=0
        )

    # What it can be asked for

    @property
    def blocks(self) -> dict[str, slice]:
        """Channels of an encoding by what they hold: "local", "global", or "joint" for both."""
        blocks: dict[str, slice] = self.config.blocks
        return blocks

    @property
    def styles(self) -> range:
        """Which channels of a code are the style, which stays while the digit turns."""
        return range(0)

    @property
    def separates_style(self) -> bool:
        """Does it keep a style apart from the angle?"""
        return len(self.styles) > 0

    @property
    def divides_channels(self) -> bool:
        """Has it local channels that turn, and global ones that stay?"""
        return bool(self.config.divides_channels)

    @property
    def tells_angle(self) -> bool:
        """Can `orientation` find the angle of a picture?"""
        return False

    @property
    def tells_certainty(self) -> bool:
        """Does `Posterior.unknown` say how much of a digit is known at an angle?"""
        return False

    def harmonics(self) -> int | None:
        """The highest harmonic of the codes over the angle; None for places on a line."""
        raise UserError(f"The codes of the {self.title} are no series in the angle.")

    def orientation(self, images: Any, grid: Any) -> Any:
        """Posterior over the angle of images [P, H, W] on a grid [G] of angles -> [P, G]."""
        raise UserError(f"The {self.title} cannot tell the angle of a picture.")

    def angle_scores(self, views: Views, w: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """What speaks for each angle [G] of one view each: three numbers [P, G]."""
        raise UserError(f"The {self.title} cannot tell the angle of a picture.")

    def seen_alone(self, views: Views, w: Tensor) -> Tensor:
        """What one view each says of each angle [G] without being decoded, in nats [P, G]."""
        raise UserError(f"The {self.title} cannot tell the angle of a picture.")

    def remembered(self, ids: Tensor) -> tuple[Tensor, Tensor] | None:
        """Angles and mask [P, Q] of the views it kept of training digits; None if it uses others'.

        `ids` [P]; None as well if one of them is not of a training digit.
        """
        return None

    # Use

    @torch.no_grad()
    def infer(self, views: Any, angles: Any, observed: Any = None, ids: Any = None) -> Posterior:
        """What the views say of each digit.

        `views` [P, Q, H, W] at `angles` [P, Q] radians, of which only `observed` [P, Q] count.
        `ids` [P] says which training digits these are, for a model that knows no others.
        """
        return self._infer(self.given(views, angles, observed, ids))

    def generate(
        self,
        views: Any,
        angles: Any,
        at: Any,
        observed: Any = None,
        ids: Any = None,
        sample: bool = False,
        generator: torch.Generator | None = None,
    ) -> Any:
        """Images of each digit at new angles: `at` [P, S] -> [P, S, H, W].

        Decodes the posterior mean, or one posterior sample. The other arguments are those of
        `infer`; images are of the same kind and precision as the views.
        """
        posterior = self.infer(views, angles, observed, ids)
        with torch.no_grad():
            w = posterior._angles(at)
            z = posterior._sample(w, generator) if sample else posterior._mean(w)
            return arrays.like(self.decode(z, self.divides_channels), views)

    def _infer(self, views: Views) -> Posterior:
        mu, var = self.encode(views.images, views.angles, views.observed)
        return self.posterior(mu, var, views.angles, views.observed)

    def posterior(self, mu: Tensor, var: Tensor, angles: Tensor, observed: Tensor) -> Posterior:
        """What encodings [P, Q, L] at angles [P, Q] say together, where nothing else is needed."""
        raise UserError(f"The {self.title} needs more than the encodings of a digit's views.")

    def given(self, views: Any, angles: Any, observed: Any = None, ids: Any = None) -> Views:
        """Views as the model takes them, after a look at shapes and values."""
        images = arrays.tensor(views, "Views", self.home).to(self.dtype)
        w = arrays.tensor(angles, "Angles", self.home).double()
        shape = self.image_shape
        if w.ndim != 2 or images.shape != (*w.shape, *shape):
            raise UserError(
                f"Views must be [P, Q, {', '.join(map(str, shape))}] with angles [P, Q]; "
                f"got {list(images.shape)} and {list(w.shape)}."
            )
        P, Q = w.shape
        if not Q:
            raise UserError("Give at least one view.")
        mask = torch.ones_like(w, dtype=torch.bool)
        if observed is not None:
            mask = arrays.tensor(observed, "The mask of observed views", self.home)
        if mask.shape != w.shape or mask.dtype != torch.bool:
            raise UserError("The mask of observed views must be boolean and as large as angles.")
        number = torch.full((P,), -1, device=self.home)
        if ids is not None:
            number = arrays.tensor(ids, "The ids", self.home)
        if number.shape != (P,) or number.is_floating_point():
            raise UserError(f"There must be one whole number as id for each of the {P} digits.")
        if not bool(images[mask].isfinite().all() & w[mask].isfinite().all()):
            raise UserError("A view or its angle is not a finite number.")
        return Views(images, w, mask, number.long(), torch.zeros_like(number))

    # Training

    def terms(
        self,
        views: Views,
        context: Tensor | None = None,
        generator: torch.Generator | None = None,
    ) -> Terms:
        """Score a batch, reconstructing all observed views from those in `context` [P, Q]."""
        raise TypeError(f"{type(self).__name__} does not say how it is scored")

    def conditional_terms(
        self, views: Views, context: Tensor, generator: torch.Generator | None = None
    ) -> Terms:
        """Score a batch by all observed views, given what those in `context` [P, Q] say."""
        raise TypeError(f"The {self.title} has no conditional bound")

    def recognising(self) -> list[nn.Parameter]:
        """The weights that say of a view alone at which angle it was seen; none by default."""
        return []

    def recognition(self, views: Views, generator: torch.Generator | None = None) -> Tensor:
        """How badly these weights read views, in nats a digit [P]."""
        raise TypeError(f"{type(self).__name__} does not recognise angles")

    def log_prior(self) -> Tensor:
        """Log prior of parameters that have one, in nats; the loss gets its share of it."""
        return torch.zeros((), device=self.home)

    def prepare(self, data: Callable[[], Views]) -> None:
        """Called once before training: sizes and first values that depend on the training views."""

    def start_epoch(self, data: Callable[[], Views], progress: float) -> None:
        """Called before each epoch; `data()` is all training views, `progress` the share done."""

    def condition(self, data: Callable[[], Views]) -> None:
        """Called before use: what the model has to remember of the training views."""

    def parameter_groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """All parameters in groups, each with the factor of its learning rate."""
        return [(list(self.parameters()), 1.0)]

    @classmethod
    def numbers_in_a_step(cls, config: Any, digits: int, views: int) -> int:
        """How many numbers of 4 bytes a step on so many digits and views holds at its peak."""
        with torch.device("meta"):  # nothing is allocated
            encoder, decoder = cls.networks(config)
        code = (config.latents,)
        held = numbers_held(encoder, config.network.shape) + numbers_held(decoder, code)
        return digits * views * held

    @classmethod
    def check_run(cls, config: Any, images: int, context_dropout: float) -> None:
        """Refuse a run on so many training images that this model cannot take."""

    # Networks

    @property
    def home(self) -> torch.device:
        """Where views and codes are; where a device has no float64 only the networks are there."""
        device = next(self.decoder.parameters()).device
        return torch.device("cpu") if device.type == "mps" else device

    @property
    def dtype(self) -> torch.dtype:
        """Of the networks; a Gaussian process is always float64."""
        return next(self.decoder.parameters()).dtype

    def place(self, device: torch.device) -> Self:
        """Move to a device; where there is no float64 the networks alone, and the GP stays."""
        self.to(torch.device("cpu") if device.type == "mps" else device)
        self.encoder.to(device)
        self.decoder.to(device)
        return self

    @property
    def image_shape(self) -> tuple[int, ...]:
        """[H, W], or [C, H, W] in colour."""
        shape: tuple[int, ...] = self.config.network.shape
        return shape[1:] if shape[0] == 1 else shape

    def encode(self, images: Tensor, angles: Tensor, observed: Tensor) -> tuple[Tensor, Tensor]:
        """q̃(z | y, w) of the observed views: mean and variance [P, Q, L] (0 and 1 elsewhere)."""
        P, Q = observed.shape
        everything = bool(observed.all())
        seen = images if everything else images[observed]
        seen = seen.reshape(-1, *self.config.network.shape).to(self.dtype)
        w = angles.reshape(-1) if everything else angles[observed]
        seen_mu, seen_var = self.encode_each(seen, w)
        L = seen_mu.shape[-1]
        if everything:
            return seen_mu.view(P, Q, L), seen_var.view(P, Q, L)
        where = observed.reshape(-1).nonzero().squeeze(-1)
        mu = seen_mu.new_zeros(P * Q, L).index_copy(0, where, seen_mu)
        var = seen_var.new_ones(P * Q, L).index_copy(0, where, seen_var)
        return mu.view(P, Q, L), var.view(P, Q, L)

    def encode_each(self, images: Tensor, w: Tensor) -> tuple[Tensor, Tensor]:
        """Images [N, C, H, W] at angles [N] -> mean and variance [N, L]."""
        # an angle of period 2π, or from -π/2 to π/2 along a line
        phase = math.pi / 2 * w if self.config.on_a_line else TWO_PI / self.config.period * w
        mean, var = self.encoder(images, phase)
        return mean, var

    def decode(self, z: Tensor, one_style: bool = False) -> Tensor:
        """Codes [..., L] -> images [..., H, W].

        `one_style`: codes [P, S, L] of digits whose global channels are the same at all angles.
        """
        codes = z if one_style else z.reshape(-1, z.shape[-1])
        images = self.decoder(codes.to(self.dtype))
        return images.reshape(*z.shape[:-1], *self.image_shape)

    def squared_error(self, z: Tensor, views: Views) -> tuple[Tensor, Tensor]:
        """Decode codes [P, Q, L] and compare: squared error and number of pixels, each [P]."""
        observed = views.observed
        pixels = observed.sum(-1) * views.images.shape[2:].numel()
        if bool(observed.all()):
            images = self.decode(z, self.divides_channels)
            return (images - views.images).square().flatten(1).sum(-1), pixels
        each = (self.decode(z[observed]) - views.images[observed]).square().flatten(1).sum(-1)
        error = each.new_zeros(observed.shape).masked_scatter(observed, each).sum(-1)
        return error, pixels
