"""Charts in SVG, drawn by a small script of our own: Plotly's four megabytes would come first.

Everything is in data units; the script scales it to the room there is, in the theme's colours, and
shows the tip nearest to the pointer (or, by the arrow keys, one after the other).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

from ui.shell.palette import INK

STATIC = Path(__file__).parent
COMMON = STATIC.parent / "components" / "shared" / "common.css"
ROOM = 0.04  # beyond the values on either side of an axis
Values = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Axis:
    """One axis; what is None follows from the values."""

    title: str = ""
    low: float | None = None
    high: float | None = None
    log: bool = False
    ticks: Sequence[float] | None = None
    labels: Sequence[str] | None = None


@dataclass
class Plot:
    """Marks on two axes, later ones on top; `label` says what one sees to who cannot see it."""

    label: str
    x: Axis = Axis()
    y: Axis = Axis()
    height: int = 300
    top: int = 8  # pixels above, for text that stands there
    right: int = 8  # and beside
    square: bool = False  # one unit as long across as up
    marks: list[dict[str, Any]] = field(default_factory=list)

    def line(self, x: Values, y: Values, colour: str, **options: Any) -> "Plot":
        """`width`, `dash`, `alpha`, `fill` (opacity down to zero), `tips` (a text a point)."""
        return self._add("line", {"x": _list(x), "y": _list(y), "colour": colour} | options)

    def band(
        self, x: Values, low: Values, high: Values, colour: str, alpha: float = 0.15
    ) -> "Plot":
        ends = {"x": _list(x), "low": _list(low), "high": _list(high)}
        return self._add("band", ends | {"colour": colour, "alpha": alpha})

    def dots(self, x: Values, y: Values, colour: str, **options: Any) -> "Plot":
        """`size`, `shape` ("diamond"), `hollow`, `outline`, `alpha`, `xbar`, `ybar`, `tips`."""
        return self._add("dots", {"x": _list(x), "y": _list(y), "colour": colour} | options)

    def rule(
        self, colour: str, x: float | None = None, y: float | None = None, **options: Any
    ) -> "Plot":
        """A line across the whole figure; `dash`, `width`."""
        return self._add("rule", {"colour": colour, "at": [x, y]} | options)

    def text(
        self, text: str, x: float | str, y: float | str, colour: str = INK, **options: Any
    ) -> "Plot":
        """At a place, or x = "end" or y = "top".

        `size`, `anchor`, `dx`, `dy` (pixels), `angle`, `raised` (what follows, as an exponent).
        """
        return self._add("text", {"text": text, "at": [x, y], "colour": colour} | options)

    def cells(self, values: np.ndarray, names: Sequence[str], colour: str) -> "Plot":
        """A matrix of values from 0 to 1 around the whole numbers, its first row on top."""
        rounded = np.round(np.clip(np.nan_to_num(values), 0, 1), 3).tolist()
        return self._add("cells", {"values": rounded, "names": list(names), "colour": colour})

    def _add(self, kind: str, mark: dict[str, Any]) -> "Plot":
        self.marks.append({"kind": kind} | {k: v for k, v in mark.items() if v is not None})
        return self

    def data(self) -> dict[str, Any]:
        """What the script draws."""
        sizes = {"height": self.height, "top": self.top, "right": self.right}
        axes = {"x": self._axis(self.x, "x"), "y": self._axis(self.y, "y")}
        return {"label": self.label, "square": self.square, "marks": self.marks} | sizes | axes

    def _axis(self, axis: Axis, name: str) -> dict[str, Any]:
        found = [
            value
            for mark in self.marks
            for part in ((name,) if name == "x" else ("y", "low", "high"))
            for value in mark.get(part, [])
            if value is not None
        ] or [1.0]
        low, high = min(found), max(found)
        if axis.log:
            room = (high / low) ** ROOM if high > low else 2.0
            low, high = low / room, high * room
        else:
            room = ROOM * (high - low) or 0.5
            low, high = low - room, high + room
        low = low if axis.low is None else axis.low
        high = high if axis.high is None else axis.high
        ticks = axis.ticks
        if ticks is None:
            ticks = decades(low, high) if axis.log else round_numbers(low, high)
        labels = [_text(tick) for tick in ticks] if axis.labels is None else list(axis.labels)
        least, most = sorted((low, high))
        inside = [pair for pair in zip(ticks, labels, strict=True) if least <= pair[0] <= most]
        ends = {"low": low, "high": high, "log": axis.log}
        return {"title": axis.title, "ticks": [list(pair) for pair in inside]} | ends


def show(plot: Plot, key: str, name: str | None = None) -> None:
    """Draw a chart in the width of its container; with a `name` it can be saved as a PNG."""
    file = None if name is None else f"fgpvae-{name}.png"
    _component()(key=key, data=plot.data() | {"file": file})


def decades(low: float, high: float, every: int = 1) -> list[float]:
    """Powers of ten between two values, for a logarithmic axis."""
    first, last = math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9)
    return [float(f"1e{k}") for k in range(first, last + 1) if k % every == 0]


def round_numbers(low: float, high: float) -> list[float]:
    """About five between two values."""
    rough = (high - low) / 5
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(s * power for s in (1, 2, 5, 10) if s * power >= rough)
    count = range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)
    return [float(f"{k * step:.10g}") for k in count]


def _text(value: float) -> str:
    """A short number; large and tiny powers of ten as such."""
    power = round(math.log10(value)) if value > 0 else 0
    if abs(power) > 4 and math.isclose(value, 10.0**power):
        return "10" + str(power).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{value:g}".replace("-", "−")


def _list(values: Values) -> list[float | None]:
    """JSON has no NaN: a gap is None."""
    return [float(f"{v:.6g}") if math.isfinite(v) else None for v in np.asarray(values, float)]


@cache
def _component() -> Any:
    return st.components.v2.component(
        "fgpvae_plot",
        html='<div class="plot"></div>',
        css=(COMMON).read_text() + (STATIC / "plot.css").read_text(),
        js=(STATIC / "plot.js").read_text(),
    )
