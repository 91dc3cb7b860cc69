"""The paper in five screens."""

from ui import frame

frame.guard()
frame.heading("How it works", "The paper in five screens, each with something to move.")
frame.empty("Not here yet", "Kernels, covariances, a GP to click points into, and a recorded run.")
