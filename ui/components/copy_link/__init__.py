"""A button that copies the address of the page, which includes all choices."""

from ui.components.shared import Component

_component = Component("copy_link")


def copy_link(key: str) -> None:
    _component(f"{key}.copy_link", {}, "content")


__all__ = ["copy_link"]
