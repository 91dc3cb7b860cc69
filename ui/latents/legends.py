"""What the colours of points mean, as HTML."""

from collections.abc import Sequence
from html import escape

from ui.shell import palette


def angle_legend() -> str:
    """The circular colour map as a strip with its degrees, as HTML."""
    stops = ",".join([*palette.CYCLE, palette.CYCLE[0]])
    marks = "".join(f"<span>{degrees}°</span>" for degrees in (0, 90, 180, 270, 360))
    return (
        f'<div style="max-width:22rem"><div style="height:6px;border-radius:3px;'
        f'background:linear-gradient(90deg,{stops})"></div><div style="display:flex;'
        f'justify-content:space-between;font-size:.75rem;opacity:.7">{marks}</div></div>'
    )


def chips(names: Sequence[str], palette: Sequence[str]) -> str:
    """A legend of coloured dots, as HTML."""
    each = "".join(
        f'<span style="margin-right:.9rem;white-space:nowrap"><span style="display:inline-block;'
        f"width:.65rem;height:.65rem;border-radius:50%;background:{colour};"
        f'margin-right:.35rem"></span>{escape(name)}</span>'
        for name, colour in zip(names, palette, strict=True)
    )
    return f'<div style="font-size:.85rem;line-height:1.8">{each}</div>'
