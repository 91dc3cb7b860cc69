"""A picture with boxes of its digits and a frame to crop it by click, drag or arrow keys."""

from collections.abc import Callable, Sequence
from typing import Any

from ui.components.shared import Component

_component = Component("crop")
Box = tuple[float, float, float, float]  # left, top, right, bottom, as shares of the picture


def crop(
    image: str,
    boxes: Sequence[Box],
    chosen: Box | None,
    *,
    key: str,
    label: str,
    hint: str,
    on_crop: Callable[[Box | None], None],
) -> None:
    """Show a picture by its address; `on_crop` gets the chosen part, None for all."""

    def cropped(sent: Any) -> None:
        box = checked(sent)
        if box is not None or sent == {"edges": None}:
            on_crop(box)

    shown = [[round(edge, 4) for edge in box] for box in boxes]
    data = {"image": image, "boxes": shown, "crop": chosen, "label": label, "hint": hint}
    _component(key, data, cropped=cropped)


def checked(sent: Any) -> Box | None:
    """The part sent by the browser, if it is valid."""
    try:
        left, top, right, bottom = (float(edge) for edge in sent["edges"])
    except (TypeError, ValueError, KeyError):
        return None
    inside = 0 <= left < right <= 1 and 0 <= top < bottom <= 1
    return (left, top, right, bottom) if inside else None


__all__ = ["Box", "checked", "crop"]
