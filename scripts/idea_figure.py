"""The idea of the paper in one figure, drawn from a shipped model and a digit it never saw.

    python scripts/idea_figure.py [docs/idea.svg]

The figure brings its own ground and ink, light or dark as the reader's screen is.
"""

import argparse
import base64
import math
import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from fgpvae import Model, data, images, load_pretrained  # noqa: E402
from ui.shell.palette import GLOBAL, LOCAL, angle_colour  # noqa: E402

MODEL, CLASS, WHICH = "wide", 3, 1
SEEN = (0, 2, 4, 5, 6, 11, 12, 14)  # of the sixteen angles; the others are left to the model
SHOWN = (1, 3, 7, 8, 10, 13)
WIDTH, HEIGHT = 960, 420

STYLE = f"""
text {{ font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1b1f2a; }}
.title {{ font-weight: 600; }}
.small {{ font-size: 11.5px; fill: #667085; }}
.mid {{ text-anchor: middle; }}
.ground {{ fill: #fafaf7; }}
.card {{ fill: #ffffff; stroke: #e6e6e0; }}
.arrow {{ stroke: #8b93a5; stroke-width: 1.5; fill: none; marker-end: url(#tip); }}
.axis {{ stroke: #8b93a5; stroke-opacity: 0.4; }}
.prior {{ stroke: #8b93a5; stroke-width: 1.5; stroke-dasharray: 4 4; fill: none; }}
.mean {{ stroke: {LOCAL}; stroke-width: 2; fill: none; }}
.band {{ fill: {LOCAL}; fill-opacity: 0.18; }}
.style {{ stroke: {GLOBAL}; stroke-width: 2.5; fill: {GLOBAL}; fill-opacity: 0.15; }}
image {{ image-rendering: pixelated; }}
@media (prefers-color-scheme: dark) {{
  text {{ fill: #e8eaf0; }}
  .small {{ fill: #9aa3b5; }}
  .ground {{ fill: #0f1218; }}
  .card {{ fill: #171b24; stroke: #262c39; }}
}}
"""


class Panel:
    """A card with a plot in it: data coordinates to pixels."""

    def __init__(
        self, box: tuple[int, int, int, int], x: tuple[float, float], y: tuple[float, float]
    ):
        self.box, self.x, self.y = box, x, y
        self.left, self.top = box[0] + 14, box[1] + 50
        self.width, self.height = box[2] - 28, box[3] - 78

    def at(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self.x[0]) / (self.x[1] - self.x[0])
        up = (y - self.y[0]) / (self.y[1] - self.y[0])
        return self.left + across * self.width, self.top + (1 - up) * self.height

    def path(self, xs: np.ndarray, ys: np.ndarray) -> str:
        points = (self.at(float(x), float(y)) for x, y in zip(xs, ys, strict=True))
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)

    def frame(self, title: str, sentence: str, below: str) -> list[str]:
        x, y, width, height = self.box
        return [
            f'<rect class="card" x="{x}" y="{y}" width="{width}" height="{height}" rx="12"/>',
            text(x + 14, y + 23, title, "title"),
            text(x + 14, y + 40, sentence, "small"),
            text(x + width / 2, y + height - 9, below, "small mid"),
        ]


def text(x: float, y: float, words: str, style: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}" class="{style}">{words}</text>'


def arrow(x: float, y: float, to_x: float, to_y: float) -> str:
    middle = (x + to_x) / 2
    return f'<path class="arrow" d="M{x} {y}C{middle} {y} {middle} {to_y} {to_x} {to_y}"/>'


def picture(image: np.ndarray, x: float, y: float, side: float, colour: str, label: str) -> str:
    encoded = base64.b64encode(images.to_png(image, scale=1)).decode()
    return (
        f'<image x="{x}" y="{y}" width="{side}" height="{side}" '
        f'href="data:image/png;base64,{encoded}"/>'
        f'<rect x="{x}" y="{y}" width="{side}" height="{side}" rx="3" fill="none" '
        f'stroke="{colour}" stroke-width="3"/>'
        + text(x + side / 2, y + side + 14, label, "small mid")
    )


def degrees(index: int) -> str:
    return f"{math.degrees(data.ANGLES[index]):g}°"


