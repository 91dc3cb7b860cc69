"""A picture from the clipboard, given to the uploader of the page as if it had been chosen there.

So it is bounded, checked and shown like every other file.
"""

from ui.components.shared import Component

_component = Component("paste")


def paste(key: str) -> None:
    """Listen for Ctrl+V, and offer a button where the browser lets one read the clipboard."""
    _component(key, {})


__all__ = ["paste"]
