"""Base class of all models: score a batch of views, infer a posterior from views."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any, ClassVar, Self

import torch
from torch import Tensor, nn

from fgpvae import arrays
from fgpvae.data import Views
from fgpvae.errors import UserError, require
from fgpvae.gp.kernels import TWO_PI
from fgpvae.gp.randomness import torch_seeded
from fgpvae.models.inference import Calibration, Posterior
from fgpvae.networks.angle_classifier import Recogniser
from fgpvae.networks.standard import Decoder, Encoder, NetworkConfig, numbers_held
from fgpvae.settings import check, setting


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Settings that every model has, and all that most have; subclasses add their own.

    >>> from fgpvae import FGPVAE, FGPVAEConfig
    >>> model = FGPVAE(FGPVAEConfig(latents=12, local=4))
    >>> sum(weights.numel() for weights in model.parameters())
    4947
    >>> FGPVAEConfig(latents=4, local=8)
    Traceback (most recent call last):
    fgpvae.errors.UserError: There are 4 channels (L), so 8 of them cannot be local (J).
    """

    name: str = "vae"  # of the model in the registry; a model sets its own
    latents: int = setting(16, "Number of channels of a code.", "L", "Channels", bounds=(1, 256))
    period: float = setting(
        TWO_PI,
        "Angle after which views repeat, in radians.",
        bounds=(0.001, 1000.0),
        needs="data.split=factorized|shuffled|continuous|cubes",
    )
    network: NetworkConfig = field(default_factory=NetworkConfig)

    def __post_init__(self) -> None:
        check(self)

    @property
    def blocks(self) -> dict[str, slice]:
        """Channels of an encoding by what they hold: "local", "global", or "joint" for both."""
        return {"joint": slice(0, self.latents)}

    @property
    def divides_channels(self) -> bool:
        """Whether there are local channels, which depend on the angle, and global ones."""
        return {"local", "global"} <= self.blocks.keys()

    @property
    def on_a_line(self) -> bool:
        """Whether views lie on a line from -1 to 1 instead of on a circle."""
        return False


@dataclass(frozen=True, kw_only=True)
class KernelConfig(ModelConfig):
    """Settings of models with a kernel over the angle."""

    amplitude: float = setting(
        1.0, "Prior standard deviation around the mean.", "σ", bounds=(0.001, 1000.0)
    )
    length_scale: float = setting(
        1.0, "Distance over which views are alike, in radians.", "r", bounds=(0.01, 100.0)
    )


