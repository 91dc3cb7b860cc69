"""Rows of pictures with a name each, as HTML."""

from collections.abc import Sequence
from html import escape

import numpy as np

from ui.components.pictures.pictures import address
from ui.shell import palette

_NAME = (
    "font-size:.8rem;opacity:.75;white-space:nowrap;padding-right:.5rem;position:sticky;left:0;"
    "background:light-dark(#fff,#171b24);z-index:1"
)


def grid(
    rows: Sequence[tuple[str, np.ndarray]],
    columns: Sequence[str],
    bars: Sequence[str] | None = None,
    marked: int | None = None,
    cell: int = 34,
    alt: str = "pictures",
) -> str:
    """Rows of images [C, H, W], or [C, 3, H, W], with a name each, as HTML.

    Columns have a label and a colour bar.

    The grid takes the width it is given; where cells would get narrower than `cell` pixels, it
    scrolls sideways inside its card.
    """
    named = any(name for name, _ in rows)
    parts = []
    for name, images in rows:
        if named:
            parts.append(f'<div style="{_NAME}">{escape(name)}</div>')
        for index, image in enumerate(images):
            outline = f"outline:2px solid {palette.GLOBAL};" if index == marked else ""
            parts.append(
                f'<img src="{address(image)}" alt="" style="width:100%;aspect-ratio:1;'
                f"object-fit:contain;background:#000;"
                f'border-radius:6px;display:block;{outline}">'
            )
    if named:
        parts.append("<div></div>")
    for index, text in enumerate(columns):
        bar = ""
        if bars is not None:
            bar = f'<div style="height:4px;border-radius:2px;background:{bars[index]}"></div>'
        weight = "font-weight:700;opacity:1" if index == marked else "opacity:.7"
        parts.append(
            f'<div style="min-width:0">{bar}<div style="text-align:center;font-size:.75rem;'
            f'overflow:hidden;{weight}">{escape(text)}</div></div>'
        )
    columns_css = f"repeat({len(columns)}, minmax({cell}px, 1fr))"
    if named:
        columns_css = f"max-content {columns_css}"
    return (
        f'<div role="img" tabindex="0" aria-label="{escape(alt)}" '
        'style="overflow-x:auto;padding:3px">'
        f'<div style="display:grid;grid-template-columns:{columns_css};gap:5px;'
        f'align-items:center">{"".join(parts)}</div></div>'
    )
