"""How a page shows charts and tables: space first, the rest after all words and pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from ui.components import painted, plot_tools
from ui.shell.kept import content, sent

if TYPE_CHECKING:
    from ui.charts.drawn import Drawn, Figure

# Saving is left to `plot_tools`: Plotly's own button knows one format, and no ground to put under
# the light letters of a dark theme.
CONFIG = {
    "modeBarButtonsToRemove": ["toImage", "autoScale2d", "tableRotation", "resetCameraLastSave3d"]
}
ROW, MOST_ROWS = 35, 10  # pixels of a row; of longer tables the rest is scrolled to
Draw = Callable[[], None]
_waiting: ContextVar[list[Draw] | None] = ContextVar("waiting", default=None)


@contextmanager
def last() -> Iterator[None]:
    """Send the charts and tables that are shown within when all the rest that is has been painted.

    The browser loads several megabytes for its first chart, and more than one for its first table;
    nothing else has to wait for them. Once a page.
    """
    waiting: list[Draw] = []
    token = _waiting.set(waiting)
    try:
        yield
    finally:
        _waiting.reset(token)
    if waiting:
        painted.wait()
    for draw in waiting:
        draw()


def show(
    make: Callable[[], Figure],
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

    def draw() -> None:
        from ui.charts.drawn import drawn, tellable  # with Plotly, which takes long to load

        options: dict[str, Any] = {"key": key, "config": CONFIG, "height": height}
        layout: dict[str, Any] = {"height": height}
        if picked is not None:
            options["on_select"] = lambda: picked(_customdata(key))
            options["selection_mode"] = ("points", "lasso")
        elif phone():
            layout["dragmode"] = False  # a finger scrolls the page
        newest = drawn(make, layout) if live else None

        def chart() -> None:
            figure = drawn(make, layout) if newest is None else newest
            first, named = _first(key, live, figure, alt) if live else (figure, alt)
            st.plotly_chart(first, alt=named, **options)

        if live or picked or not tellable(make):
            chart()
        else:
            sent(content(make, layout, key, alt), chart)
        plot_tools.show(f"{key}.tools", _file(key), alt, newest.without_theme if newest else "")

    _reserve(key, height, draw)


def table(make: partial[Any], key: str, rows: int, alt: str, **options: Any) -> None:
    """Reserve the space of `rows` rows and show the data that `make` returns, a dash for none.

    `make` is a `functools.partial` of a function of a module. What is sent is kept for all
    sessions: to write a table with styles takes Streamlit ten milliseconds.
    """
    options |= {"hide_index": True, "placeholder": "–"}
    height = ROW * (min(rows, MOST_ROWS) + 1) + 3  # with the names of the columns and the border

    def draw() -> None:
        st.dataframe(make(), key=key, alt=alt, height=height, **options)

    name = content(make, key, alt, height, options)
    _reserve(key, height, lambda: sent(name, draw))


def _reserve(key: str, height: int, draw: Draw) -> None:
    """Keep a place and fill it: now, or when the words and pictures of the page are there."""
    place = st.container(height=height, border=False, gap=None, key=f"{key}.place")

    def fill() -> None:
        with place:
            draw()

    waiting = _waiting.get()
    if waiting is None:
        fill()
    else:
        waiting.append(fill)


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
