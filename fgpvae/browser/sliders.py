"""Data of the style sliders for the browser."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fgpvae.browser.bundle import packed, rounded

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from fgpvae.browser.style_directions import Style
    from fgpvae.evaluation.latents import Styles

HINT = "The global channels: one Gaussian for each digit and channel, the same at every angle."


@dataclass(frozen=True)
class Morph:
    """Another digit's style, the end of the morph slider."""

    name: str
    style: Sequence[float]


def slider_data(
    own: NDArray[Any],
    key: str,
    styles: Sequence[Style] | None,
    morph: Morph | None,
    likely: Styles | None,
    lead: str,
    thing: str,
) -> dict[str, Any] | None:
    """Data of a digit's sliders for the browser; None without a style.

    An empty list of `styles` means no sliders, None one per channel.
    """
    count = len(own)
    if not count or (styles is not None and not styles):
        return None
    if styles is None:
        from fgpvae.browser.style_directions import channel  # the dial alone does not load torch

        styles = [channel(g, count, f"style {g + 1}") for g in range(count)]
    return {
        "key": key,
        "styles": [_row(style) for style in styles],
        "own": rounded(own),
        "lead": lead,
        "hint": HINT,
        "note": _note(styles, thing),
        "morph": None if morph is None else {"name": morph.name, "style": rounded(morph.style)},
        "likely": _drawn(likely) if likely and likely.factor.shape[1] == count else None,
        "thing": thing,
    }


@lru_cache(maxsize=64)
def _drawn(likely: Styles) -> dict[str, Any]:
    """The source of random styles."""
    return {
        "mean": rounded(likely.mean),
        "rows": len(likely.factor),
        "factor": packed(likely.factor),
        "near": likely.near,
    }


@lru_cache(maxsize=4096)
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


def _note(styles: Sequence[Style], thing: str) -> str:
    """A sentence on what the sliders were fitted to."""
    ended = [style for style in styles if style.ends]
    if not ended:
        return ""
    where = f"Each slider covers 99 % of {ended[0].digits} training {thing}s."
    named = [style.name for style in styles if style.channel is None]
    if not named:
        return where
    return (
        f"The directions for {', '.join(named)} were fitted by regression to what was measured "
        f"in the pictures of {ended[0].digits} training {thing}s. The others are single "
        f"channels, the strongest first. {where}"
    )
