"""The colours that have a meaning, for figures, pages and the live component alike."""

import math
from collections.abc import Iterable

LOCAL = "#e4572e"  # channels that turn with the digit; also whatever is held out
GLOBAL = "#2b7a9e"  # channels that stay: the style
HELD_OUT = LOCAL
TRUTH = "#8b93a5"

# An angle is a colour: 0 degrees first, counter-clockwise, and round again without a jump.
# CIELAB lightness 68 throughout, in steps of equal difference ΔE; upright blue and upside-down
# amber stay apart for every kind of colour blindness.
# fmt: off
CYCLE = (
    "#2fb1ec", "#3eaef9", "#62a8ff", "#86a2fd", "#a29bfa", "#bb92f7", "#d18aef", "#e482e0",
    "#f37ccf", "#fa7bbc", "#fc7caa", "#ff7d97", "#fe7f85", "#fc8274", "#fa8561", "#f48a50",
    "#e99143", "#db9839", "#cd9f33", "#bca531", "#abab34", "#98b03b", "#83b446", "#6db854",
    "#51ba64", "#3abb78", "#33bb8b", "#2cba9d", "#22b9ae", "#11b8bf", "#05b6d0", "#20b3de",
)
# fmt: on


def angle_colour(w: float) -> str:
    """The colour of an angle in radians, as #rrggbb."""
    position = w / math.tau % 1 * len(CYCLE)
    first, share = int(position) % len(CYCLE), position % 1
    low, high = _rgb(CYCLE[first]), _rgb(CYCLE[(first + 1) % len(CYCLE)])
    mixed = (round(a + share * (b - a)) for a, b in zip(low, high, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def angle_colours(angles: Iterable[float]) -> list[str]:
    """One colour for each angle in radians."""
    return [angle_colour(float(w)) for w in angles]


def plotly_scale() -> list[tuple[float, str]]:
    """The circular map as a Plotly colour scale over 0 to 2π (`cmin=0, cmax=2π`)."""
    closed = [*CYCLE, CYCLE[0]]
    return [(index / len(CYCLE), colour) for index, colour in enumerate(closed)]


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
