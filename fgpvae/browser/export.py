"""Export a decoder, and the posterior of one digit, for evaluation in the browser.

Every model of this package makes an image as decoder(code(w)), and every code is a Fourier series
in the angle: code(w) = C (1, cos kw, sin kw). So the browser needs the decoder's layers once, and
for each digit a small matrix C and the indices of the style channels, which sliders move. On a line
there is no such series; there C is a table of the code at close points.
"""

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from fgpvae.errors import UserError, require
from fgpvae.models import Model, Posterior
from fgpvae.networks.moving import MARGIN, MovingDecoder
from fgpvae.networks.paper import UpConv
from fgpvae.networks.standard import AngleEncoder, Decoder, ProductDecoder

MAX_HARMONICS = 256
POINTS = 64  # points of a table per length scale: linear interpolation errs by about 3e-5
MOST_POINTS = 2049
NEGLIGIBLE = 1e-7  # share of the largest coefficient; harmonics with smaller ones only are not sent

_networks: "WeakKeyDictionary[Model, tuple[int, Network]]" = WeakKeyDictionary()


@dataclass(frozen=True)
class Network:
    """A decoder as the browser gets it: a JSON description of its layers, then their weights."""

    id: str  # changes with the weights
    blob: bytes = field(repr=False)


@dataclass(frozen=True)
class Scene:
    """Posterior of one digit given some of its views, as the browser gets it."""

    network: Network
    code: np.ndarray  # [inputs, 2 H + 1] on 1, cos(k f w), sin(k f w); a table on a line
    frequency: float  # f, 1 unless the kernel's period is not 2π
    variance: np.ndarray | None  # [2 V + 1] posterior over prior variance, mean of local channels
    styles: np.ndarray  # [G] which inputs are the style
    own: np.ndarray  # [G] the digit's own style
    angles: np.ndarray  # [Q] radians, of the views
    observed: np.ndarray  # [Q] bool
    line: bool = False  # whether w is a place from -1 to 1

    def at(self, w: float | np.ndarray, style: np.ndarray | None = None) -> np.ndarray:
        """The decoder's input [..., inputs] at angles [...], as the browser computes it."""
        code = self._curves(self.code, np.asarray(w, dtype=np.float64))
        if style is not None:
            code[..., self.styles] = style
        return code

    def unknown(self, w: float | np.ndarray) -> np.ndarray:
        """Posterior variance as a share of the prior variance, at angles [...]."""
        w = np.asarray(w, dtype=np.float64)
        if self.variance is None:
            return np.zeros_like(w)
        return np.clip(self._curves(self.variance[None], w)[..., 0], 0, 1)

    def _curves(self, values: np.ndarray, w: np.ndarray) -> np.ndarray:
        """Curves [inputs, ...] at places [...] -> [..., inputs]."""
        if self.line:  # values on an even grid from -1 to 1
            grid = np.linspace(-1, 1, values.shape[1])
            return np.stack([np.interp(w, grid, row) for row in values], -1)
        phase = (w * self.frequency)[..., None] * np.arange(1, values.shape[1] // 2 + 1)
        return np.concatenate([np.ones((*w.shape, 1)), np.cos(phase), np.sin(phase)], -1) @ values.T


@torch.no_grad()
def scene(model: Model, posterior: Posterior, angles: np.ndarray, observed: np.ndarray) -> Scene:
    """The posterior of one digit, whose views at angles [Q] radians are `observed` [Q] or not."""
    harmonics, period = model.harmonics(), model.config.period
    if harmonics is None:
        points = round(2 * POINTS / model.config.length_scale) + 1
        grid = np.linspace(-1, 1, min(max(points, 3), MOST_POINTS))
    else:
        # the variance has twice the harmonics of the mean
        count = 4 * min(harmonics, MAX_HARMONICS) + 4
        grid = np.arange(count) * (period / count)

    def sent(values: np.ndarray) -> np.ndarray:
        """Values [N, inputs] on the grid -> a table [inputs, N] or a series [inputs, 2 H + 1]."""
        if harmonics is None:
            return values.T
        transform = np.fft.rfft(values, axis=0) / len(values)  # [N / 2 + 1, inputs]
        size = np.abs(transform).max(-1)
        last = int(np.flatnonzero(size > NEGLIGIBLE * max(size.max(), 1e-30)).max(initial=0))
        waves = 2 * transform[1 : min(last, (len(values) - 1) // 2) + 1]
        # a cos + b sin, with transform = (a - i b) / 2
        return np.concatenate([transform[:1].real, waves.real, -waves.imag]).T

    code, variance = sent(posterior.mean(grid[None])[0]), None
    if model.tells_certainty:
        variance = sent(posterior.unknown(grid[None])[0][:, None])[0]
    finite = np.isfinite(code).all() and (variance is None or np.isfinite(variance).all())
    require(finite, "The posterior of this digit has numbers that are not finite.")
    styles = np.asarray(model.styles, dtype=int)
    return Scene(
        network=network(model),
        code=code,
        frequency=math.tau / period,
        variance=variance,
        styles=styles,
        own=code[styles, 0],
        angles=angles,
        observed=observed,
        line=harmonics is None,
    )


def network(model: Model) -> Network:
    """The decoder of a model, packed once until its weights change."""
    version = sum(each._version for each in (*model.parameters(), *model.buffers()))
    packed, found = _networks.get(model, (-1, None))
    if found is None or packed != version:
        found = pack(model.get_submodule("decoder"), model.config.network.shape)
        _networks[model] = version, found
    return found


def pack(decoder: nn.Module, shape: tuple[int, int, int]) -> Network:
    """Blob: header length as 4 bytes, JSON header padded to a multiple of 4, weights.

    Everything little-endian; an array is named in the header by its offset and length in numbers.
    Weights are float32, or float16 if that loses nothing, as for most shipped models.
    """
    arrays: list[np.ndarray] = []

    def store(tensor: Tensor) -> list[int]:
        offset = sum(map(len, arrays))
        arrays.append(tensor.detach().float().contiguous().numpy().reshape(-1).astype("<f4"))
        return [offset, len(arrays[-1])]

    with torch.no_grad():
        header: dict[str, Any] = {"shape": shape, "layers": layers(decoder, store)}
    numbers = np.concatenate(arrays)
    with np.errstate(over="ignore"):
        halves = numbers.astype("<f2")
    header["half"] = bool((halves == numbers).all())
    weights = (halves if header["half"] else numbers).tobytes()
    text = json.dumps(header, separators=(",", ":")).encode()
    header["id"] = hashlib.sha256(text + weights).hexdigest()[:20]
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 4)
    return Network(header["id"], len(text).to_bytes(4, "little") + text + weights)


Store = Callable[[Tensor], list[int]]


def layers(module: nn.Module, store: Store) -> list[dict[str, Any]]:
    """The operations in the browser that correspond to `module`."""
    match module:
        case nn.Sequential():
            return [operation for child in module for operation in layers(child, store)]
        case nn.Dropout() | nn.Flatten() | nn.Identity():
            return []
        case nn.ELU() | nn.Tanh() | nn.SiLU():
            return [{"op": type(module).__name__.lower()}]
        case nn.Unflatten():
            return [{"op": "map", "shape": list(module.unflattened_size)}]
        case nn.Linear():
            dense = {"op": "dense", "inputs": module.in_features, "outputs": module.out_features}
            return [dense | {"weight": store(module.weight), "bias": store(module.bias)}]
        case UpConv():
            weight, crop = module.transposed_weight(), 0 if module.same else 1
            return [_double(weight, module.bias, store, crop), {"op": "elu"}]
        case nn.ConvTranspose2d(kernel_size=(4, 4), stride=(2, 2), padding=(1, 1)):
            return [_double(module.weight, module.bias, store, crop=0)]
        case Decoder():
            gate = [{"op": "gate", "local": module.local}] if module.local else []
            return gate + layers(module.layers, store)
        case ProductDecoder():
            branches = {"style": layers(module.style, store), "turn": layers(module.turn, store)}
            product = {"op": "product", "local": module.channels, **branches}
            return [product, *layers(module.image, store)]
        case AngleEncoder(residual=nn.Identity()):
            parts = {"first": module.first, "local": module.local, "style": module.style}
            angle = {"op": "angle", "harmonics": int(module.modes.max()) + 1}
            return [angle | {name: layers(part, store) for name, part in parts.items()}]
        case MovingDecoder(place=place):  # p = centre + exp(log_reach) tanh z
            move = {"op": "move", "shape": [*module.shape], "margin": MARGIN}
            move |= {"centre": store(place.centre), "log_reach": store(place.log_reach)}
            return [move | {"look": layers(module.look, store)}]
    raise UserError(f"The live view cannot run a layer of type {type(module).__name__}.")


def _double(weight: Tensor, bias: Tensor | None, store: Store, crop: int) -> dict[str, Any]:
    """A transposed convolution [in, out, 4, 4] of stride 2 as four 2x2 convolutions."""
    # large row 2m + p receives small rows m + p - 1 and m + p through these taps
    taps = torch.tensor([[3, 1], [2, 0]])
    phases = weight[:, :, taps[:, :, None, None], taps]  # [in, out, p, u, q, v]
    inputs, outputs = weight.shape[:2]
    bias = torch.zeros(outputs) if bias is None else bias
    operation = {"op": "double", "inputs": inputs, "outputs": outputs, "crop": crop}
    return operation | {"weight": store(phases.permute(2, 4, 1, 0, 3, 5)), "bias": store(bias)}
