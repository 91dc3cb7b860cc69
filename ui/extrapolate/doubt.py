"""What is left of the uncertainty as views are added: a drawing, or a sentence where none goes."""

from collections.abc import Sequence
from html import escape

from fgpvae.models import Model
from ui.components import sketch
from ui.extrapolate import findings, user_views
from ui.extrapolate.user_views import Ring
from ui.inference import captions
from ui.shell import frame

FALLS = 0.9  # of the first doubt: what is left is drawn if it comes below this share


def card(key: str, model: Model, ring: Ring, seen: Sequence[int]) -> None:
    """What more views of a digit would change, where the model says how sure it is."""
    order = user_views.arrival(seen)
    left = findings.doubt_left(model, ring, order)
    if left is None:
        return
    if left[-1] < FALLS * left[0]:
        title, sentence = (
            "More views, less doubt",
            "How much of the uncertainty is left. A click on a dot of the ring shows the model "
            "a turned copy of the picture.",
        )
    else:
        title, sentence = "More views change little", same(model, ring, seen, order)
    with frame.card(title, sentence, key="extrapolate.doubt"):
        if left[-1] < FALLS * left[0]:
            sketch.show(falling(left.tolist(), len(seen)), key=f"{key}.falling")


def same(model: Model, ring: Ring, seen: Sequence[int], order: Sequence[int]) -> str:
    """How well a pixel is known now, and how well with all views that could be added."""
    now, then = (findings.pixel_sd(model, ring, some) for some in (seen, order))
    few, many = (
        f"{captions.count(len(some))} view{'s' * (len(some) > 1)}" for some in (seen, order)
    )
    held = " These margins were checked on digits it had never seen." if model.calibration else ""
    return (
        f"Averaged over all angles, a pixel is known to ± {now:.3f} from {few} and to ± "
        f"{then:.3f} from {many}: more views of this digit would hardly make the "
        f"model more certain.{held}"
    )


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
