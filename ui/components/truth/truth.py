"""The digit on the dial beside the true one: the browser turns the truth along with the dial."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from ui.components.shared import Component, packed, rounded

_component = Component(
    "truth", "truth/truth.js", "truth/truth.html", ("shared/common.css", "truth/truth.css")
)


def truth(
    image: np.ndarray,
    mean: np.ndarray,
    seen: Sequence[float],
    spread: Sequence[float] | None,
    *,
    key: str,
    subject: Hashable,
    texts: Mapping[str, str],
    hints: Mapping[str, str],
) -> None:
    """Show what the dial `key` draws beside the upright `image` [n, n] turned to the same angle.

    `mean` [n, n] is the upright mean of its class, `seen` are the degrees of the views that the
    model knows, `spread` the standard deviation of a pixel at angles all round, None if it is not
    known. `texts` are the sentences "why" and "silent", and perhaps a "link" after the former to an
    "address"; `hints` say what a figure is.
    """
    data: dict[str, Any] = {
        "key": key,
        "subject": repr(subject),
        "size": len(image),
        "image": packed(image),
        "mean": packed(mean),
        "seen": list(seen),
        "spread": None if spread is None else rounded(spread),
        "texts": dict(texts),
        "hints": dict(hints),
    }
    _component(key=f"{key}.truth", data=data)