def local_panel(model: Model, mu: Tensor, var: Tensor, angles: Tensor) -> list[str]:
    """The GP posterior of the local channel that turns most, and what the encoder said of it."""
    observed = torch.ones(angles.shape, dtype=torch.bool)
    grid = torch.linspace(0, 2 * math.pi, 181, dtype=torch.float64)
    posterior = model.posterior(mu, var, angles, observed)
    mean, spread = posterior.mean(grid[None]), posterior.variance(grid[None])
    j = int(mean[0, :, model.blocks["local"]].std(0).argmax())
    centre, sd = mean[0, :, j].numpy(), spread[0, :, j].sqrt().numpy()
    low, high = float((centre - 2 * sd).min()), float((centre + 2 * sd).max())
    panel = Panel((300, 16, 330, 190), (0, 2 * math.pi), (low - 0.1, high + 0.1))
    w = grid.numpy()
    band = panel.path(np.r_[w, w[::-1]], np.r_[centre + 2 * sd, (centre - 2 * sd)[::-1]])
    lines = panel.frame(
        f"{model.config.local} local channels: they turn",
        "a Gaussian process over the angle, one a digit",
        "angle, 0° to 360°; band: two standard deviations",
    )
    lines += [
        f'<path class="band" d="{band}Z"/>',
        f'<path class="mean" d="{panel.path(w, centre)}"/>',
    ]
    for angle, m, v in zip(
        angles[0].tolist(), mu[0, :, j].tolist(), var[0, :, j].tolist(), strict=True
    ):
        x, y = panel.at(angle, m)
        # what a view leaves open may be more than the panel shows
        _, top = panel.at(angle, min(m + 2 * math.sqrt(v), panel.y[1]))
        _, bottom = panel.at(angle, max(m - 2 * math.sqrt(v), panel.y[0]))
        colour = angle_colour(angle)
        lines.append(
            f'<path d="M{x:.1f} {top:.1f}V{bottom:.1f}" stroke="{colour}" stroke-width="2"/>'
        )
        lines.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.5" fill="{colour}"/>')
    return lines


def global_panel(model: Model, mu: Tensor, var: Tensor, angles: Tensor) -> list[str]:
    """The product of what the views say of the least known global channel, and its prior."""
    observed = torch.ones(angles.shape, dtype=torch.bool)
    posterior = model.posterior(mu, var, angles, observed)
    style, style_var = (x[0] for x in posterior.style())
    g = int(style_var.argmax())
    mean, spread = float(style[g]), float(style_var[g])
    z = np.linspace(-3.5, 3.5, 561)
    panel = Panel((300, 214, 330, 190), (-3.5, 3.5), (0, 1.05))
    lines = panel.frame(
        f"{model.config.latents - model.config.local} global channels: they stay",
        "one Gaussian a digit: the product of its views",
        "value; dashed: before any view; heights made equal",
    )
    lines.append(f'<path class="prior" d="{panel.path(z, bell(z, 0.0, 1.0))}"/>')
    channel = model.config.local + g
    for angle, m, v in zip(
        angles[0].tolist(), mu[0, :, channel].tolist(), var[0, :, channel].tolist(), strict=True
    ):
        curve = panel.path(z, bell(z, m, v))
        lines.append(
            f'<path d="{curve}" fill="none" stroke="{angle_colour(angle)}" stroke-width="1.5"/>'
        )
    lines.append(f'<path class="style" d="{panel.path(z, bell(z, mean, spread))}"/>')
    return lines


def bell(z: np.ndarray, mean: float, var: float) -> np.ndarray:
    """A Gaussian of height 1."""
    return np.exp(-((z - mean) ** 2) / (2 * var))


@torch.no_grad()
def draw() -> str:
    model = load_pretrained(MODEL)
    digit = data.unseen((CLASS,)).images[WHICH : WHICH + 1]
    views = torch.from_numpy(data.rotate(digit, data.ANGLES)).float()  # [1, 16, 28, 28]
    context, angles = views[:, SEEN], torch.from_numpy(data.ANGLES[list(SEEN)])[None]
    mu, var = model.encode(context, angles, torch.ones(angles.shape, dtype=torch.bool))
    at = torch.from_numpy(data.ANGLES[list(SHOWN)])[None]
    imagined = model.generate(context, angles, at)[0].numpy()

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'aria-label="Views of a digit, its local and global channels, and new views of it">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0.5L7.5 4L0 7.5z" fill="#8b93a5"/></marker>'
        "</defs>",
        f'<rect class="ground" width="{WIDTH}" height="{HEIGHT}" rx="14"/>',
        text(26, 40, f"{len(SEEN)} views of a digit", "title"),
        text(26, 57, "that was never trained on", "small"),
    ]
    for k, index in enumerate(SEEN):
        colour = angle_colour(float(data.ANGLES[index]))
        x, y = 26 + 78 * (k % 2), 72 + 82 * (k // 2)
        lines.append(picture(views[0, index].numpy(), x, y, 60, colour, degrees(index)))
    lines += [arrow(186, 210, 294, 112), arrow(186, 210, 294, 308)]
    lines.append(text(214, 214, "encoder", "title"))
    lines.append(text(186, 322, "told the angle w", "small"))
    lines += local_panel(model, mu, var, angles) + global_panel(model, mu, var, angles)
    lines += [arrow(636, 112, 744, 205), arrow(636, 308, 744, 215)]
    lines.append(text(655, 214, "decoder", "title"))
    lines.append(text(760, 40, "the digit at any angle", "title"))
    lines.append(text(760, 57, "157.5° was never trained on", "small"))
    for k, index in enumerate(SHOWN):
        colour = angle_colour(float(data.ANGLES[index]))
        x, y = 760 + 92 * (k % 2), 76 + 106 * (k // 2)
        lines.append(picture(imagined[k], x, y, 78, colour, degrees(index)))
    return "\n".join([*lines, "</svg>", ""])


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", default=ROOT / "docs" / "idea.svg", type=Path)
    parser.parse_args(arguments).file.write_text(draw())


if __name__ == "__main__":
    main()
