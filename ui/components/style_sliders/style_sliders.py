"""Sliders for the style of a digit, which draw it anew in the browser while they move."""

from collections.abc import Sequence
from dataclasses import dataclass

from fgpvae.latents import Styles
from fgpvae.scenes import Scene, Style
from ui.components.shared import Component, rounded

_component = Component(
    "style_sliders",
    "style_sliders/style_sliders.js",
    "style_sliders/style_sliders.html",
    ("shared/common.css", "style_sliders/style_sliders.css"),
)
HINT = "The global latents: one Gaussian a digit and channel, whatever the angle."


@dataclass(frozen=True)
class Morph:
    """Another digit's style, towards which a slider leads."""

    name: str
    style: Sequence[float]


def style_sliders(
    scene: Scene,
    key: str,
    styles: Sequence[Style] | None,
    morph: Morph | None,
    likely: Styles | None,
    lead: str,
    thing: str,
) -> None:
    if styles is None:
        styles = [Style(g, f"style {g + 1}", 0.0) for g in range(len(scene.styles))]
    rows = [
        {
            "channel": style.channel,
            "name": style.name,
            "hint": f"Global channel {style.channel + 1} of {len(scene.styles)}",
        }
        for style in styles
    ]
    other = None if morph is None else {"name": morph.name, "style": rounded(morph.style)}
    data = {"key": key, "styles": rows, "own": rounded(scene.own), "lead": lead, "hint": HINT}
    drawn = None
    if likely is not None and likely.factor.shape[1] == len(scene.styles):
        factor = [[float(f"{value:.4g}") for value in row] for row in likely.factor]
        drawn = {"mean": rounded(likely.mean), "factor": factor, "digits": likely.digits}
    _component(key=f"{key}-styles", data=data | {"morph": other, "likely": drawn, "thing": thing})
