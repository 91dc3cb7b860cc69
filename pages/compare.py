"""Models side by side."""

from ui import frame

frame.guard()
frame.heading(
    "Compare", "The same test images through every model, the paper's table next to ours."
)
frame.empty(
    "Not here yet",
    "The paper's table, pictures with their errors, and your own runs in the same places.",
)
