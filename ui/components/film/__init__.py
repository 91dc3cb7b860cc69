"""A film of one turn, recorded in the browser."""

from ui.components.film.film import film

__all__ = ["film"]
