"""Inside the latent space."""

from ui import frame

frame.guard()
frame.heading("Latents", "What the model keeps of a digit: a loop that turns, a point that stays.")
frame.empty("Not here yet", "Where each view of a digit lies, and what each channel does.")
