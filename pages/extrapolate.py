"""A digit of one's own."""

from ui import frame

frame.guard()
frame.heading("Extrapolate", "Bring a digit that the model has never seen, and turn it.")
frame.empty(
    "Not here yet", "Upload, draw or photograph a digit; the model turns it from one picture."
)
