"""Train a model."""

from ui import frame

frame.guard()
frame.heading("Train", "Choose the settings, start a run and watch it learn.")
frame.empty(
    "Not here yet",
    "Settings with their meaning, live curves, and live pictures of what the model has learnt.",
)
