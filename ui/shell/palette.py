"""The colours that have a meaning, for figures, pages and the live component alike."""

import math
from collections.abc import Iterable

LOCAL = "#e4572e"  # channels that turn with the digit; also whatever is held out
GLOBAL = "#2b7a9e"  # channels that stay: the style
HELD_OUT = ACCENT = LOCAL  # what one should look at first, one's own runs among others
TRUTH = "#8b93a5"

# An angle is a colour: 0 degrees first, counter-clockwise, and round again without a jump.
# CIELAB lightness 68 throughout, in steps of equal difference ΔE; upright blue and upside-down
# amber stay apart for every kind of colour blindness.
# fmt: off
CYCLE = (
    "#3cb0e9", "#50acf5", "#6ca7fc", "#8da1fb", "#a999f7", "#c291f2", "#d888e9", "#ea80da",
    "#f47dc7", "#f97cb4", "#fd7ca1", "#ff7d8e", "#fd817c", "#f9856a", "#f58958", "#f08d45",
    "#e79332", "#da9921", "#cba018", "#baa715", "#a8ac1b", "#95b126", "#80b534", "#6cb847",
    "#5aba5d", "#4dba72", "#46ba85", "#3cb998", "#2db8ab", "#15b8bd", "#03b6ce", "#23b3dc",
)
# fmt: on


# A place on a line is a colour as well, from blue to yellow: a part of the circle without its ends
# meeting.
TRACK = CYCLE[: len(CYCLE) * 5 // 8]


def track_colour(share: float) -> str:
    """The colour of a place on a line, from 0 to 1."""
    return angle_colour(math.tau * min(max(share, 0.0), 1.0) * (len(TRACK) - 1) / len(CYCLE))


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


def _rgb(colour: str) -> tuple[int, int, int]:
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)
