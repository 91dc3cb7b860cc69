"""Figures that pages share: Plotly charts on a transparent ground, and pictures in a grid.

Text and lines take the theme's colour; an angle has its own (`ui.colours`), local channels are
warm, global ones cool, truth is grey.
"""

import base64
import colorsys
import io
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st
from PIL import Image

from ui import colours

TRANSPARENT = "rgba(0,0,0,0)"
HAIRLINE = "rgba(128,136,152,0.28)"
FAINT = "rgba(128,136,152,0.14)"
GREY = "#7a8194"  # for text in pictures, which do not know the theme; legible on both grounds
STATIC = {"displayModeBar": False, "scrollZoom": False, "doubleClick": False}


def dark() -> bool:
    return st.context.theme.type == "dark"


def ink() -> str:
    """The theme's text colour, for what Plotly does not colour by itself."""
    return "#e8eaf0" if dark() else "#1b1f2a"


def faded(colour: str, alpha: float) -> str:
    """#rrggbb as rgba."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def figure(*traces: Any, height: int = 300, **layout: Any) -> go.Figure:
    """A quiet figure: no ground, small margins, hairline grid, no legend."""
    made = go.Figure(list(traces))
    made.update_layout(
        height=height,
        margin={"l": 8, "r": 8, "t": 8, "b": 8},
        paper_bgcolor=TRANSPARENT,
        plot_bgcolor=TRANSPARENT,
        showlegend=False,
        dragmode=False,
        hoverlabel={"font_size": 13},
        font_size=13,
    )
    for axis in (made.update_xaxes, made.update_yaxes):
        axis(gridcolor=FAINT, zeroline=False, linecolor=HAIRLINE, automargin=True)
    made.update_layout(**layout)
    return made


def show(made: go.Figure, key: str | None = None, **options: Any) -> Any:
    """`st.plotly_chart` in the width of its container, without a tool bar."""
    return st.plotly_chart(made, width="stretch", key=key, config=STATIC, **options)


def angle_axis(made: go.Figure, title: str | None = "angle") -> go.Figure:
    """An x axis from 0 to 360 degrees (values in degrees)."""
    marks = [0, 90, 180, 270, 360]
    made.update_xaxes(
        range=[-4, 364], tickvals=marks, ticktext=[f"{mark}°" for mark in marks], title=title
    )
    return made


def several(count: int) -> list[str]:
    """Colours to tell things apart that have no order; neighbours differ most."""
    hues = [(0.58 + index * 0.618034) % 1 for index in range(count)]
    shades = [0.5 + 0.14 * (index % 3 - 1) for index in range(count)]
    rgb = [colorsys.hls_to_rgb(hue, shade, 0.5) for hue, shade in zip(hues, shades, strict=True)]
    return ["#" + "".join(f"{round(255 * part):02x}" for part in colour) for colour in rgb]


def scatter(
    points: np.ndarray,
    colour: Sequence[str],
    shares: np.ndarray,
    hover: Sequence[str],
    chosen: tuple[int, int] | None = None,
    spatial: bool = False,
    height: int = 420,
) -> go.Figure:
    """Views [P, Q, 3] as points, those of a digit joined by a line; one digit stands out.

    `colour` and `hover` are for the P Q points, digit after digit; `chosen` is a digit and a view.
    """
    Q = points.shape[1]
    dimensions = 3 if spatial else 2
    flat = points[..., :dimensions].reshape(-1, dimensions)
    standing = chosen is not None

    traces = [
        _points(
            _loops(points[..., :dimensions]),
            mode="lines",
            # lines in space have no transparency
            line={"color": _thread() if spatial else FAINT if standing else HAIRLINE, "width": 1},
            hoverinfo="skip",
        ),
        _points(
            flat,
            mode="markers",
            marker={
                "color": list(colour),
                "size": 4 if spatial else 7,
                "opacity": 0.55 if standing else 0.9,
                "line": {"width": 0},
            },
            text=list(hover),
            hovertemplate="%{text}<extra></extra>",
            **(
                {}
                if spatial
                else {name: {"marker": {"opacity": 0.55}} for name in ("selected", "unselected")}
            ),
        ),
    ]
    if chosen is not None:
        digit, view = chosen
        loop = points[digit, :, :dimensions]
        mine = list(colour[digit * Q : digit * Q + Q])
        around = {"color": ink(), "width": 1}
        traces += [
            _points(
                np.concatenate([loop, loop[:1]]),
                mode="lines",
                line={"color": ink(), "width": 3 if spatial else 1.5},
                hoverinfo="skip",
            ),
            _points(
                loop,
                mode="markers",
                marker={"color": mine, "size": 6 if spatial else 10, "line": around},
                hoverinfo="skip",
            ),
            _points(
                loop[view : view + 1],
                mode="markers",
                marker={
                    "color": mine[view],
                    "size": 11 if spatial else 18,
                    "line": {"color": ink(), "width": 2 if spatial else 2.5},
                },
                hoverinfo="skip",
            ),
        ]
    made = figure(*traces, height=height)
    titles = [f"component {k + 1} · {share:.0%}" for k, share in enumerate(shares)]
    plain = {"showticklabels": False, "showgrid": False}
    if spatial:
        axis = plain | {"backgroundcolor": TRANSPARENT, "showline": True, "linecolor": HAIRLINE}
        axis |= {"zeroline": False, "ticks": "", "showspikes": False}
        made.update_layout(
            scene={
                f"{name}axis": axis | {"title": {"text": title, "font": {"size": 11}}}
                for name, title in zip("xyz", titles, strict=True)
            }
            | {"aspectmode": "data", "camera": {"eye": {"x": 1.5, "y": 1.5, "z": 1.0}}},
            dragmode="turntable",
        )
        return made
    made.update_xaxes(title=titles[0], **plain)
    made.update_yaxes(title=titles[1], scaleanchor="x", **plain)
    return made


def _thread() -> str:
    return "#343b4b" if dark() else "#dcdee3"


def _points(xyz: np.ndarray, **options: Any) -> Any:
    kind = go.Scatter if xyz.shape[-1] == 2 else go.Scatter3d
    return kind(**dict(zip("xyz", xyz.T, strict=False)), **options)


def _loops(points: np.ndarray) -> np.ndarray:
    """Closed lines [P (Q + 2), D], a gap after each digit."""
    P, _, D = points.shape
    closed = np.concatenate([points, points[:, :1], np.full((P, 1, D), np.nan)], 1)
    return closed.reshape(-1, D)


def heatmap(
    values: np.ndarray,
    labels: Sequence[str],
    colour: str,
    hover: str,
    limits: tuple[float, float] = (0.0, 1.0),
    height: int = 300,
) -> go.Figure:
    """A square matrix from no colour at the lower limit to full colour at the upper."""
    made = figure(
        go.Heatmap(
            z=np.round(values, 4),
            x=list(labels),
            y=list(labels),
            zmin=limits[0],
            zmax=limits[1],
            colorscale=[(0, faded(colour, 0.04)), (1, colour)],
            xgap=1,
            ygap=1,
            hovertemplate=hover + "<extra></extra>",
            showscale=False,
        ),
        height=height,
    )
    made.update_yaxes(autorange="reversed", scaleanchor="x", constrain="domain", showgrid=False)
    made.update_xaxes(constrain="domain", showgrid=False, side="top", tickangle=0)
    return made


# --- pictures ---------------------------------------------------------------------------------


def data_url(image: np.ndarray) -> str:
    """An image [H, W] from 0 (black) to 1 (white) as the address of a PNG."""
    pixels = np.rint(255 * np.clip(np.nan_to_num(image), 0, 1)).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    return "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()


def matrix(values: np.ndarray, colour: str, alt: str, widest: int = 360) -> str:
    """A matrix of values from 0 to 1 as a picture in HTML, from no colour to full colour."""
    strength = np.clip(np.nan_to_num(values), 0, 1)
    rgb = [int(colour[i : i + 2], 16) for i in (1, 3, 5)]
    pixels = np.empty((*strength.shape, 4), np.uint8)
    pixels[..., :3] = rgb
    pixels[..., 3] = np.rint(8 + 247 * strength)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "PNG")
    address = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
    return (
        f'<img src="{address}" alt="{escape(alt)}" style="width:100%;max-width:{widest}px;'
        'aspect-ratio:1;display:block;margin:0 auto;image-rendering:pixelated;border-radius:6px">'
    )


def picture(image: np.ndarray, alt: str, size: int = 120) -> str:
    """One image as HTML."""
    return (
        f'<img src="{data_url(image)}" alt="{escape(alt)}" width="{size}" height="{size}" '
        'style="border-radius:10px;display:block">'
    )


def grid(
    rows: Sequence[tuple[str, np.ndarray]],
    columns: Sequence[str],
    bars: Sequence[str] | None = None,
    marked: int | None = None,
    cell: int = 34,
    alt: str = "pictures",
) -> str:
    """Rows of images [C, H, W] with a name each, as HTML; columns have a label and a colour bar.

    The grid takes the width it is given; where cells would get narrower than `cell` pixels, it
    scrolls sideways inside its card.
    """
    named = any(name for name, _ in rows)
    parts = []
    for name, images in rows:
        if named:
            parts.append(f'<div style="{_NAME}">{escape(name)}</div>')
        for index, image in enumerate(images):
            outline = f"outline:2px solid {colours.GLOBAL};" if index == marked else ""
            parts.append(
                f'<img src="{data_url(image)}" alt="" style="width:100%;aspect-ratio:1;'
                f'border-radius:6px;display:block;{outline}">'
            )
    if named:
        parts.append("<div></div>")
    for index, text in enumerate(columns):
        bar = ""
        if bars is not None:
            bar = f'<div style="height:4px;border-radius:2px;background:{bars[index]}"></div>'
        weight = "font-weight:700;opacity:1" if index == marked else "opacity:.7"
        parts.append(
            f'<div style="min-width:0">{bar}<div style="text-align:center;font-size:.75rem;'
            f'overflow:hidden;{weight}">{escape(text)}</div></div>'
        )
    columns_css = f"repeat({len(columns)}, minmax({cell}px, 1fr))"
    if named:
        columns_css = f"max-content {columns_css}"
    return (
        f'<div role="img" aria-label="{escape(alt)}" style="overflow-x:auto;padding:3px">'
        f'<div style="display:grid;grid-template-columns:{columns_css};gap:5px;'
        f'align-items:center">{"".join(parts)}</div></div>'
    )


_NAME = (
    "font-size:.8rem;opacity:.75;white-space:nowrap;padding-right:.5rem;position:sticky;left:0;"
    "background:light-dark(#fff,#171b24);z-index:1"
)


def angle_legend() -> str:
    """The circular colour map as a strip with its degrees, as HTML."""
    stops = ",".join([*colours.CYCLE, colours.CYCLE[0]])
    marks = "".join(f"<span>{degrees}°</span>" for degrees in (0, 90, 180, 270, 360))
    return (
        f'<div style="max-width:22rem"><div style="height:6px;border-radius:3px;'
        f'background:linear-gradient(90deg,{stops})"></div><div style="display:flex;'
        f'justify-content:space-between;font-size:.75rem;opacity:.7">{marks}</div></div>'
    )


def chips(names: Sequence[str], palette: Sequence[str]) -> str:
    """A legend of coloured dots, as HTML."""
    each = "".join(
        f'<span style="margin-right:.9rem;white-space:nowrap"><span style="display:inline-block;'
        f"width:.65rem;height:.65rem;border-radius:50%;background:{colour};"
        f'margin-right:.35rem"></span>{escape(name)}</span>'
        for name, colour in zip(names, palette, strict=True)
    )
    return f'<div style="font-size:.85rem;line-height:1.8">{each}</div>'


def numbers(items: Sequence[tuple[str, str]]) -> str:
    """Figures side by side, each above its name, as HTML; the first is the one that matters."""
    each = "".join(
        f'<div><div style="font-size:1.25rem;font-weight:{700 if index == 0 else 600};'
        f'font-variant-numeric:tabular-nums;opacity:{1 if index == 0 else 0.75}">{escape(value)}'
        f'</div><div style="font-size:.8rem;opacity:.7">{escape(name)}</div></div>'
        for index, (value, name) in enumerate(items)
    )
    return f'<div style="display:flex;flex-wrap:wrap;gap:.6rem 2rem">{each}</div>'


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
) -> str:
    """One channel over the angle as SVG: posterior mean and band, each view's estimate and error.

    Bands and bars are two standard deviations. Views that were not given are hollow.
    """
    low, high = limits

    def x(value: float) -> float:
        return LEFT + value / 360 * (WIDTH - LEFT - 6)

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
    for d, value, spread, seen in zip(at, estimate, error, given, strict=True):
        hue = colours.angle_colour(np.deg2rad(d))
        fill = f'fill="{hue}"' if seen else f'fill="none" stroke="{hue}"'
        shade = 1 if seen else 0.75
        parts.append(
            f'<g opacity="{shade}"><line x1="{x(d):.1f}" x2="{x(d):.1f}" '
            f'y1="{y(value - 2 * spread):.1f}" y2="{y(value + 2 * spread):.1f}" stroke="{hue}" '
            f'stroke-width="1.4"/><circle cx="{x(d):.1f}" cy="{y(value):.1f}" r="3" {fill}/></g>'
        )
    for degree in (0, 90, 180, 270, 360):
        text, anchor = f"{degree}°" if degree % 180 == 0 else "·", "middle"
        parts.append(_text(x(degree), HEIGHT - 3, text, "end" if degree == 360 else anchor))
    for value in (low, high):
        rounded = f"{value:.1f}".rstrip("0").rstrip(".")
        parts.append(_text(LEFT - 4, y(value) + 4, rounded, "end"))
    title = f"{name}: posterior over the angle"
    drawn = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" width="{WIDTH}" '
        f'height="{HEIGHT}" font-family="sans-serif" color="{GREY}">{"".join(parts)}</svg>'
    )
    address = base64.b64encode(drawn.encode()).decode()
    return (
        f'<figure style="margin:0"><figcaption style="font-size:.8rem;opacity:.75">{escape(name)}'
        f'</figcaption><img src="data:image/svg+xml;base64,{address}" alt="{escape(title)}" '
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
