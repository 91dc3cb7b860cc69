"""Buttons for what the browser alone can do: copy a link, record a film, read the clipboard."""

from ui.components.shared import Component

_copy_link, _film, _paste = (Component(name, "buttons") for name in ("copy_link", "film", "paste"))


def copy_link(key: str) -> None:
    """Copy the address of the page, which includes all choices."""
    _copy_link(f"{key}.copy_link", {}, "content")


def film(key: str, name: str) -> None:
    """Record what the dial `key` shows while it moves once, and save it under a name."""
    _film(f"{key}.film", {"key": key, "name": name}, "content")


def paste(key: str) -> None:
    """Pass a picture from the clipboard to the uploader of the page, which checks and shows it."""
    _paste(key, {})


__all__ = ["copy_link", "film", "paste"]
