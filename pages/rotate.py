"""Drag a digit around."""

from ui import frame

frame.guard()
frame.heading(
    "Rotate a digit", "Drag the ring: the model turns the digit, also where it never saw it."
)
frame.empty(
    "Not here yet", "A dial that turns a digit, sliders for its style, and the truth beside it."
)
