"""The figures of Compare: models in rows, lines with their names at the end."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from fgpvae import comparison
from ui.catalog.results import Curve, Row
from ui.charts.plot import Axis, Plot, round_numbers
from ui.shell import palette
from ui.shell.palette import INK

MARGIN = 1.12  # of the largest value that a figure shows
PUBLISHED = {"test_mse": "mse", "extrapolation_mse": "extrapolation"}
DASH = {"solid": None, "dot": "2 4"}
POSTERIORS = (
    ("joint", "joint", palette.TRUTH, "solid"),
    ("dense", "factorised", palette.GLOBAL, "solid"),
    ("fourier", "Fourier", palette.GLOBAL, "dot"),
)
NAMES = 124  # pixels beside lines, for their names


def errors(rows: Sequence[Row], metric: str, lines: dict[str, float]) -> Plot:
    """A row a model: every seed, their mean and standard deviation, and what was published."""
    key = PUBLISHED.get(metric, "")
    largest = [row.errors[metric].mean or 0.0 for row in rows]
    largest += [row.published[key] for row in rows if key in row.published] + list(lines.values())
    end = MARGIN * max([*largest, 0.01])
    made = Plot(
        "Error of every model",
        Axis("mean squared error of a pixel", -0.012 * end, end),
        Axis("", len(rows) - 0.6, -0.8, ticks=range(len(rows)), labels=[""] * len(rows)),
        height=150 + 42 * len(rows),
        top=110,
        right=16,
    )
    for name, value in lines.items():
        made.rule(_reference_colour(name), x=value, dash="2 4")
    missing = "no angle held out" if metric == "test_mse" else "takes no new digits"
    for at, row in enumerate(rows):
        found = row.errors[metric]
        if found.mean is not None:
            seeds = list(found.values)
            made.dots(seeds, [at] * len(seeds), row.colour, size=6, alpha=0.3)
            tip = f"{row.label}\n{found.text()}"
            bar = [found.sd] if found.sd else None
            made.dots([found.mean], [at], row.colour, size=12, xbar=bar, tips=[tip])
        if key in row.published:
            value = row.published[key]
            sd = row.published["sd"] if key == "mse" else None
            tip, bar = f"published\n{value:.4f}", [sd] if sd else None
            hollow = {"shape": "diamond", "hollow": True, "size": 13}
            made.dots([value], [at], palette.TRUTH, xbar=bar, tips=[tip], **hollow)
        # inside, so that a narrow screen keeps its width for the figures
        name = row.label + (f" · {missing}" if found.mean is None else "")
        made.text(name, 0.008 * end, at, row.colour, dy=-14)
    for name, value in lines.items():
        words = f"{name} {value:.4f}"
        made.text(words, value, "top", _reference_colour(name), size=11, dx=3, dy=-6, angle=-50)
    return made


def _reference_colour(name: str) -> str:
    """What needs no model is grey; the one that knows what a rotation is stands out."""
    return INK if "geometric" in name else palette.TRUTH


def error_by_views(curves: Sequence[Curve], height: int = 400) -> Plot:
    top = MARGIN * max((p.mean or 0 for c in curves for p in c.points.values()), default=0.1)
    made = Plot(
        "Error against the number of views",
        Axis("views given of a digit", log=True, ticks=comparison.VIEWS),
        Axis("mean squared error", -0.02 * top, top),
        height=height,
        right=NAMES,
    )
    ends = []
    for curve in curves:
        views = list(curve.points)
        means = [_known(point.mean) for point in curve.points.values()]
        tips = [
            f"{curve.name}\n{n} views: {mean:.4f}" for n, mean in zip(views, means, strict=True)
        ]
        made.line(views, means, curve.colour, dash=DASH[curve.dash], tips=tips)
        if curve.dash == "solid":
            bars = [point.sd or 0 for point in curve.points.values()]
            made.dots(views, means, curve.colour, size=7, ybar=bars)
        ends.append((means[-1], curve.name, curve.colour))
    _name_ends(made, ends, gap=20 / height * top)
    return made


def _known(value: float | None) -> float:
    return float("nan") if value is None else value


def by_digits(
    result: dict[str, Any], name: str, title: str, own: Sequence[tuple[str, int, float]] = ()
) -> Plot:
    """Time or error against the number of digits P, on logarithmic axes; own runs as diamonds."""
    P = [row["P"] for row in result["by_digits"]]
    values = [row[name]["mean"] for row in result["by_digits"]]
    every = values + [value for _, _, value in own]
    x = Axis("digits P", log=True, ticks=P)
    made = Plot(f"{title} against digits", x, Axis(title, log=True, ticks=_ticks(every)), top=14)
    tips = [f"P = {p}: {value:.4g}" for p, value in zip(P, values, strict=True)]
    _line(made, P, values, palette.GLOBAL, "solid", tips)
    for run, digits, value in own:
        tip = f"{run}\nP = {digits}: {value:.4g}"
        made.dots([digits], [value], INK, size=11, shape="diamond", tips=[tip])
    return made


def by_views(result: dict[str, Any]) -> Plot:
    """Seconds of a posterior against the number of views Q, each line with its exponent."""
    Q = [row["Q"] for row in result["by_views"]]
    every = [row[kind] for row in result["by_views"] for kind, *_ in POSTERIORS]
    made = Plot(
        "Time of a posterior against views",
        Axis("views Q of each of 20 digits", log=True, ticks=Q[::2]),
        Axis("seconds", log=True, ticks=_ticks(every)),
        top=14,
        right=NAMES - 20,
    )
    ends = []
    for kind, name, colour, dash in POSTERIORS:
        seconds = [row[kind] for row in result["by_views"]]
        exponent = result["exponents"][f"{kind}_in_Q"]
        tips = [f"{name}, Q = {q}: {each:.3g} s" for q, each in zip(Q, seconds, strict=True)]
        _line(made, Q, seconds, colour, dash, tips)
        ends.append((float(np.log10(seconds[-1])), f"{name} Q^{exponent:.1f}", colour))
    _name_ends(made, ends, gap=22 / 300 * (_decades(every) + 0.3), log=True)
    return made


def _line(
    made: Plot, x: list[Any], y: list[float], colour: str, dash: str, tips: list[str]
) -> None:
    made.line(x, y, colour, dash=DASH[dash]).dots(x, y, colour, size=7, tips=tips)


def _decades(values: Sequence[float]) -> float:
    return float(np.log10(max(values) / min(values)))


def _ticks(values: Sequence[float]) -> list[float]:
    """Round numbers for a logarithmic axis: powers of ten, and more between them if it is short."""
    least, most = min(values), max(values)
    if most < 5 * least:
        return round_numbers(least, most) if most > least else [least]
    low, high = np.floor(np.log10(least)), np.ceil(np.log10(most))
    steps = (1, 2, 5) if _decades(values) < 2 else (1,)
    return [float(f"{step}e{k:.0f}") for k in np.arange(low, high + 1) for step in steps]


def _name_ends(
    made: Plot, ends: Sequence[tuple[float, str, str]], gap: float, log: bool = False
) -> None:
    """The name of each line at its right end, moved apart where two would overlap.

    On a logarithmic axis the values are powers of ten. What follows a ^ is raised.
    """
    ordered = sorted(ends)
    for (_, name, colour), y in zip(
        ordered, spaced([value for value, _, _ in ordered], gap), strict=True
    ):
        words, _, raised = name.partition("^")
        made.text(words, "end", 10**y if log else y, colour, dx=8, raised=raised or None)


def spaced(values: Sequence[float], gap: float) -> list[float]:
    """Ascending values moved as little as needed to be `gap` apart.

    Values that would touch form a block, which stays centred on their mean.
    """
    blocks: list[list[float]] = []
    for value in values:
        blocks.append([value])
        while len(blocks) > 1 and _first(blocks[-1], gap) - _last(blocks[-2], gap) < gap:
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    return [_first(block, gap) + gap * k for block in blocks for k in range(len(block))]


def _first(block: list[float], gap: float) -> float:
    return sum(block) / len(block) - gap * (len(block) - 1) / 2


def _last(block: list[float], gap: float) -> float:
    return _first(block, gap) + gap * (len(block) - 1)
