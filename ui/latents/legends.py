"""What the colour of an angle means, as HTML."""

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
