"""Where views lie: on a circle or on a line."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import require


@dataclass(frozen=True)
class Track:
    """Where views lie: on a circle of the given period, or on a line from low to high."""

    period: float = 0.0  # 0 for a line
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        positive = 0 <= self.period < math.inf
        require(positive, f"The period of the views must be positive, not {self.period:g}.")
        ordered = self.period or -math.inf < self.low < self.high < math.inf
        require(ordered, "The views of a line must have a range: a lowest and a highest one.")

    @property
    def ends(self) -> tuple[float, float]:
        """First and last view of the track."""
        return (0.0, self.period) if self.period else (self.low, self.high)

    def to_w(self, view: Any) -> Any:
        """Convert views to coordinates w."""
        if self.period:
            return 2 * math.pi * (view / self.period)
        return 2 * (view - self.low) / (self.high - self.low) - 1

    def to_view(self, w: Any) -> Any:
        if self.period:
            return (w / (2 * math.pi)) % 1 * self.period
        return self.low + (w + 1) / 2 * (self.high - self.low)

    def apart(self, a: Any, b: Any) -> Any:
        """Distance between coordinates w, for arrays of any shape."""
        delta = np.abs(np.asarray(a) - np.asarray(b))
        return np.abs((delta + math.pi) % (2 * math.pi) - math.pi) if self.period else delta

    def text(self, view: float) -> str:
        """Format a view with its unit; the range of the track sets the number of decimals."""
        low, high = self.ends
        places = min(max(2 - math.floor(math.log10(high - low)), 1), 6)
        return f"{round(view, places):g}{'°' * self.degrees}"

    @property
    def degrees(self) -> bool:
        return self.period == 360.0

    def grid(self, count: int) -> np.ndarray:
        """`count` evenly spaced coordinates w over the circle or the line."""
        if self.period:
            return np.arange(count) * (2 * math.pi / count)
        return np.linspace(-1, 1, count)
