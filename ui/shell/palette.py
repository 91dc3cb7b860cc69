"""Colours with a meaning, for charts, pages and components."""

import math
from collections.abc import Iterable

from PIL.ImageColor import getrgb

from fgpvae.browser.colours import CYCLE as CYCLE
from fgpvae.browser.colours import TRACK as TRACK

LOCAL = "#e4572e"  # local channels; also held-out views
GLOBAL = "#2b7a9e"  # global channels: the style
HELD_OUT = ACCENT = LOCAL  # highlights, e.g. own runs
TRUTH = "#8b93a5"


def angle_colour(w: float) -> str:
    """Return the colour of an angle in radians, as #rrggbb."""
    position = w / math.tau % 1 * len(CYCLE)
    first, share = int(position) % len(CYCLE), position % 1
    low, high = getrgb(CYCLE[first]), getrgb(CYCLE[(first + 1) % len(CYCLE)])
    mixed = (round(a + share * (b - a)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def angle_colours(angles: Iterable[float]) -> list[str]:
    return [angle_colour(float(w)) for w in angles]
