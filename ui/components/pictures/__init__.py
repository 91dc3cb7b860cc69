"""Digits as pictures in HTML: in rows and in grids."""

from ui.components.pictures.grid import grid
from ui.components.pictures.pictures import address, framed, photo, row

__all__ = ["address", "framed", "grid", "photo", "row"]
