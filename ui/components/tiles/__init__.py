"""Pictures that can be chosen with a click or the keyboard."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from ui.components.shared import Component

_component = Component("tiles")


@dataclass(frozen=True)
class Tile:
    name: str  # name sent on a click
    image: str  # address of the picture
    hint: str  # label for screen readers and on hovering
    text: str = ""
    colour: str = ""  # colour of a bar below the picture
    dot: bool = False  # whether the bar marks an observed view
    marked: bool = False  # whether it is held out
    selected: bool = False
    second: bool = False  # whether it is the second selected one
    badge: str = ""


def tiles(
    shown: Sequence[Tile],
    *,
    key: str,
    label: str,
    on_pick: Callable[[str], None],
    layout: str = "gallery",
    single: bool = True,
) -> None:
    """Show pictures in a `gallery`, a `strip` of one row (two on a narrow screen), or a `choice`.

    `on_pick` gets the name of a picture that was picked, before the page runs again. `single`:
    a picked picture becomes the selected one at once.
    """

    def picked(name: object) -> None:
        if isinstance(name, str) and any(each.name == name for each in shown):
            on_pick(name)

    pictures = [asdict(each) for each in shown]
    data = {"layout": layout, "label": label, "single": single, "tiles": pictures}
    _component(key, data, picked=picked)


__all__ = ["Tile", "tiles"]
