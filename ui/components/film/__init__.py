"""A film of one turn, drawn and recorded by the browser."""

from ui.components.shared import Component

_component = Component("film")


def film(key: str, name: str) -> None:
    """Show a button that records what the dial `key` shows, and saves it under a name."""
    _component(f"{key}.film", {"key": key, "name": name}, "content")


__all__ = ["film"]
