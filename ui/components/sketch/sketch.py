"""A small drawing in SVG that takes the colours of the theme."""

from ui.components.shared import Component

_component = Component("sketch", "sketch/sketch.js", "sketch/sketch.html", ("sketch/sketch.css",))


def show(svg: str, key: str, width: int | None = None) -> None:
    """Show a drawing, at most `width` pixels wide."""
    _component(key=key, data={"svg": svg, "width": width})
