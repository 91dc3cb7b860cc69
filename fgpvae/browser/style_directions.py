"""Style sliders: directions of the global channels, fitted to training digits.

Four properties of the picture (slant, stroke weight, width, height) get a direction each, by a
regression of styles on what was measured. The channels themselves follow, the strongest first.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fgpvae.browser.bundle import packed, rounded
from fgpvae.data import Views
from fgpvae.evaluation import latents
from fgpvae.models import Model

Array = NDArray[np.float64]

PROPERTIES = ("slant", "stroke weight", "width", "height")
CLEAR = 0.25  # minimum change of the property by a step, as a share of its natural spread
TRIED = 12  # digits on which the decoder checks a direction
SHRUNK = 0.05  # share of the mean variance added to all variances of the noise
QUANTILES = (0.005, 0.995)  # quantiles of real digits, at which sliders end

HINT = "The global channels: one Gaussian for each digit and channel, the same at every angle."


@dataclass(frozen=True, eq=False)
class Style:
    """One slider: its value is reading · style + offset, and a step of one adds the direction."""

    name: str
    direction: Array  # [G]
    reading: Array  # [G] with reading · direction = 1
    offset: float
    ends: tuple[float, float] | None  # range of the values of real digits
    effect: float = 0.0  # mean absolute change of a pixel from one standard deviation of digits
    channel: int | None = None  # 0..G-1, if it is a global channel alone
    digits: int = 0  # number of digits that it was fitted to

    def value(self, style: Array) -> Array:
        """Values [...] of styles [..., G]."""
        return style @ self.reading + self.offset


def channel(g: int, count: int, name: str) -> Style:
    """The slider of one of `count` global channels, without data on real digits."""
    unit = np.eye(count)[g]
    return Style(name, unit, unit, 0.0, None, channel=g)


@torch.no_grad()
def style_directions(model: Model, views: Views, own: Array) -> list[Style]:
    """Sliders fitted to digits whose first views are upright: named ones, then the channels.

    A direction is named only if a step along it increases the property in decoded pictures. `own`
    [P, G] are the styles of these digits.
    """
    some = views[latents.evenly(len(views), TRIED)]
    codes = model.infer(some.images, some.angles, some.observed).mean(some.angles[:, :1])[:, 0]
    measured = properties(views.images[:, 0]).numpy()
    natural = _within(measured, views.labels.numpy()).std(0)
    named = []
    for k, found in enumerate(_regressed(own, measured, views.labels.numpy())):
        step = torch.zeros(codes.shape[-1], dtype=codes.dtype)
        step[list(model.styles)] = torch.as_tensor(found.direction, dtype=codes.dtype)
        more, less = (model.decode(codes + sign * step) for sign in (1, -1))
        moved = (properties(more) - properties(less)).mean(0)[k] / 2 / natural[k]
        if moved >= CLEAR:
            named.append(_ended(found, own, float((more - less).abs().mean()) / 2))
    named.sort(key=lambda style: -style.effect)
    # half of them suffice to find the strong channels, with hundreds of pictures less
    return named + channels(model, codes[::2].double().numpy(), own)


def channels(model: Model, codes: Array, own: Array) -> list[Style]:
    """Sliders of the global channels, those that change pictures of `codes` [N, L] most first.

    `own` [P, G] are the styles of real digits, which set the range of each channel.
    """
    effect = latents.effects(model, codes, model.styles) * own.std(0)
    ranked = np.argsort(-effect, kind="stable").tolist()
    return [
        _ended(channel(g, own.shape[1], f"style {rank}"), own, float(effect[g]))
        for rank, g in enumerate(ranked, start=1)
    ]


def _ended(style: Style, own: Array, effect: float) -> Style:
    low, high = np.quantile(style.value(own), QUANTILES).tolist()
    return replace(style, ends=(low, high), effect=effect, digits=len(own))


def _regressed(own: Array, measured: Array, labels: NDArray[np.int64]) -> list[Style]:
    """A direction for each measured property [P, K] of digits with styles `own` [P, G].

    Within classes, styles = B properties + noise, with properties in standard deviations: column k
    of B changes property k and leaves the others. What a style has of each property is read by
    generalised least squares, (Bᵀ S⁻¹ B)⁻¹ Bᵀ S⁻¹, with the covariance S of the noise, a
    little towards a sphere: there may be fewer digits than channels.
    """
    inside, style = _within(measured, labels), _within(own, labels)
    scaled = inside / np.maximum(inside.std(0), 1e-12)
    weights = np.linalg.lstsq(scaled, style, rcond=None)[0]  # [K, G], Bᵀ
    left = style - scaled @ weights
    noise = left.T @ left / len(left)
    noise += (SHRUNK * np.trace(noise) + 1e-9) / len(noise) * np.eye(len(noise))
    half = weights @ np.linalg.inv(noise)  # Bᵀ S⁻¹
    reading = np.linalg.pinv(half @ weights.T) @ half  # [K, G]
    offset = -reading @ own.mean(0)
    parts = zip(PROPERTIES, weights, reading, offset.tolist(), strict=True)
    return [Style(*part, None) for part in parts]


def _within(values: Array, labels: NDArray[np.int64]) -> Array:
    """Values [P, K] less the mean of their class."""
    less = np.empty_like(values)
    for label in np.unique(labels):
        rows = labels == label
        less[rows] = values[rows] - values[rows].mean(0)
    return less


def properties(images: Tensor) -> Tensor:
    """Slant, ink, width and height of images [N, H, W] by their moments -> [N, 4]."""
    ink = images.double().clamp(0, 1)
    mass = ink.sum((1, 2)).clamp_min(1e-6)
    y, x = (torch.arange(side, dtype=torch.float64) for side in ink.shape[1:])
    rows, columns = ink.sum(2), ink.sum(1)
    dy = y - ((rows @ y) / mass)[:, None]  # [N, H]
    dx = x - ((columns @ x) / mass)[:, None]
    var_y = (rows * dy**2).sum(1) / mass + 1e-6
    var_x = (columns * dx**2).sum(1) / mass + 1e-6
    cov = torch.einsum("nyx,ny,nx->n", ink, dy, dx) / mass
    # the slope of the digit's axis; width is what is left of it after the slant is taken out
    slant = -cov / var_y
    width = (var_x - cov**2 / var_y).clamp_min(1e-9).sqrt()
    return torch.stack([slant, mass, width, var_y.sqrt()], -1)


def slider_data(
    own: Array,
    key: str,
    styles: Sequence[Style] | None,
    morph: Sequence[float] | None,
    likely: latents.Styles | None,
    lead: str,
    thing: str,
) -> dict[str, Any] | None:
    """Data of a digit's sliders for the browser; None without a style.

    An empty list of `styles` means no sliders, None one per channel. `morph` is another digit's
    style, the end of the morph slider; `likely` is the source of random styles.
    """
    count = len(own)
    if styles is None:
        styles = [channel(g, count, f"style {g + 1}") for g in range(count)]
    if not (count and styles):
        return None
    fitted, note = max(style.digits for style in styles), ""  # training digits
    if fitted:
        note = f"Each slider covers 99 % of {fitted} training {thing}s."
        if named := ", ".join(style.name for style in styles if style.channel is None):
            note = (
                f"The directions for {named} were fitted by regression to what was measured in "
                f"the pictures of {fitted} training {thing}s. The others are single channels, the "
                f"strongest first. {note}"
            )
    source = None
    if likely and likely.factor.shape[1] == count:
        source = {
            "mean": rounded(likely.mean),
            "rows": len(likely.factor),
            "factor": packed(likely.factor),
            "near": likely.near,
        }
    return {
        "key": key,
        "styles": [_row(style) for style in styles],
        "own": rounded(own),
        "lead": lead,
        "hint": HINT,
        "note": note,
        "morph": None if morph is None else {"name": "towards B", "style": rounded(morph)},
        "likely": source,
        "thing": thing,
    }


def _row(style: Style) -> dict[str, Any]:
    """Data of one slider."""
    row: dict[str, Any] = {"name": style.name, "ends": style.ends and rounded(style.ends)}
    if style.channel is not None:
        hint = f"Global channel {style.channel + 1} of {len(style.direction)}"
        return row | {"channel": style.channel, "hint": hint}
    return row | {
        "direction": rounded(style.direction),
        "reading": rounded(style.reading),
        "offset": style.offset,
        "hint": f"To the right: more {style.name}, in standard deviations of digits",
    }
