"""How a page shows its charts: space first, the chart after all words and pictures."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

import streamlit as st

if TYPE_CHECKING:
    import plotly.graph_objects as go

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
) -> None:
    """Reserve `height` pixels and draw the chart that `make` returns.

    `alt` says in words what one would see. `picked` is called with the customdata of the points
    that were clicked or circled.
    """
    place = st.container(height=height, border=False, gap=None, key=f"{key}.place")

    def draw() -> None:
        made = make().update_layout(height=height)
        options: dict[str, Any] = {}
        if picked is not None:
            options = {
                "on_select": lambda: picked(_customdata(key)),
                "selection_mode": ("points", "lasso"),
            }
        elif phone():
            made.update_layout(dragmode=False)  # a finger scrolls the page
        with place:
            st.plotly_chart(made, key=key, config=_config(key), alt=alt, height=height, **options)

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


def _config(key: str) -> dict[str, Any]:
    name = "fgpvae-" + re.sub(r"[^a-z0-9]+", "-", key.lower()).strip("-")
    return {
        "modeBarButtonsToRemove": ["autoScale2d", "tableRotation", "resetCameraLastSave3d"],
        "toImageButtonOptions": {"format": "png", "filename": name, "scale": 2},
    }
