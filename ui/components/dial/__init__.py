"""The dial that turns a digit, and the decoder that draws it in the browser."""

from ui.components.dial.dial import (
    DialState,
    Pose,
    Scale,
    context,
    dial,
    move,
    pose,
)
from ui.components.style_sliders import Morph

__all__ = ["DialState", "Morph", "Pose", "Scale", "context", "dial", "move", "pose"]
