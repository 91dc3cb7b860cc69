"""Encoders and decoders. Images are [N, C, H, W]; a code is [N, L]."""

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from fgpvae.errors import require
from fgpvae.networks.moving import MARGIN, MOVES, MovingDecoder, MovingEncoder, dense
from fgpvae.networks.paper import PaperDecoder, PaperEncoder
from fgpvae.settings import check, setting

VARIANCE_FLOOR = 1e-6


@dataclass(frozen=True)
class NetworkConfig:
    """Kind and size of encoder and decoder.

    `paper` is exactly the table in appendix A and ignores the other settings. `convolutional` has
    two strided 4x4 convolutions, one hidden dense layer, and the mirror image of both as its
    decoder. `dense` has dense layers of the given widths, SiLU between them, and their mirror
    image.

    >>> from fgpvae import NetworkConfig
    >>> NetworkConfig("dense", widths=(64,)).shape
    (1, 28, 28)
    """

    kind: str = setting(
        "paper",
        "The paper's networks, larger convolutions, or dense layers.",
        label="Networks",
        choices={
            "paper": "the paper's",
            "convolutional": "larger convolutions",
            "dense": "dense layers",
        },
    )
    filters: tuple[int, int] = setting(
        (16, 32), "Filters of the two convolutions.", bounds=(1, 512), needs="kind=convolutional"
    )
    hidden: int = setting(
        256,
        "Units of the dense layer.",
        label="Hidden units",
        bounds=(1, 4096),
        needs="kind=convolutional",
    )
    widths: tuple[int, ...] = setting(
        (768, 256), "Units of each dense layer.", bounds=(1, 4096), needs="kind=dense"
    )
    dropout: float = setting(
        0.0,
        "Share of units switched off in a step, against overfitting.",
        bounds=(0.0, 0.99),
        needs="kind=convolutional|dense",
    )
    gated: bool = setting(
        False,
        "Give the decoder the products of local and global channels, too.",
        label="Gated decoder",
        needs="model.local",
    )
    product: bool = setting(
        False, "Multiply features of style and view.", label="Product decoder", needs="kind=dense"
    )
    harmonics: int = setting(
        0,
        "Fourier modes of the angle given to the encoder; 0: it sees the image alone.",
        bounds=(0, 64),
        needs="model.local",
    )
    residual: int = setting(
        0,
        "Units of an extra block in the encoder of the style; 0: none.",
        label="Residual block",
        bounds=(0, 4096),
        needs="model.local, harmonics",
    )
    moving: bool = setting(
        False, "Two channels are the place of the subject, the others its look.", needs="kind=dense"
    )
    recogniser: int = setting(
        0,
        "Filters of the network that reads the angle of an image; 0: none.",
        bounds=(0, 64),
        needs="model.mean_function, harmonics",
    )
    shape: tuple[int, int, int] = (1, 28, 28)  # channels, height, width of an image

    def __post_init__(self) -> None:
        check(self)
        channels, height, width = self.shape
        least, most = min(height, width), max(height, width)
        known = channels in (1, 3) and least >= 1 and most <= 64
        require(known, "Images must be grey or colour, with sides of at most 64 pixels.")
        small = self.kind != "paper" or self.shape == (1, 28, 28)
        require(small, "The paper's networks take 28 x 28 grey pixels; use convolutional ones.")
        halved_twice = least >= 8 and height % 4 == width % 4 == 0
        require(
            self.kind != "convolutional" or halved_twice,
            "Convolutional networks take images with sides from 8 to 64 pixels, divisible by 4.",
        )
        require(1 <= len(self.widths) <= 8, "A dense network has from 1 to 8 layers.")
        alone = not self.product or not (self.gated or self.kind == "convolutional")
        require(alone, "A product decoder is made of dense layers, and not gated.")
        more = self.product or self.gated or self.harmonics or self.dropout
        fits = self.kind == "dense" and not more and least > 2 * MARGIN
        wanted = f"dense networks without other options, and more than {2 * MARGIN} pixels a side."
        require(not self.moving or fits, f"Moving subjects need {wanted}")
        pairs = not (self.harmonics or self.product) or self.features % 2 == 0
        require(pairs, "Features that are multiplied come in pairs: choose an even size.")

    @property
    def features(self) -> int:
        """The size of the layer next to the image, of encoder and decoder."""
        return self.widths[0] if self.kind == "dense" else self.hidden

    def dropout_layer(self) -> nn.Dropout:
        return nn.Dropout(self.dropout)


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
    """The mirror image of the encoder."""

    def __init__(self, config: NetworkConfig, inputs: int) -> None:
        first, second = config.filters
        channels, height, width = config.shape
        small = (second, height // 4, width // 4)
        super().__init__(
            nn.Linear(inputs, config.hidden),
            nn.ELU(),
            nn.Dropout(config.dropout),
            nn.Linear(config.hidden, math.prod(small)),
            nn.ELU(),
            nn.Unflatten(1, small),
            nn.ConvTranspose2d(second, first, 4, stride=2, padding=1),
            nn.ELU(),
            nn.ConvTranspose2d(first, channels, 4, stride=2, padding=1),
        )


def memory_format(config: NetworkConfig) -> torch.memory_format:
    """The memory layout in which torch's convolutions take half the time on a CPU."""
    return torch.channels_last if config.kind == "convolutional" else torch.contiguous_format


def complex_product(a: Tensor, b: Tensor) -> Tensor:
    """Products of C complex numbers [..., 2 C], their real parts first."""
    (a_re, a_im), (b_re, b_im) = a.chunk(2, -1), b.chunk(2, -1)
    return torch.cat([a_re * b_re - a_im * b_im, a_re * b_im + a_im * b_re], -1)


class Residual(nn.Module):
    """A residual block of two layers, initialised to zero, so that a trained model is unchanged."""

    def __init__(self, features: int, hidden: int) -> None:
        super().__init__()
        last = nn.Linear(hidden, features)
        nn.init.zeros_(last.weight)
        nn.init.zeros_(last.bias)
        self.layers = nn.Sequential(nn.SiLU(), nn.Linear(features, hidden), nn.SiLU(), last)

    def forward(self, features: Tensor) -> Tensor:
        return features + self.layers(features)


class AngleEncoder(nn.Module):
    """Local channels from an image alone, global channels from an image and the phase of its view.

    Both see the same first features. For the global channels these are taken as complex numbers,
    and number k is multiplied by exp(i m_k w), m_k = k mod the number of harmonics. On a picture
    that was turned by w this undoes the turn where the features are circular harmonics; for other
    views it is a gate by Fourier features of the coordinate.
    """

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
            layers = dense((features, *hidden, outputs), activation, config.dropout_layer)
            return nn.Sequential(activation(), config.dropout_layer(), *layers)

        self.local, self.style = head(2 * local), head(2 * (latents - local))
        self.residual = Residual(features, config.residual) if config.residual else nn.Identity()
        # without arithmetic, which would load torch's compiler on the device `meta`
        modes = torch.tensor([float(k % config.harmonics) for k in range(features // 2)])
        self.modes = nn.Buffer(modes, persistent=False)

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

    The features of a style are the same at every angle, so they are computed once per digit.
    """

    def __init__(self, config: NetworkConfig, latents: int, local: int) -> None:
        super().__init__()
        *hidden, features = reversed(config.widths)
        turn, between = hidden or [features], (nn.SiLU, config.dropout_layer)
        self.style = nn.Sequential(*dense((latents - local, *hidden, features), *between))
        # bounded, as the cosine and sine of an angle are: products of two unbounded layers diverged
        # in training
        self.turn = nn.Sequential(*dense((local, *turn, features), *between), nn.Tanh())
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

    A variance is never below VARIANCE_FLOOR. If it `takes_angle`, the phase of each view [N] is a
    second input: its angle on a circle, or π/2 times its place on a line. The networks may be on
    another device than their inputs, to which outputs return.
    """

    def __init__(
        self, config: NetworkConfig, latents: int, extra: int = 0, local: int | None = None
    ) -> None:
        super().__init__()
        inputs = config.shape[0] + extra
        self.inputs = (inputs, *config.shape[1:])
        divided = local is not None and local < latents
        self.takes_angle = divided and bool(config.harmonics) and config.kind != "paper"
        self.layers: nn.Module
        if config.moving:
            wanted = "Moving subjects need channels for a place and a look, and no other input."
            require(not extra and latents > MOVES, wanted)
            self.layers = MovingEncoder(config.shape, config.widths, latents)
        elif self.takes_angle:
            self.layers = AngleEncoder(config, latents, local or 0, inputs)
        elif config.kind == "paper":
            self.layers = PaperEncoder(2 * latents, inputs)
        elif config.kind == "convolutional":
            self.layers = ConvolutionalEncoder(config, 2 * latents, inputs)
        else:
            sizes = (math.prod(self.inputs), *config.widths, 2 * latents)
            self.layers = nn.Sequential(nn.Flatten(), *dense(sizes, nn.SiLU, config.dropout_layer))
        self.format = memory_format(config)
        self.to(memory_format=self.format)  # type: ignore[call-overload]

    def forward(self, images: Tensor, phase: Tensor | None = None) -> tuple[Tensor, Tensor]:
        here = images.to(next(self.parameters()).device).contiguous(memory_format=self.format)
        code = self.layers(here, phase) if self.takes_angle else self.layers(here)
        mean, log_var = code.to(images).chunk(2, -1)
        return mean, log_var.clamp(-20, 20).exp() + VARIANCE_FLOOR


class Decoder(nn.Module):
    """Codes [N, L] -> images [N, C, H, W].

    With `gated`, the first layer also receives z_j z_g for every local j and global g: the effect
    of a style can then depend on the angle without more layers. With `product`, the last hidden
    layer is a product of features of the style and of the local channels.
    """

    def __init__(self, config: NetworkConfig, latents: int, local: int) -> None:
        super().__init__()
        self.latents, self.local = latents, local if config.gated else 0
        inputs = latents + self.local * (latents - self.local)
        self.layers: nn.Module
        if config.moving:
            self.layers = MovingDecoder(config.shape, config.widths, latents)
        elif config.product and config.kind == "dense" and 0 < local < latents:
            self.layers = ProductDecoder(config, latents, local)
        elif config.kind == "paper":
            self.layers = PaperDecoder(inputs)
        elif config.kind == "convolutional":
            self.layers = ConvolutionalDecoder(config, inputs)
        else:
            sizes = (inputs, *reversed(config.widths), math.prod(config.shape))
            layers = dense(sizes, nn.SiLU, config.dropout_layer)
            self.layers = nn.Sequential(*layers, nn.Unflatten(1, config.shape))
        self.to(memory_format=memory_format(config))  # type: ignore[call-overload]

    def forward(self, z: Tensor) -> Tensor:
        """Codes [N, L]; or [P, Q, L] of digits whose style is the same in all Q views."""
        if self.local:
            products = z[..., : self.local, None] * z[..., None, self.local :]
            z = torch.cat([z, products.flatten(-2)], -1)
        if not isinstance(self.layers, ProductDecoder | MovingDecoder):
            z = z.flatten(0, -2)
        return self.layers(z.to(next(self.parameters()).device)).to(z)


def numbers_held(network: nn.Module, *inputs: Tensor) -> int:
    """Count the numbers that autograd saves when a network sees these inputs, weights excepted."""
    saved: dict[int, Tensor] = {}

    def save(x: Tensor) -> Tensor:
        saved[x.data_ptr()] = x.detach()
        return x.detach()  # an output referenced by its own graph would never be freed

    with torch.enable_grad(), torch.autograd.graph.saved_tensors_hooks(save, lambda x: x):
        network(*inputs)
    weights = {weight.data_ptr() for weight in network.parameters()}
    return sum(x.numel() for address, x in saved.items() if address not in weights)
