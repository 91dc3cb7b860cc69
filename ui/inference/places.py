"""Places on a track as the dial reads them (degrees, or percent of a line), and their colours."""

import numpy as np

from fgpvae.data.track import Track
from ui.shell import palette


def to_dial(track: Track, w: float) -> float:
    return float(np.rad2deg(w) % 360) if track.period else 50 * (w + 1)


def from_dial(track: Track, angle: float) -> float:
    return float(np.deg2rad(angle)) if track.period else angle / 50 - 1


def colours(track: Track, w: np.ndarray) -> list[str]:
    if not track.period:  # a line has the first colours of the circle
        share = np.clip((w + 1) / 2, 0, 1)
        w = 2 * np.pi * share * (len(palette.TRACK) - 1) / len(palette.CYCLE)
    return palette.angle_colours(w)


def labels(track: Track, w: np.ndarray) -> list[str]:
    """Places in words: degrees, or numbers of frames."""
    return [track.text(float(track.to_view(place))) for place in w]
