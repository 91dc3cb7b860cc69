"""A canvas to draw a digit on, with Undo and Clear beside it."""

from ui.components.canvas.canvas import Strokes, canvas, to_png

__all__ = ["Strokes", "canvas", "to_png"]
