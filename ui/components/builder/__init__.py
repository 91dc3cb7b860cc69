"""A figure of cubes to turn and to build face by face; the page stores the cubes."""

from collections.abc import Callable, Sequence
from typing import Any

from fgpvae.data import cube_figures
from ui.components.shared import Component

_component = Component("builder")
Cubes = tuple[tuple[int, int, int], ...]
FARTHEST = 100  # maximum distance from the first cube
MOST = 60  # maximum number of cubes from the browser; models may allow fewer


def builder(built: Sequence[Sequence[int]], *, key: str, on_built: Callable[[Cubes], None]) -> None:
    """Show cubes for editing; `on_built` gets all of them after each change."""

    def taken(sent: Any) -> None:
        if (made := checked(sent)) is not None:
            on_built(made)

    data = {"cubes": built, "elevation": cube_figures.ELEVATION, "most": cube_figures.MOST_CUBES}
    _component(key, data, built=taken)


def checked(sent: Any) -> Cubes | None:
    """The places sent by the browser, if they are valid."""
    try:
        made = tuple((int(x), int(y), int(z)) for x, y, z in sent["cubes"])
    except (TypeError, ValueError, KeyError, OverflowError):
        return None
    near = all(abs(value) <= FARTHEST for cube in made for value in cube)
    return made if near and len(made) <= MOST else None


__all__ = ["builder", "checked"]
