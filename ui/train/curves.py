"""Live curves: small SVG figures that cost nothing to redraw every second."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ui.shell import palette

WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 300, 150, 44, 18, 8
MOST_POINTS = 150  # of a line
MOST_TIPS = 30  # places that say their value
SETTLED = 0.05  # the first epochs are far from the rest; beyond these they may leave the frame


@dataclass(frozen=True)
class Panel:
    """One curve of a run."""

    name: str  # of the column in the metrics
    title: str
    meaning: str
    logarithmic: bool = False
    missing: str = ""  # what to say if the run does not have it


PANELS = (
    Panel("loss", "Loss", "What is minimised."),
    Panel("mse", "Reconstruction", "Mean squared error of a pixel in training.", True),
    Panel("kl", "KL", "Nats a digit: how much the code says beyond the prior."),
    Panel("multiplier", "λ", "Weight of the error against the KL term.", True),
    Panel(
        "validation_mse",
        "Validation",
        "Mean squared error on digits kept back.",
        True,
        "No digits kept back; set validation digits to see this.",
    ),
)
STYLE = """
.curves { display: grid; gap: 1rem 1.4rem;
  grid-template-columns: repeat(auto-fill, minmax(195px, 1fr)); }
.curves figure { margin: 0; }
.curves figcaption { font-size: 0.85rem; display: flex; justify-content: space-between; }
.curves figcaption b { font-variant-numeric: tabular-nums; }
.curves svg { width: 100%; display: block; }
"""


def html(metrics: Sequence[dict[str, Any]], epochs: int) -> str:
    """All panels of a run that is to have `epochs`."""
    return f'<div class="curves">{"".join(_panel(each, metrics, epochs) for each in PANELS)}</div>'


def points(
    metrics: Sequence[dict[str, Any]], name: str, logarithmic: bool
) -> list[tuple[float, float]]:
    """Epoch and value where there is a finite one (and a positive one on a logarithmic axis)."""
    found = []
    for line in metrics:
        value = line.get(name)
        if not isinstance(value, int | float) or not math.isfinite(value):
            continue
        if value > 0 or not logarithmic:
            found.append((float(line["epoch"]), float(value)))
    return found


def thinned(found: list[tuple[float, float]], most: int = MOST_POINTS) -> list[tuple[float, float]]:
    """At most about `most` of the points; the first and the last are always there."""
    step = max(math.ceil(len(found) / most), 1)
    return found[:-1:step] + found[-1:]


def limits(values: Sequence[float], logarithmic: bool) -> tuple[float, float]:
    """The range of an axis, a little wider than the values once they have settled."""
    settled = values[int(SETTLED * len(values)) :]
    low, high = min(settled), max(settled)
    if logarithmic:
        spread = max(high / low, 1.2) ** 0.08
        return low / spread, high * spread
    margin = 0.08 * (high - low) or 0.1 * abs(high) or 1.0
    return low - margin, high + margin


def _panel(panel: Panel, metrics: Sequence[dict[str, Any]], epochs: int) -> str:
    found = thinned(points(metrics, panel.name, panel.logarithmic))
    last = _short(found[-1][1]) if found else ""
    head = (
        f'<figcaption title="{escape(panel.meaning)}"><span>{escape(panel.title)}</span>'
        f"<b>{last}</b></figcaption>"
    )
    body = _curve(panel, found, epochs) if found else _nothing(panel, bool(metrics))
    return (
        f'<figure>{head}<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="{escape(panel.title)} over epochs">{body}</svg></figure>'
    )


def _nothing(panel: Panel, trained: bool) -> str:
    text = panel.missing if panel.missing and trained else "From the first epoch on."
    half = text.rfind(" ", 0, 34) if len(text) > 34 else len(text)
    lines = (text[:half], text[half:].strip())
    shown = "".join(
        _text(WIDTH / 2, HEIGHT / 2 + 14 * k - 4, line, "middle") for k, line in enumerate(lines)
    )
    return _frame() + shown


def _curve(panel: Panel, found: list[tuple[float, float]], epochs: int) -> str:
    low, high = limits([value for _, value in found], panel.logarithmic)
    scale = math.log if panel.logarithmic else float

    def x(epoch: float) -> float:
        return LEFT + min(epoch / max(epochs, 1), 1.0) * (WIDTH - LEFT - 6)

    def y(value: float) -> float:
        share = (scale(high) - scale(value)) / (scale(high) - scale(low))
        return TOP + share * (HEIGHT - TOP - BOTTOM)

    bottom = HEIGHT - BOTTOM
    placed = [(x(e), min(max(y(v), 0.0), bottom), e, v) for e, v in found]
    line = " ".join(f"{px:.1f},{py:.1f}" for px, py, _, _ in placed)
    parts = [
        _frame(),
        f'<polyline points="{line}" fill="none" stroke="{palette.GLOBAL}" stroke-width="1.8" '
        'stroke-linejoin="round"/>',
        f'<circle cx="{placed[-1][0]:.1f}" cy="{placed[-1][1]:.1f}" r="3" '
        f'fill="{palette.GLOBAL}"/>',
        _text(LEFT, HEIGHT - 4, "0", "middle"),
        _text(WIDTH - 6, HEIGHT - 4, f"{epochs}", "end"),
        _text(LEFT - 5, TOP + 8, _short(high), "end"),
        _text(LEFT - 5, bottom, _short(low), "end"),
    ]
    step = max(math.ceil(len(placed) / MOST_TIPS), 1)
    width = max(step * (placed[-1][0] - placed[0][0]) / max(len(placed) - 1, 1), 4.0)
    for px, _, epoch, value in placed[:-1:step] + placed[-1:]:
        parts.append(
            f'<rect x="{px - width / 2:.0f}" y="0" width="{width:.0f}" height="{bottom}" '
            f'fill="transparent"><title>epoch {epoch:g}: {_short(value)}</title></rect>'
        )
    return "".join(parts)


def _frame() -> str:
    bottom = HEIGHT - BOTTOM
    return (
        f'<path d="M{LEFT},{TOP}V{bottom}H{WIDTH - 6}" fill="none" stroke="currentColor" '
        'opacity=".2"/>'
    )


def _short(value: float) -> str:
    """At most eight characters."""
    if value and not 1e-3 <= abs(value) < 1e4:
        digits, exponent = f"{value:.1e}".split("e")
        return f"{digits}e{int(exponent)}"
    return f"{value:.4g}" if abs(value) >= 1e-2 else f"{value:.3g}"


def _text(x: float, y: float, text: str, anchor: str, opacity: float = 0.65) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="11" '
        f'fill="currentColor" opacity="{opacity}">{escape(text)}</text>'
    )
