"""Buttons for what the browser alone can do: copy a link, record a film, read the clipboard."""

from ui.components.shared import Component

copy_link = Component("copy_link", "buttons")  # the address of the page, with all choices
film = Component("film", "buttons")  # what the dial `key` shows while it moves once, as `name`
paste = Component("paste", "buttons")  # a picture from the clipboard, for the page's uploader

__all__ = ["copy_link", "film", "paste"]
