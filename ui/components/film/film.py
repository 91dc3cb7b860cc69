"""A film of one turn: the browser draws it large, and records what it draws."""

from ui.components.shared import Component

_component = Component(
    "film", "film/film.js", "film/film.html", ("shared/common.css", "shared/action.css")
)


def film(key: str, name: str) -> None:
    """A button that records what the dial `key` shows, and saves it under a name."""
    _component(key=f"{key}.film", data={"key": key, "name": name}, width="content")
