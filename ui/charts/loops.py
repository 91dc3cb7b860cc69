"""Where the views of digits lie: points in two or three dimensions that one can click.

Drawn and answered in the browser. The digit under the pointer stands out in every space at once; a
click makes it the page's. In three dimensions dragging turns the space.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import streamlit as st

STATIC = Path(__file__).parent
COMMON = STATIC.parent / "components" / "shared" / "common.css"
STEPS = 2000  # a place is rounded to one of so many across the largest space


@dataclass(frozen=True)
class Space:
    """Views [P, Q, 3] as some channels place them, with the share of variance of each axis."""

    title: str
    sentence: str
    foot: str
    points: np.ndarray
    shares: np.ndarray
    colours: Sequence[str]  # of the P Q points, digit after digit
    still: bool = False  # all views of a digit are one point, which has no angle


def loops(
    key: str,
    spaces: Sequence[Space],
    chosen: tuple[int, int],
    names: Sequence[str],
    views: Sequence[str],
    spatial: bool = False,
    clicked: Callable[[int, int | None], None] | None = None,
    closed: bool = True,
) -> None:
    """Show spaces side by side; `chosen` is the digit and view that stand out.

    `names` are those of the digits and `views` those of their views. `clicked` is called with the
    digit and, unless it was a still point, the view. `closed`: after the last view comes the first.
    """

    def picked() -> None:
        if (found := st.session_state[key].get("picked")) and clicked is not None:
            digit, view = found["digit"], found["view"]
            clicked(int(digit), None if view is None else int(view))

    dimensions = 3 if spatial else 2
    data = {
        "spaces": [_data(space, dimensions) for space in spaces],
        "chosen": list(chosen),
        "names": list(names),
        "views": list(views),
        "spatial": spatial,
        "closed": closed,
    }
    _component()(key=key, data=data, on_picked_change=picked)


def _data(space: Space, dimensions: int) -> dict[str, Any]:
    """Places as whole numbers, centred, in the same unit along every axis."""
    points = space.points[..., :dimensions]
    low, high = points.min((0, 1)), points.max((0, 1))
    unit = float((high - low).max()) or 1.0
    whole = np.rint((points - (low + high) / 2) * (STEPS / unit)).astype(int)
    palette = list(dict.fromkeys(space.colours))
    axes = [f"component {k + 1} · {share:.0%}" for k, share in enumerate(space.shares)]
    return {
        "title": space.title,
        "sentence": space.sentence,
        "foot": space.foot,
        "points": whole.reshape(-1).tolist(),
        "axes": axes[:dimensions],
        "palette": palette,
        "colours": [palette.index(colour) for colour in space.colours],
        "still": space.still,
    }


@cache
def _component() -> Any:
    return st.components.v2.component(
        "fgpvae_loops",
        html='<div class="spaces"></div>',
        css=(COMMON).read_text() + (STATIC / "loops.css").read_text(),
        js=(STATIC / "loops.js").read_text(),
    )
