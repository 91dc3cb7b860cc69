"""Sliders for the style of a digit, which draw it anew in the browser while they move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ui.components.shared import Component, packed, rounded

if TYPE_CHECKING:
    from fgpvae.latents import Styles
    from fgpvae.scenes import Scene
    from fgpvae.style_directions import Style

_component = Component(
    "style_sliders",
    "style_sliders/style_sliders.js",
    "style_sliders/style_sliders.html",
    ("shared/common.css", "style_sliders/style_sliders.css"),
)
HINT = "The global channels: one Gaussian for each digit and channel, the same at every angle."


@dataclass(frozen=True)
class Morph:
    """Another digit's style, towards which a slider leads."""

    name: str
    style: Sequence[float]


def style_sliders(data: Mapping[str, Any]) -> None:
    """Show sliders as `slider_data` describes them."""
    _component(key=f"{data['key']}.styles", data=data)


def slider_data(
    scene: Scene,
    key: str,
    styles: Sequence[Style] | None,
    morph: Morph | None,
    likely: Styles | None,
    lead: str,
    thing: str,
) -> dict[str, Any] | None:
    """The sliders of a digit as the browser gets them; None without a style to move."""
    count = len(scene.styles)
    if not count:
        return None
    if styles is None:
        from fgpvae.style_directions import channel  # the dial alone does not load torch

        styles = [channel(g, count, f"style {g + 1}") for g in range(count)]
    return {
        "key": key,
        "styles": [_row(style) for style in styles],
        "own": rounded(scene.own),
        "lead": lead,
        "hint": HINT,
        "note": _note(styles, thing),
        "morph": None if morph is None else {"name": morph.name, "style": rounded(morph.style)},
        "likely": _drawn(likely) if likely and likely.factor.shape[1] == count else None,
        "thing": thing,
    }


@lru_cache(maxsize=64)
def _drawn(likely: Styles) -> dict[str, Any]:
    """Where a random style comes from."""
    return {
        "mean": rounded(likely.mean),
        "rows": len(likely.factor),
        "factor": packed(likely.factor),
        "near": likely.near,
    }


@lru_cache(maxsize=4096)
def _row(style: Style) -> dict[str, Any]:
    """One slider as the browser gets it."""
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
    """What was fitted, and to what."""
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
