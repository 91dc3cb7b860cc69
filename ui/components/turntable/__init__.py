"""Pictures from all angles that turn with the dial: rendered once, cut out by the browser."""

from collections.abc import Mapping, Sequence

import numpy as np

from ui.components.pictures import address
from ui.components.shared import Component

_component = Component("turntable")


def turntable(
    rows: Mapping[str, np.ndarray],
    *,
    key: str,
    name: str,
    figures: Mapping[str, Sequence[float]] | None = None,
    hints: Mapping[str, str] | None = None,
    least: int = 0,
    silent: str = "",
    line: bool = False,
) -> None:
    """Show pictures, each [S, n, m], or [S, 3, n, m] in colour, as the dial `key` moves.

    They are at S places around the circle, or on a `line` from end to end.

    `rows` has their captions. `figures` are numbers at the same angles, written below; `hints` say
    what a caption or a number means. Three pictures are side by side, or fewer where one would have
    less than `least` pixels. `silent` is shown instead while the dial has another style than the
    subject's own. `name` distinguishes turntables of one dial.
    """
    images = np.stack(list(rows.values()))
    images = images[:, :, None] if images.ndim == 4 else images  # [R, S, C, n, m]
    count, frames, channels, height, width = images.shape
    sheet = images.transpose(2, 0, 3, 1, 4).reshape(channels, count * height, frames * width)
    data = {
        "key": key,
        "names": list(rows),
        "frames": frames,
        "height": height,
        "width": width,
        "line": line,
        "sheet": address(sheet[0] if channels == 1 else sheet),
        "figures": {name: np.round(each, 5).tolist() for name, each in (figures or {}).items()},
        "hints": dict(hints or {}),
        "least": least,
        "silent": silent,
    }
    _component(f"{key}.{name}", data)


__all__ = ["turntable"]
