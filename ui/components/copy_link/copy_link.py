"""A button that copies the address of the page, which has every choice in it."""

from ui.components.shared import Component

_component = Component(
    "copy_link",
    "copy_link/copy_link.js",
    "copy_link/copy_link.html",
    ("shared/common.css", "shared/action.css"),
)


def copy_link(key: str) -> None:
    _component(key=f"{key}.copy_link", data={}, width="content")
