"""Figures that pages share: heat maps and small multiples.

Text and lines take the theme's colour; an angle has its own (`ui.shell.palette`), local channels
are warm, global ones cool, truth is grey.
"""

import base64
import colorsys
import math
from collections.abc import Sequence
from dataclasses import replace
from html import escape

import numpy as np

from ui.charts.plot import Axis, Plot
from ui.components.pictures import address
from ui.shell import palette

GREY = "#7a8194"  # for text in pictures, which do not know the theme; legible on both grounds
TURN = Axis(ticks=(0, 90, 180, 270, 360), labels=("0°", "90°", "180°", "270°", "360°"))


def faded(colour: str, alpha: float) -> str:
    """#rrggbb as rgba."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def several(count: int) -> list[str]:
    """Colours to tell things apart that have no order; neighbours differ most."""
    hues = [(0.58 + index * 0.618034) % 1 for index in range(count)]
    shades = [0.5 + 0.14 * (index % 3 - 1) for index in range(count)]
    rgb = [colorsys.hls_to_rgb(hue, shade, 0.5) for hue, shade in zip(hues, shades, strict=True)]
    return ["#" + "".join(f"{round(255 * part):02x}" for part in colour) for colour in rgb]


def heatmap(
    values: np.ndarray, names: Sequence[str], colour: str, what: str, height: int = 300
) -> Plot:
    """A square matrix of values from 0, no colour, to 1, full colour; its first row on top."""
    n = len(values)
    ticks = list(range(0, n, max(n // 4, 1)))
    x = Axis("", -0.5, n - 0.5, ticks=ticks, labels=[names[k] for k in ticks])
    y = replace(x, low=n - 0.5, high=-0.5)
    made = Plot(f"Correlations, {what}", x, y, height, square=True)
    return made.cells(values, names, colour)


# --- pictures ---------------------------------------------------------------------------------


def matrix(values: np.ndarray, colour: str, alt: str, widest: int = 360) -> str:
    """A matrix of values from 0 to 1 as a picture in HTML, from no colour to full colour."""
    strength = np.clip(np.nan_to_num(values), 0, 1)
    rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    pixels = np.empty((*strength.shape, 4), np.uint8)
    pixels[..., :3] = rgb
    pixels[..., 3] = np.rint(8 + 247 * strength)
    return (
        f'<img src="{address(pixels)}" alt="{escape(alt)}" style="width:100%;max-width:{widest}px;'
        'aspect-ratio:1;display:block;margin:0 auto;image-rendering:pixelated;border-radius:6px">'
    )


# --- small multiples --------------------------------------------------------------------------

WIDTH, HEIGHT, LEFT, BOTTOM = 196, 122, 24, 17


def channel(
    name: str,
    colour: str,
    degrees: np.ndarray,
    mean: np.ndarray | None,
    sd: np.ndarray | None,
    at: np.ndarray,
    estimate: np.ndarray,
    error: np.ndarray,
    given: np.ndarray,
    limits: tuple[float, float],
    span: tuple[float, float] | None = None,
    hues: Sequence[str] | None = None,
) -> str:
    """One channel over the angle as SVG: posterior mean and band, each view's estimate and error.

    Bands and bars are two standard deviations. Views that were not given are hollow. With a `span`
    the axis has these ends instead of a turn, and each view one of `hues`.
    """
    low, high = limits
    left, right = span or (0.0, 360.0)

    def x(value: float) -> float:
        return LEFT + (value - left) / (right - left) * (WIDTH - LEFT - 6)

    def y(value: float) -> float:
        return 6 + (high - value) / (high - low) * (HEIGHT - BOTTOM - 10)

    parts = [
        f'<line x1="{LEFT}" x2="{WIDTH - 6}" y1="{y(0):.1f}" y2="{y(0):.1f}" '
        'stroke="currentColor" opacity=".35"/>'
    ]
    if mean is not None and sd is not None:
        upper = [(x(d), y(m + 2 * s)) for d, m, s in zip(degrees, mean, sd, strict=True)]
        lower = [(x(d), y(m - 2 * s)) for d, m, s in zip(degrees, mean, sd, strict=True)]
        line = [(x(d), y(m)) for d, m in zip(degrees, mean, strict=True)]
        parts += [
            f'<polygon points="{_path(upper + lower[::-1])}" fill="{colour}" opacity=".2"/>',
            f'<polyline points="{_path(line)}" fill="none" stroke="{colour}" stroke-width="1.8"/>',
        ]
    hues = hues or palette.angle_colours(np.deg2rad(at))
    for d, value, spread, seen, hue in zip(at, estimate, error, given, hues, strict=True):
        fill = f'fill="{hue}"' if seen else f'fill="none" stroke="{hue}"'
        shade = 1 if seen else 0.75
        parts.append(
            f'<g opacity="{shade}"><line x1="{x(d):.1f}" x2="{x(d):.1f}" '
            f'y1="{y(value - 2 * spread):.1f}" y2="{y(value + 2 * spread):.1f}" stroke="{hue}" '
            f'stroke-width="1.4"/><circle cx="{x(d):.1f}" cy="{y(value):.1f}" r="3" {fill}/></g>'
        )
    for degree in () if span else (0, 90, 180, 270, 360):
        text, anchor = f"{degree}°" if degree % 180 == 0 else "·", "middle"
        parts.append(_text(x(degree), HEIGHT - 3, text, "end" if degree == 360 else anchor))
    for end, anchor in zip(span or (), ("start", "end"), strict=False):
        places = 1 - math.floor(math.log10(right - left))
        parts.append(_text(x(end), HEIGHT - 3, f"{round(end, places):g}", anchor))
    for value in (low, high):
        rounded = f"{value:.1f}".rstrip("0").rstrip(".")
        parts.append(_text(LEFT - 4, y(value) + 4, rounded, "end"))
    title = f"{name}: posterior over the {'view' if span else 'angle'}"
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" color="{GREY}">{"".join(parts)}</svg>'
    )
    encoded = base64.b64encode(drawn.encode()).decode()
    return (
        f'<figure style="margin:0"><figcaption style="font-size:.8rem;opacity:.75">{escape(name)}'
        f'</figcaption><img src="data:image/svg+xml;base64,{encoded}" alt="{escape(title)}" '
        'style="width:100%;display:block"></figure>'
    )


def multiples(figures: Sequence[str], narrowest: int = 140) -> str:
    """Small figures side by side: four in a row, and fewer where there is less room."""
    return (
        '<div style="display:grid;gap:.9rem 1.2rem;grid-template-columns:'
        f'repeat(auto-fill, minmax(max({narrowest}px, 22%), 1fr))">{"".join(figures)}</div>'
    )


def _path(points: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{px:.1f},{py:.1f}" for px, py in points)


def _text(x: float, y: float, text: str, anchor: str = "middle") -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="11" '
        f'fill="currentColor">{text}</text>'
    )
