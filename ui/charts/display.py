"""Show charts and tables in space that is reserved before they load."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import plotly.graph_objects as go
import plotly.io
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from ui.components import plot_tools
from ui.shell import cache, frame

# `plot_tools` saves charts: Plotly's own button has one format and no background for the light text
# of a dark theme.
CONFIG = {
    "modeBarButtonsToRemove": ["toImage", "autoScale2d", "tableRotation", "resetCameraLastSave3d"]
}
BEST = "background-color: rgba(43, 122, 158, 0.18); font-weight: 700"  # CSS of a table cell
ROW, MOST_ROWS = 35, 10  # pixels of a row; longer tables scroll


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

    `make` is a `functools.partial` of a function of a module, so that the chart can be cached for
    all sessions. `alt` describes the chart in words. `picked` is called with the customdata of
    clicked or lassoed points. While `live` stays the same, a new figure replaces the old one in the
    same chart, which keeps its zoom.
    """
    options: dict[str, Any] = {"key": key, "config": CONFIG, "height": height}
    still = phone() and picked is None  # on touch screens dragging scrolls the page
    draw, newest = partial(_draw, make, height, still), ""
    first, named = digest, alt = cache.digest(draw), alt
    with _reserved(key, height):
        if picked is not None:
            options["on_select"] = lambda: picked(_customdata(key))
            made = _figure(digest, draw)
            st.plotly_chart(made, alt=alt, selection_mode=("points", "lasso"), **options)
        elif live:
            made = _figure(digest, draw)
            newest = _without_template(digest, made)
            # Streamlit redraws a chart whenever it or its texts change
            now = digest, alt, lambda: made
            first, named, draw = st.session_state.setdefault(f"{key}.{live}", now)
        if picked is None:
            cache.elements(
                cache.digest(first, named, options),
                lambda: st.plotly_chart(draw(), alt=named, **options),
            )
        plot_tools.show(f"{key}.tools", f"fgpvae-{frame.slug(key)}", alt, newest)


def _draw(make: Callable[[], go.Figure], height: int, still: bool) -> go.Figure:
    import pandas  # noqa: F401 (Plotly uses a pandas that another thread is still loading)

    return make().update_layout(height=height, dragmode=False if still else None)


@st.cache_resource(max_entries=32, show_spinner=False)
def _figure(key: bytes, _draw: Callable[[], go.Figure]) -> go.Figure:
    return _draw()


@st.cache_resource(max_entries=4, show_spinner=False)
def _without_template(key: bytes, _figure: go.Figure) -> str:
    """JSON that replaces the figure of a chart, which keeps its theme."""
    spec = _figure.to_plotly_json()
    del spec["layout"]["template"]
    return plotly.io.to_json(spec, validate=False)


def table(make: partial[Any], key: str, rows: int, alt: str, pinned: str) -> None:
    """Reserve the space of `rows` rows and show the data that `make` returns, a column pinned.

    `make` is a `functools.partial` of a function of a module. The elements are cached for all
    sessions, because a styled table takes Streamlit ten milliseconds.
    """
    height = ROW * (min(rows, MOST_ROWS) + 1) + 3  # the header row and the border
    options: dict[str, Any] = {"hide_index": True, "height": height, "placeholder": "–"}
    options["column_config"] = {pinned: st.column_config.TextColumn(pinned=True)}
    with _reserved(key, height):
        cache.elements(
            cache.digest(make, key, alt, options),
            lambda: st.dataframe(make(), key=key, alt=alt, **options),
        )


def _reserved(key: str, height: int) -> DeltaGenerator:
    """A container that keeps its height while the browser loads the code of charts and tables."""
    return st.container(height=height, border=False, gap=None, key=f"{key}.place")


def phone() -> bool:
    """Whether the user agent is that of a phone."""
    return "Mobi" in st.context.headers.get("User-Agent", "")


def _customdata(key: str) -> list[Any]:
    points = st.session_state[key]["selection"]["points"]
    return [point["customdata"] for point in points if "customdata" in point]
