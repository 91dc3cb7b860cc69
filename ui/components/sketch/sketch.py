"""A small drawing in SVG that takes the colours of the theme."""

from functools import cache
from pathlib import Path
from typing import Any

import streamlit as st

HERE = Path(__file__).parent


def show(svg: str, key: str, width: int | None = None) -> None:
    """Show a drawing, at most `width` pixels wide."""
    _component()(key=key, data={"svg": svg, "width": width})


@cache
def _component() -> Any:
    return st.components.v2.component(
        "fgpvae_sketch",
        html='<div class="sketch"></div>',
        css=(HERE / "sketch.css").read_text(encoding="utf-8"),
        js=(HERE / "sketch.js").read_text(encoding="utf-8"),
    )
