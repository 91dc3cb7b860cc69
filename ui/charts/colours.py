"""Colours of charts beside those that have a meaning (`ui.shell.palette`).

A chart does not know the theme when it is made: what it draws must be seen on white and on black.
Text takes no colour here; the browser gives it the theme's.
"""

import colorsys

GREY = "#7a8194"  # what needs no model, and what is one's own: neither local nor global

# Ten classes, as far apart as ten colours can be on both grounds: every two differ by ΔE 48 or
# more, and by 25 or more for people who do not see red or green.
CLASSES = (
    "#1bc2e7",
    "#83c70e",
    "#0c6a46",
    "#a706ac",
    "#a2450a",
    "#fe8ca1",
    "#b4aa5b",
    "#715d81",
    "#068afa",
    "#1c4bfe",
)


def faded(colour: str, alpha: float) -> str:
    """#rrggbb as rgba."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{alpha:g})"


def several(count: int) -> list[str]:
    """Colours for many things that have no order; neighbours differ most."""
    hues = [(0.58 + index * 0.618034) % 1 for index in range(count)]
    shades = [0.5 + 0.14 * (index % 3 - 1) for index in range(count)]
    rgb = [colorsys.hls_to_rgb(hue, shade, 0.5) for hue, shade in zip(hues, shades, strict=True)]
    return ["#" + "".join(f"{round(255 * part):02x}" for part in colour) for colour in rgb]
