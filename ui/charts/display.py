"""How a page shows its charts: space first, the chart after all words and pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import streamlit as st

from ui.components import plot_tools

if TYPE_CHECKING:
    import plotly.graph_objects as go

    from ui.charts.drawn import Drawn

# Saving is left to `plot_tools`: Plotly's own button knows one format, and no ground to put under
# the light letters of a dark theme.
CONFIG = {
    "modeBarButtonsToRemove": ["toImage", "autoScale2d", "tableRotation", "resetCameraLastSave3d"]
}
Draw = Callable[[], None]
_waiting: ContextVar[list[Draw] | None] = ContextVar("waiting", default=None)


@contextmanager
def last() -> Iterator[None]:
    """Send the charts that are shown within after all the rest that is.

    The browser loads several megabytes for its first chart; nothing else has to wait for them.
    """
    waiting: list[Draw] = []
    token = _waiting.set(waiting)
    try:
        yield
    finally:
        _waiting.reset(token)
    for draw in waiting:
        draw()


def show(
    make: Callable[[], go.Figure],
    key: str,
    height: int,
    alt: str,
    *,
    picked: Callable[[list[Any]], None] | None = None,
    live: str = "",
) -> None:
    """Reserve `height` pixels and draw the chart that `make` returns.

    `make` is best a `functools.partial`: its figure is then made once for all (`drawn`). `alt` says
    in words what one would see. `picked` is called with the customdata of the points that were
    clicked or circled. As long as `live` stays the same, a new figure is put into the chart that is
    there, which keeps its zoom.
    """
    place = st.container(height=height, border=False, gap=None, key=f"{key}.place")

    def draw() -> None:
        from ui.charts.drawn import drawn  # with Plotly, which takes long to load

        options: dict[str, Any] = {}
        layout: dict[str, Any] = {"height": height}
        if picked is not None:
            options = {
                "on_select": lambda: picked(_customdata(key)),
                "selection_mode": ("points", "lasso"),
            }
        elif phone():
            layout["dragmode"] = False  # a finger scrolls the page
        made = drawn(make, layout)
        first, named = _first(key, live, made, alt) if live else (made, alt)
        with place:
            st.plotly_chart(first, key=key, config=CONFIG, alt=named, height=height, **options)
            newest = made.without_theme if live else ""
            plot_tools.show(f"{key}.tools", _file(key), alt, newest)

    waiting = _waiting.get()
    if waiting is None:
        draw()
    else:
        waiting.append(draw)


def phone() -> bool:
    """Whether the browser calls itself that of a phone."""
    return "Mobi" in st.context.headers.get("User-Agent", "")


def _customdata(key: str) -> list[Any]:
    points: Sequence[dict[str, Any]] = st.session_state[key]["selection"]["points"]
    return [point["customdata"] for point in points if "customdata" in point]


def _first(key: str, live: str, made: Drawn, alt: str) -> tuple[Drawn, str]:
    """The figure, and its words, with which the chart of this name began.

    Streamlit draws a chart anew whenever these differ from those of the last run.
    """
    kept = st.session_state.get(f"{key}.first")
    if kept is None or kept[0] != live:
        kept = st.session_state[f"{key}.first"] = (live, made, alt)
    return kept[1], kept[2]


def _file(key: str) -> str:
    return "fgpvae-" + re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")
