"""The dial that turns a digit, and the decoder that draws it in the browser."""

from ui.components.dial.dial import (
    LEAD,
    Beside,
    DialState,
    Pose,
    Scale,
    context,
    dial,
    followed,
    move,
    pose,
)
from ui.components.dial.opening import opening
from ui.components.dial.standalone import Standalone
from ui.components.style_sliders import Morph

__all__ = [
    "LEAD",
    "Beside",
    "DialState",
    "Morph",
    "Pose",
    "Scale",
    "Standalone",
    "context",
    "dial",
    "followed",
    "move",
    "opening",
    "pose",
]
