"""What is left of the uncertainty as views are added, as a drawing."""

from collections.abc import Sequence
from html import escape


def falling(values: Sequence[float], seen: int) -> str:
    """What is left of the uncertainty with 1, 2, ... views; up to `seen` they are there."""
    width, height, left, top, bottom = 440, 150, 44, 12, 30
    high = max(1e-6, max(values))

    def at(index: int) -> tuple[float, float]:
        share = index / max(len(values) - 1, 1)
        return left + 14 + share * (width - left - 32), (
            top + (1 - values[index] / high) * (height - top - bottom)
        )

    base = height - bottom
    points = [at(index) for index in range(len(values))]
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    known = " ".join(f"{x:.1f},{y:.1f}" for x, y in points[:seen])
    dots = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" class="{"ink" if index < seen else "card line"}" '
        f'stroke-width="1.6"><title>{index + 1}: {values[index]:.0%}</title></circle>'
        for index, (x, y) in enumerate(points)
    )
    numbers = "".join(
        f'<text x="{x:.1f}" y="{height - 10}" text-anchor="middle">{index + 1}</text>'
        for index, (x, _) in enumerate(points)
    )
    label = f"Uncertainty left with {seen} of {len(values)} views: {values[seen - 1]:.0%}"
    return (
        f'<svg viewBox="0 0 {width} {height}" role="img" aria-label="{escape(label)}">'
        f'<line class="faint" x1="{left}" x2="{width - 6}" y1="{base}" y2="{base}"/>'
        f'<text x="{left - 6}" y="{top + 5}" text-anchor="end">{high:.0%}</text>'
        f'<text x="{left - 6}" y="{base + 5}" text-anchor="end">0%</text>'
        f'<polyline class="line" points="{path}" stroke-width="1.6" stroke-dasharray="2 5" '
        f'opacity="0.5"/><polyline class="line" points="{known}" stroke-width="2"/>'
        f"{dots}{numbers}</svg>"
    )
