"""The colours of angles and of places on a line."""

# Colours of angles: from 0 degrees counter-clockwise, cyclic. CIELAB lightness 68 throughout, in
# steps of equal difference ΔE; upright blue and upside-down amber stay apart for every kind of
# colour blindness.
# fmt: off
CYCLE = (
    "#3cb0e9", "#50acf5", "#6ca7fc", "#8da1fb", "#a999f7", "#c291f2", "#d888e9", "#ea80da",
    "#f47dc7", "#f97cb4", "#fd7ca1", "#ff7d8e", "#fd817c", "#f9856a", "#f58958", "#f08d45",
    "#e79332", "#da9921", "#cba018", "#baa715", "#a8ac1b", "#95b126", "#80b534", "#6cb847",
    "#5aba5d", "#4dba72", "#46ba85", "#3cb998", "#2db8ab", "#15b8bd", "#03b6ce", "#23b3dc",
)
# fmt: on

# Colours of places on a line, from blue to yellow: a part of the circle, so not cyclic.
TRACK = CYCLE[: len(CYCLE) * 5 // 8]
