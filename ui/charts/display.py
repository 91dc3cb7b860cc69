"""How a page shows charts and tables: in space that is reserved before they come."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import plotly.graph_objects as go
import streamlit as st

from ui.components import plot_tools
from ui.shell import cache

if TYPE_CHECKING:
    from streamlit.delta_generator import DeltaGenerator

# Saving is left to `plot_tools`: Plotly's own button knows one format, and no ground to put under
# the light letters of a dark theme.
CONFIG = {
    "modeBarButtonsToRemove": ["toImage", "autoScale2d", "tableRotation", "resetCameraLastSave3d"]
}
BEST = "background-color: rgba(43, 122, 158, 0.18); font-weight: 700"  # of a cell in a table
ROW, MOST_ROWS = 35, 10  # pixels of a row; of longer tables the rest is scrolled to


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
    all sessions; one that is `picked` from or `live` is made anew. `alt` describes the chart in
    words. `picked` is called with the customdata of the points that were clicked or circled. As
    long as `live` stays the same, a new figure is put into the chart that is there, which keeps its
    zoom.
    """
    options: dict[str, Any] = {"key": key, "config": CONFIG, "height": height}
    still = phone() and picked is None  # a finger scrolls the page

    def figure() -> go.Figure:
        import pandas  # noqa: F401 (Plotly uses a pandas that another thread is still loading)

        return go.Figure(make()).update_layout(dragmode=False if still else None)

    newest = ""
    with _reserved(key, height):
        if picked is not None:
            options["on_select"] = lambda: picked(_customdata(key))
            st.plotly_chart(figure(), alt=alt, selection_mode=("points", "lasso"), **options)
        elif live:
            made = figure()
            # Streamlit draws a chart anew whenever it or its words differ from before
            first, named = st.session_state.setdefault(f"{key}.{live}", (made, alt))
            st.plotly_chart(first, alt=named, **options)
            newest = go.Figure(made).update_layout(template=None).to_json()
        else:
            cache.elements(
                cache.digest(make, alt, options, still),
                lambda: st.plotly_chart(figure(), alt=alt, **options),
            )
        file = re.sub(r"[^a-z0-9]+", "-", key.lower())
        plot_tools.show(f"{key}.tools", f"fgpvae-{file}", alt, newest)


def table(make: partial[Any], key: str, rows: int, alt: str, **options: Any) -> None:
    """Reserve the space of `rows` rows and show the data that `make` returns, a dash for none.

    `make` is a `functools.partial` of a function of a module. The elements are cached for all
    sessions: to write a table with styles takes Streamlit ten milliseconds.
    """
    options |= {"hide_index": True, "placeholder": "–"}
    options["height"] = ROW * (min(rows, MOST_ROWS) + 1) + 3  # the header row and the border
    with _reserved(key, options["height"]):
        cache.elements(
            cache.digest(make, key, alt, options),
            lambda: st.dataframe(make(), key=key, alt=alt, **options),
        )


def _reserved(key: str, height: int) -> DeltaGenerator:
    """A place that keeps its height while the browser loads what draws charts and tables."""
    return st.container(height=height, border=False, gap=None, key=f"{key}.place")


def phone() -> bool:
    """Whether the browser calls itself that of a phone."""
    return "Mobi" in st.context.headers.get("User-Agent", "")


def _customdata(key: str) -> list[Any]:
    points = st.session_state[key]["selection"]["points"]
    return [point["customdata"] for point in points if "customdata" in point]
