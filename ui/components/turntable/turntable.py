"""Pictures from all round that turn together with the dial: drawn here once, cut out there."""

from collections.abc import Mapping, Sequence

import numpy as np

from ui.components.pictures import address
from ui.components.shared import Component

_component = Component(
    "turntable",
    "turntable/turntable.js",
    "turntable/turntable.html",
    ("shared/common.css", "turntable/turntable.css"),
)


def turntable(
    rows: Mapping[str, np.ndarray],
    *,
    key: str,
    name: str,
    figures: Mapping[str, Sequence[float]] | None = None,
    hints: Mapping[str, str] | None = None,
    least: int = 0,
    silent: str = "",
) -> None:
    """Show pictures, each [S, n, n] at S angles from 0 on, as the dial `key` is turned.

    `rows` has their captions. `figures` are numbers at the same angles, written below; `hints` say
    what a caption or a number means. Three pictures are side by side, or fewer where one would have
    less than `least` pixels. `silent` takes the place of everything while the dial has another
    style than its own. `name` tells turntables of one dial apart.
    """
    images = np.stack(list(rows.values()))  # [R, S, n, n]
    count, frames, size, _ = images.shape
    sheet = images.transpose(0, 2, 1, 3).reshape(count * size, frames * size)
    data = {
        "key": key,
        "names": list(rows),
        "frames": frames,
        "size": size,
        "sheet": address(sheet),
        "figures": {
            each: [round(float(v), 5) for v in values] for each, values in (figures or {}).items()
        },
        "hints": dict(hints or {}),
        "least": least,
        "silent": silent,
    }
    _component(key=f"{key}.{name}", data=data)