@dataclass(frozen=True)
class Terms:
    """The parts of the evidence lower bound of each digit of a batch."""

    squared_error: Tensor  # [P] summed over the observed views and their pixels
    pixels: Tensor  # [P] number of pixel values in that sum
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

    Config: ClassVar[type[ModelConfig]] = ModelConfig
    name: ClassVar[str]  # in configs
    title: ClassVar[str]  # in tables and on pages
    complexity: ClassVar[str] = "-"  # cost of its Gaussian process, for tables

    # Capabilities; unsupported calls raise a UserError
    takes_new_digits: ClassVar[bool] = True
    takes_objects: ClassVar[bool] = False  # whether it can be trained on own objects
    knows_angles: ClassVar[bool] = True  # whether it predicts angles that were not observed
    decoder_takes_angle: ClassVar[bool] = False  # whether the angle is an input of the decoder
    fixed_angles: ClassVar[bool] = False  # whether a digit needs the same angles in every epoch
    joint_batches: ClassVar[bool] = False  # whether a digit's score depends on its batch
    conditional: ClassVar[bool] = False  # whether it bounds all views given some of them

    config: Any  # an instance of the class Config
    calibration: Calibration | None = None  # None if it was not measured
    kernel: Any  # over the angle; None for models without a kernel
    encoder: Any  # [N, C, H, W] -> mean and variance [N, L]
    decoder: Any  # [N, L] -> [N, C, H, W]

    # (views, context, generator): score a batch, all views reconstructed from a context [P, Q]
    terms: Callable[..., Terms]
    # (mu, var, angles, observed): the posterior given encodings [P, Q, L] at angles [P, Q] alone
    posterior: Callable[[Tensor, Tensor, Tensor, Tensor], Posterior]
    # of models that can do more, as `tells_angle`, `conditional` and `recognising` say
    angle_scores: Any
    angle_log_density: Any
    conditional_terms: Any
    recognition: Any

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = replace(config, name=self.name)
        self.encoder, self.decoder = self.networks(config)
        if config.network.moving and isinstance(self.encoder, Encoder):
            self.encoder.layers.place = self.decoder.layers.place  # a subject is drawn where found

    @classmethod
    def networks(cls, config: Any) -> tuple[Encoder, Decoder]:
        """The encoder and the decoder of a config, with fresh weights."""
        network, L = config.network, config.latents
        return Encoder(network, L), Decoder(network, L, local=0)

    @property
    def blocks(self) -> dict[str, slice]:
        """Channels of an encoding by what they hold: "local", "global", or "joint" for both."""
        return self.config.blocks

    @property
    def styles(self) -> range:
        """The channels of a code that are the style, which does not depend on the angle."""
        part = self.blocks.get("global", slice(0, 0))
        return range(part.start, part.stop)

    @property
    def separates_style(self) -> bool:
        """Whether the model separates a style from the angle."""
        return len(self.styles) > 0

    @property
    def divides_channels(self) -> bool:
        """Whether there are local channels, which depend on the angle, and global ones."""
        return self.config.divides_channels

    @property
    def tells_angle(self) -> bool:
        """Whether `orientation` can infer the angle of a picture."""
        return False

    @property
    def tells_certainty(self) -> bool:
        """Whether `Posterior.unknown` is available."""
        return "local" in self.blocks

    def harmonics(self) -> int | None:
        """The highest harmonic of the codes over the angle; None for places on a line."""
        raise UserError(f"The codes of the {self.title} are no series in the angle.")

    def orientation(self, images: Any, grid: Any) -> Any:
        """Posterior over the angle of images [P, H, W] on a grid [G] of angles -> [P, G]."""
        raise UserError(f"The {self.title} cannot tell the angle of a picture.")

    def stored_views(self, ids: Tensor) -> tuple[Tensor, Tensor] | None:
        """Angles and mask [P, Q] of the training views stored in the model; None if it stores none.

        Also None if one of the `ids` [P] does not belong to a training digit.
        """
        return None

    # Use

    @torch.no_grad()
    def infer(self, views: Any, angles: Any, observed: Any = None, ids: Any = None) -> Posterior:
        """Infer the posterior of each digit from its views.

        `views` [P, Q, H, W] at `angles` [P, Q] radians, of which only `observed` [P, Q] count.
        `ids` [P] identify training digits, for a model that takes no other digits.
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

    def given(self, views: Any, angles: Any, observed: Any = None, ids: Any = None) -> Views:
        """Check shapes and values, and convert to Views."""
        home, shape = self.home, self.image_shape
        images = arrays.tensor(views, "Views", home).to(self.dtype)
        w = arrays.tensor(angles, "Angles", home).double()
        require(
            w.ndim == 2 and images.shape == (*w.shape, *shape),
            f"Views must be [P, Q, {', '.join(map(str, shape))}] with angles [P, Q]; "
            f"got {list(images.shape)} and {list(w.shape)}.",
        )
        require(w.shape[1], "Give at least one view.")
        every, new = torch.ones_like(w, dtype=torch.bool), torch.full((len(w),), -1, device=home)
        mask = every if observed is None else arrays.tensor(observed, "The mask of views", home)
        fits = mask.shape == w.shape and mask.dtype == torch.bool
        require(fits, "The mask of observed views must be boolean and as large as angles.")
        number = new if ids is None else arrays.tensor(ids, "The ids", home)
        fits = number.shape == (len(w),) and not number.is_floating_point()
        require(fits, f"There must be one whole number as id for each of the {len(w)} digits.")
        finite = images[mask].isfinite().all() & w[mask].isfinite().all()
        require(finite, "A view or its angle is not a finite number.")
        return Views(images, w, mask, number.long(), torch.zeros_like(number))

    # Training

    def recognising(self) -> list[nn.Parameter]:
        """The weights that predict the angle of a single view; none by default."""
        return []

    def log_prior(self) -> Tensor:
        """Log prior of the parameters that have one, in nats."""
        return torch.zeros((), device=self.home)

    def prepare(self, data: Callable[[], Views]) -> None:
        """Called once before training: set sizes and initial values from the training views."""

    def start_epoch(self, data: Callable[[], Views], progress: float) -> None:
        """Called before each epoch; `data()` is all training views, `progress` the share done."""

    def condition(self, data: Callable[[], Views]) -> None:
        """Called before use: store what inference needs of the training views."""

    def parameter_groups(self) -> list[tuple[list[nn.Parameter], float]]:
        """All parameters in groups, each with the factor of its learning rate."""
        return [(list(self.parameters()), 1.0)]

    @classmethod
    def numbers_in_a_step(cls, config: Any, digits: int, views: int) -> int:
        """Estimate the number of 4-byte numbers that a training step holds in memory."""
        return digits * views * cls._numbers_of_a_view(config)

    @classmethod
    @lru_cache(maxsize=256)
    def _numbers_of_a_view(cls, config: Any) -> int:
        with torch_seeded(0):
            encoder, decoder = cls.networks(config)
            layers = Recogniser(config.network).layers if config.network.recogniser else None
        held = numbers_held(decoder, torch.zeros(1, decoder.latents))
        if isinstance(encoder, Encoder):
            held += numbers_held(encoder, torch.zeros(1, *encoder.inputs), torch.zeros(1))
        if layers is not None:
            held += numbers_held(layers, torch.zeros(1, *config.network.shape))
        return held

    @classmethod
    def check_run(cls, config: Any, images: int) -> None:
        """Raise a UserError if the model cannot be trained on so many images."""

    # Networks

    @property
    def home(self) -> torch.device:
        """The device of views and codes: the CPU if the networks' device has no float64."""
        device = next(self.decoder.parameters()).device
        return torch.device("cpu") if device.type == "mps" else device

    @property
    def dtype(self) -> torch.dtype:
        """dtype of the networks; a Gaussian process is always float64."""
        return next(self.decoder.parameters()).dtype

    def place(self, device: torch.device) -> Self:
        """Move to a device; only the networks if the device has no float64."""
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
        inputs = images[observed].reshape(-1, *self.config.network.shape).to(self.dtype)
        mu, var = self.encode_each(inputs, angles[observed])
        where, shape = observed.nonzero(as_tuple=True), (*observed.shape, mu.shape[-1])
        return mu.new_zeros(shape).index_put(where, mu), var.new_ones(shape).index_put(where, var)

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
        return self.decoder(codes.to(self.dtype)).reshape(*z.shape[:-1], *self.image_shape)

    def squared_error(self, z: Tensor, views: Views) -> tuple[Tensor, Tensor]:
        """Decode codes [P, Q, L] and compare: squared error and number of pixels, each [P]."""
        observed = views.observed
        pixels = observed.sum(-1) * views.images.shape[2:].numel()
        if bool(observed.all()):
            images = self.decode(z, self.divides_channels)
            return (images - views.images).square().flatten(1).sum(-1), pixels
        each = (self.decode(z[observed]) - views.images[observed]).square().flatten(1).sum(-1)
        return each.new_zeros(observed.shape).masked_scatter(observed, each).sum(-1), pixels
