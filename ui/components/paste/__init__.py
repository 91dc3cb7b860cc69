"""A picture from the clipboard, given to the uploader of the page."""

from ui.components.paste.paste import paste

__all__ = ["paste"]
