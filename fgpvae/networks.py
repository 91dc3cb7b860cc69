"""Encoders and decoders. Images are [N, C, H, W]; a code is [N, L]."""

import math
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from fgpvae.errors import UserError
from fgpvae.paper_networks import PaperDecoder, PaperEncoder

VARIANCE_FLOOR = 1e-6


@dataclass(frozen=True)
class NetworkConfig:
    """Which networks, and how large.

    `paper` is the table in appendix A to the letter, whatever else is set. `convolutional` has
    two strided 4x4 convolutions, one hidden dense layer, and the mirror image of both as its
    decoder. `dense` has dense layers of the given widths, SiLU between them, and their mirror
    image.

    >>> from fgpvae import NetworkConfig
    >>> NetworkConfig("dense", widths=(64,)).shape
    (1, 28, 28)
    >>> NetworkConfig("deep")
    Traceback (most recent call last):
    fgpvae.errors.UserError: There is no network 'deep'; choose paper, convolutional or dense.
    """

    kind: str = "paper"
    filters: tuple[int, int] = (16, 32)  # convolutional
    hidden: int = 256  # convolutional
    widths: tuple[int, ...] = (768, 256)  # dense
    dropout: float = 0.0
    gated: bool = False  # the decoder also sees the products of local and global channels
    product: bool = False  # the decoder multiplies features of the style by features of the view
    harmonics: int = 0  # Fourier modes through which the encoder is told the angle; 0: it is not
    residual: int = 0  # units of a block that adds to the features of the style; 0: there is none
    recogniser: int = 0  # filters of a network that reads the angle of a picture; 0: there is none
    shape: tuple[int, int, int] = (1, 28, 28)  # channels, height, width of an image

    def __post_init__(self) -> None:
        object.__setattr__(self, "filters", tuple(self.filters))
        object.__setattr__(self, "shape", tuple(self.shape))
        object.__setattr__(self, "widths", tuple(self.widths))
        if self.kind not in ("paper", "convolutional", "dense"):
            raise UserError(
                f"There is no network '{self.kind}'; choose paper, convolutional or dense."
            )
        if self.kind == "paper" and self.shape != (1, 28, 28):
            raise UserError(
                "The paper's networks take grey images of 28 x 28 pixels; use convolutional ones."
            )
        channels, height, width = self.shape
        if channels not in (1, 3) or not (1 <= height <= 64 and 1 <= width <= 64):
            raise UserError("Images must be grey or colour, with sides of at most 64 pixels.")
        halved_twice = min(height, width) >= 8 and height % 4 == width % 4 == 0
        if self.kind == "convolutional" and not halved_twice:
            raise UserError(
                "Convolutional networks take images with sides from 8 to 64 pixels divisible by 4; "
                "use dense for other sizes."
            )
        if min(*self.filters, self.hidden) < 1 or max(*self.filters) > 512 or self.hidden > 4096:
            raise UserError("Network sizes must be from 1 to 512 filters and 4096 hidden units.")
        if not 1 <= len(self.widths) <= 8 or min(self.widths) < 1 or max(self.widths) > 4096:
            raise UserError("A dense network has from 1 to 8 layers of 1 to 4096 units.")
        if not 0 <= self.recogniser <= 64:
            raise UserError(f"recogniser must be from 0 to 64 filters, not {self.recogniser}.")
        if not 0 <= self.residual <= 4096:
            raise UserError(f"residual must be from 0 to 4096 units, not {self.residual}.")
        if not 0 <= self.dropout < 1:
            raise UserError("Dropout must be at least 0 and below 1.")
        if not 0 <= self.harmonics <= 64:
            raise UserError(f"harmonics must be from 0 to 64, not {self.harmonics}.")
        if self.product and self.kind == "convolutional":
            raise UserError("A product decoder is made of dense layers: choose dense networks.")
        if self.product and self.gated:
            raise UserError("A decoder is gated or a product, not both.")
        if (self.harmonics or self.product) and self.features % 2:
            raise UserError("Features that are multiplied come in pairs: choose an even size.")

    @property
    def features(self) -> int:
        """The size of the layer next to the image, of encoder and decoder."""
        return self.widths[0] if self.kind == "dense" else self.hidden


