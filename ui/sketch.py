"""Small drawings in SVG that take the colours of the theme."""

from collections.abc import Sequence
from functools import cache
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from ui import colours, pictures

INNER, LENGTH = 48, 38  # radius of the ring of beliefs, and of the likeliest angle beyond it

CSS = """
:host { display: block; }
svg { display: block; width: 100%; height: auto; color: var(--st-text-color, #1b1f2a); }
text { font: 13px var(--st-font, system-ui, sans-serif); fill: currentColor; opacity: 0.72; }
.line { fill: none; stroke: currentColor; }
.faint { stroke: currentColor; opacity: 0.16; }
.ink { fill: currentColor; }
.card { fill: var(--st-secondary-background-color, #fff); }
"""
JS = """
const drawn = new WeakMap();
export default function ({ data, parentElement }) {
  const box = parentElement.querySelector(".sketch");
  if (drawn.get(box) !== data.svg) box.innerHTML = data.svg;
  drawn.set(box, data.svg);
  box.style.maxWidth = data.width ? `${data.width}px` : "";
  box.style.margin = "0 auto";
}
"""


def show(svg: str, key: str, width: int | None = None) -> None:
    """Show a drawing, at most `width` pixels wide."""
    _component()(key=key, data={"svg": svg, "width": width})


def belief_ring(belief: np.ndarray, image: np.ndarray, chosen: float) -> str:
    """A posterior [G] over the angle as petals around a picture; a dot where it is taken to be.

    Angles run as on the dial: counter-clockwise, from the top.
    """
    step = 2 * np.pi / len(belief)
    outer = INNER + LENGTH * belief / max(belief.max(), 1e-12)
    petals = []
    for index, (here, there) in enumerate(zip(outer, np.roll(outer, -1), strict=True)):
        if max(here, there) < INNER + 0.1:
            continue
        w, following = index * step, (index + 1) * step
        corners = (_at(INNER, w), _at(INNER, following), _at(there, following), _at(here, w))
        path = " ".join(f"{x:.2f},{y:.2f}" for x, y in corners)
        colour = colours.angle_colour(w + step / 2)
        petals.append(
            f'<polygon points="{path}" fill="{colour}" stroke="{colour}" stroke-width="0.4"/>'
        )
    x, y = _at(INNER - 4, chosen)
    degrees = np.rad2deg(chosen) % 360
    label = f"How likely each angle is; taken to be {degrees:.0f} degrees"
    return (
        f'<svg viewBox="-90 -90 180 180" role="img" aria-label="{escape(label)}">'
        '<clipPath id="disc"><circle r="38"/></clipPath><circle r="38" fill="#000"/>'
        f'<image href="{pictures.address(image, 4)}" x="-38" y="-38" width="76" height="76" '
        f'clip-path="url(#disc)"/><circle class="line faint" r="{INNER}" stroke-width="1"/>'
        f'{"".join(petals)}<circle class="ink" cx="{x:.2f}" cy="{y:.2f}" r="4.5"/></svg>'
    )


def falling(values: Sequence[float], seen: int) -> str:
    """What is left of the uncertainty with 1, 2, ... views; up to `seen` they are there."""
    width, height, left, top, bottom = 440, 150, 44, 12, 30
    high = max(1e-6, max(values))

    def at(index: int) -> tuple[float, float]:
        share = index / max(len(values) - 1, 1)
        return left + 14 + share * (width - left - 32), (
            top + (1 - values[index] / high) * (height - top - bottom)
        )

    base = height - bottom
    points = [at(index) for index in range(len(values))]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    known = " ".join(f"{x:.1f},{y:.1f}" for x, y in points[:seen])
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="{"ink" if index < seen else "card line"}" '
        f'stroke-width="1.6"><title>{index + 1}: {values[index]:.0%}</title></circle>'
        for index, (x, y) in enumerate(points)
    )
    numbers = "".join(
        f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle">{index + 1}</text>'
        for index, (x, _) in enumerate(points)
    )
    label = f"Uncertainty left with {seen} of {len(values)} views: {values[seen - 1]:.0%}"
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">'
        f'<line class="faint" x1="{left}" x2="{width - 6}" y1="{base}" y2="{base}"/>'
        f'<text x="{left - 6}" y="{top + 5}" text-anchor="end">{high:.0%}</text>'
        f'<text x="{left - 6}" y="{base + 5}" text-anchor="end">0%</text>'
        f'<polyline class="line" points="{path}" stroke-width="1.6" stroke-dasharray="2 5" '
        f'opacity="0.5"/><polyline class="line" points="{known}" stroke-width="2"/>'
        f"{dots}{numbers}</svg>"
    )


def _at(radius: float, w: float) -> tuple[float, float]:
    return -radius * float(np.sin(w)), -radius * float(np.cos(w))


@cache
def _component() -> Any:
    return st.components.v2.component(
        "fgpvae_sketch", html='<div class="sketch"></div>', css=CSS, js=JS
    )
