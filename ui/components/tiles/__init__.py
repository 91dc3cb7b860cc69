"""Pictures that can be chosen with a click or the keyboard."""

from ui.components.tiles.tiles import Tile, tiles

__all__ = ["Tile", "tiles"]
