"""Pass a picture from the clipboard to the uploader of the page.

So it is limited, checked and shown like any other file.
"""

from ui.components.shared import Component

_component = Component("paste")


def paste(key: str) -> None:
    """Listen for Ctrl+V, and show a button if the browser allows reading the clipboard."""
    _component(key, {})


__all__ = ["paste"]
