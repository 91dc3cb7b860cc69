"""A picture with the boxes of its digits, and a frame to cut out one: by click, drag or arrows."""

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
    """Show a picture by its address; `on_crop` gets the part that was chosen, None for all."""

    def cropped(sent: Any) -> None:
        box = checked(sent)
        if box is not None or sent == {"edges": None}:
            on_crop(box)

    shown = [[round(edge, 4) for edge in box] for box in boxes]
    data = {"image": image, "boxes": shown, "crop": chosen, "label": label, "hint": hint}
    _component(key, data, cropped=cropped)


def checked(sent: Any) -> Box | None:
    """What the browser sent, if it is a part of a picture."""
    try:
        left, top, right, bottom = (float(edge) for edge in sent["edges"])
    except (TypeError, ValueError, KeyError):
        return None
    inside = 0 <= left < right <= 1 and 0 <= top < bottom <= 1
    return (left, top, right, bottom) if inside else None


__all__ = ["Box", "checked", "crop"]