class ConvolutionalEncoder(nn.Sequential):
    def __init__(self, config: NetworkConfig, outputs: int, inputs: int) -> None:
        first, second = config.filters
        _, height, width = config.shape
        super().__init__(
            nn.Conv2d(inputs, first, 4, stride=2, padding=1),
            nn.ELU(),
            nn.Conv2d(first, second, 4, stride=2, padding=1),
            nn.ELU(),
            nn.Flatten(),
            nn.Dropout(config.dropout),
            nn.Linear(second * (height // 4) * (width // 4), config.hidden),
            nn.ELU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.hidden, outputs),
        )


class ConvolutionalDecoder(nn.Sequential):
    def __init__(self, config: NetworkConfig, inputs: int) -> None:
        first, second = config.filters
        channels, height, width = config.shape
        small = (second, height // 4, width // 4)
        super().__init__(
            nn.Linear(inputs, config.hidden),
            nn.ELU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.hidden, small[0] * small[1] * small[2]),
            nn.ELU(),
            nn.Unflatten(1, small),
            nn.ConvTranspose2d(second, first, 4, stride=2, padding=1),
            nn.ELU(),
            nn.ConvTranspose2d(first, channels, 4, stride=2, padding=1),
        )


class DenseEncoder(nn.Sequential):
    def __init__(self, config: NetworkConfig, outputs: int, inputs: int) -> None:
        _, height, width = config.shape
        sizes = (inputs * height * width, *config.widths, outputs)
        super().__init__(nn.Flatten(), *_dense(sizes, config.dropout))


class DenseDecoder(nn.Sequential):
    def __init__(self, config: NetworkConfig, inputs: int) -> None:
        sizes = (inputs, *reversed(config.widths), math.prod(config.shape))
        super().__init__(*_dense(sizes, config.dropout), nn.Unflatten(1, config.shape))


def _dense(
    sizes: tuple[int, ...], dropout: float, activation: type[nn.Module] = nn.SiLU
) -> list[nn.Module]:
    layers: list[nn.Module] = []
    for inputs, outputs in pairwise(sizes[:-1]):
        layers += [nn.Linear(inputs, outputs), activation(), nn.Dropout(dropout)]
    return [*layers, nn.Linear(sizes[-2], sizes[-1])]


def memory_format(config: NetworkConfig) -> torch.memory_format:
    """How torch's own convolutions are fastest on a CPU; other networks do not use them."""
    if config.kind == "convolutional":
        return torch.channels_last
    return torch.contiguous_format


def device_of(network: nn.Module) -> torch.device:
    """Where a network lives; it takes its input from anywhere and gives its output back there."""
    return next(network.parameters()).device


def complex_product(a: Tensor, b: Tensor) -> Tensor:
    """Products of C complex numbers [..., 2 C], their real parts first."""
    (a_re, a_im), (b_re, b_im) = a.chunk(2, -1), b.chunk(2, -1)
    return torch.cat([a_re * b_re - a_im * b_im, a_re * b_im + a_im * b_re], -1)


class Residual(nn.Module):
    """Features plus what two layers make of them: at first nothing, so a model that has learned
    goes on from where it is."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        last = nn.Linear(hidden, features)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.layers = nn.Sequential(nn.SiLU(), nn.Linear(features, hidden), nn.SiLU(), last)

    def forward(self, features: Tensor) -> Tensor:
        return features + self.layers(features)


class AngleEncoder(nn.Module):
    """Images and the phases of their views -> local channels from the image alone, global ones
    from the image and its phase.

    Both see the same first features. For the global channels these are taken as complex numbers,
    and number k is multiplied by exp(i m_k w), m_k = k mod the number of harmonics. On a picture
    that was turned by w this undoes the turn where the features are circular harmonics; for other
    views it is a gate by Fourier features of the coordinate.
    """

    modes: Tensor

    def __init__(self, config: NetworkConfig, latents: int, local: int, inputs: int) -> None:
        super().__init__()
        _, height, width = config.shape
        features = config.features
        activation: type[nn.Module] = nn.SiLU if config.kind == "dense" else nn.ELU
        hidden = (config.widths[1:] or config.widths) if config.kind == "dense" else (features,)
        if config.kind == "dense":
            self.first = nn.Sequential(nn.Flatten(), nn.Linear(inputs * height * width, features))
        else:
            self.first = nn.Sequential(*list(ConvolutionalEncoder(config, latents, inputs))[:-3])

        def head(outputs: int) -> nn.Sequential:
            sizes = (features, *hidden, outputs)
            layers = _dense(sizes, config.dropout, activation)
            return nn.Sequential(activation(), nn.Dropout(config.dropout), *layers)

        self.local, self.style = head(2 * local), head(2 * (latents - local))
        self.residual = Residual(features, config.residual) if config.residual else nn.Identity()
        # made at once: arithmetic on the device `meta` would load torch's compiler
        modes = torch.tensor([float(k % config.harmonics) for k in range(features // 2)])
        self.register_buffer("modes", modes, persistent=False)

    def forward(self, images: Tensor, phase: Tensor) -> Tensor:
        """[N, C, H, W] and [N] -> means and log variances [N, 2 L]."""
        features = self.first(images).to(self.modes.dtype)  # [N, F]
        angle = phase[:, None].to(self.modes) * self.modes  # [N, F / 2]
        turned = complex_product(features, torch.cat([angle.cos(), angle.sin()], -1))
        local_mean, local_log_var = self.local(features).chunk(2, -1)
        mean, log_var = self.style(self.residual(turned)).chunk(2, -1)
        return torch.cat([local_mean, mean, local_log_var, log_var], -1)


class ProductDecoder(nn.Module):
    """Complex features of the style times complex features of the view, then the image.

    The features of a style are the same at every angle: they are computed once a digit.
    """

    def __init__(self, config: NetworkConfig, latents: int, local: int) -> None:
        super().__init__()
        *hidden, features = reversed(config.widths)
        turn = hidden or [features]
        self.style = nn.Sequential(*_dense((latents - local, *hidden, features), config.dropout))
        # bounded, as the cosines and sines of an angle are: a product of two unbounded layers grew
        # without end in training
        turned = _dense((local, *turn, features), config.dropout)
        self.turn = nn.Sequential(*turned, nn.Tanh())
        self.image = nn.Sequential(
            nn.Linear(features, math.prod(config.shape)), nn.Unflatten(1, config.shape)
        )
        self.channels = local

    def forward(self, z: Tensor) -> Tensor:
        """Codes [N, L], or [P, Q, L] where a digit's views share the style of the first."""
        if z.ndim == 2:
            z = z[:, None]
        style = self.style(z[:, :1, self.channels :])  # [P, 1, F]
        turn = self.turn(z[..., : self.channels])  # [P, Q, F]
        return self.image(complex_product(style, turn).flatten(0, 1))


class Encoder(nn.Module):
    """Images [N, C, H, W], with `extra` planes where a model adds some -> mean and variance [N, L].

    A variance is never below VARIANCE_FLOOR. Where the encoder is told the angle, it takes the
    phase of each view [N] as well: its angle on a circle, or π/2 times its place on a line.
    """

    def __init__(
        self, config: NetworkConfig, latents: int, extra: int = 0, local: int | None = None
    ) -> None:
        super().__init__()
        inputs = config.shape[0] + extra
        self.told = (
            bool(config.harmonics)
            and config.kind != "paper"
            and local is not None
            and local < latents
        )
        self.layers: nn.Module
        if self.told:
            self.layers = AngleEncoder(config, latents, local or 0, inputs)
        else:
            self.layers = {
                "paper": lambda: PaperEncoder(2 * latents, inputs),
                "convolutional": lambda: ConvolutionalEncoder(config, 2 * latents, inputs),
                "dense": lambda: DenseEncoder(config, 2 * latents, inputs),
            }[config.kind]()
        self.format = memory_format(config)
        self.to(memory_format=self.format)  # type: ignore[call-overload]

    def forward(self, images: Tensor, phase: Tensor | None = None) -> tuple[Tensor, Tensor]:
        seen = images.to(device_of(self)).contiguous(memory_format=self.format)
        code = self.layers(seen, phase) if self.told else self.layers(seen)
        mean, log_var = code.to(images).chunk(2, -1)
        return mean, log_var.clamp(-20, 20).exp() + VARIANCE_FLOOR


class Decoder(nn.Module):
    """Codes [N, L] -> images [N, C, H, W].

    With `gated`, the first layer also receives z_j z_g for every local j and global g: how a style
    shows then depends on the angle through weights instead of through depth. With `product`, the
    last hidden layer is a product of features of the style and of the local channels.
    """

    def __init__(self, config: NetworkConfig, latents: int, local: int) -> None:
        super().__init__()
        self.local = local if config.gated else 0
        inputs = latents + self.local * (latents - self.local)
        self.layers: nn.Module = (
            ProductDecoder(config, latents, local)
            if config.product and config.kind == "dense" and 0 < local < latents
            else {
                "paper": lambda: PaperDecoder(inputs),
                "convolutional": lambda: ConvolutionalDecoder(config, inputs),
                "dense": lambda: DenseDecoder(config, inputs),
            }[config.kind]()
        )
        self.to(memory_format=memory_format(config))  # type: ignore[call-overload]

    def forward(self, z: Tensor) -> Tensor:
        """Codes [N, L]; or [P, Q, L] of digits whose style is the same in all Q views."""
        if self.local:
            products = z[..., : self.local, None] * z[..., None, self.local :]
            z = torch.cat([z, products.flatten(-2)], -1)
        if not isinstance(self.layers, ProductDecoder):
            z = z.flatten(0, -2)
        return self.layers(z.to(device_of(self))).to(z)


def numbers_held(network: Encoder | Decoder, shape: tuple[int, ...]) -> int:
    """How many numbers the layers put out for one input of this shape, by arithmetic alone.

    To run the network on the device `meta` would tell as much, but loads torch's compiler: a
    second at every start.
    """
    return _held(network.layers, shape)[0]


def _held(layer: nn.Module, shape: tuple[int, ...]) -> tuple[int, tuple[int, ...]]:
    """How many numbers a layer and those within it put out, and the shape of the last."""
    match layer:
        case PaperEncoder() | PaperDecoder():
            return layer.numbers_held(), ()
        case nn.Sequential():
            total = 0
            for child in layer:
                held, shape = _held(child, shape)
                total += held
            return total, shape
        case AngleEncoder():
            first, shape = _held(layer.first, shape)
            heads = _held(layer.local, shape)[0] + _held(layer.style, shape)[0]
            return first + 3 * math.prod(shape) + _held(layer.residual, shape)[0] + heads, shape
        case Residual():
            return _held(layer.layers, shape)[0] + math.prod(shape), shape
        case ProductDecoder():
            style, _ = _held(layer.style, shape)
            turn, shape = _held(layer.turn, shape)
            image, last = _held(layer.image, shape)
            return style + turn + math.prod(shape) + image, last
    shape = _shape_after(layer, shape)
    return math.prod(shape), shape


def _shape_after(layer: nn.Module, shape: tuple[int, ...]) -> tuple[int, ...]:
    match layer:
        case nn.Linear():
            return (layer.out_features,)
        case nn.Flatten():
            return (math.prod(shape),)
        case nn.Unflatten():
            return tuple(layer.unflattened_size)
        case nn.Conv2d() | nn.ConvTranspose2d():
            return (
                layer.out_channels,
                *(_side(layer, k, side) for k, side in enumerate(shape[1:])),
            )
    return shape  # activations and dropout


def _side(layer: nn.Conv2d | nn.ConvTranspose2d, k: int, side: int) -> int:
    kernel, stride, padding = layer.kernel_size[k], layer.stride[k], int(layer.padding[k])
    if isinstance(layer, nn.ConvTranspose2d):
        return (side - 1) * stride - 2 * padding + kernel
    return (side + 2 * padding - kernel) // stride + 1
