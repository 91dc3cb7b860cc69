"""What components share: CSS, JavaScript, and how a component's files reach the browser."""

from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

import streamlit as st
from streamlit.components.v2.get_bidi_component_manager import get_bidi_component_manager
from streamlit.components.v2.manifest_scanner import ComponentConfig, ComponentManifest

if TYPE_CHECKING:
    import numpy as np

COMPONENTS = Path(__file__).parents[1]
PROJECT = "fgpvae"
_lock = Lock()


class Component:
    """A component whose JavaScript is a module that the browser loads once.

    `script` is a file below ui/components; what it imports is loaded with it. Streamlit reads such
    files from installed packages; here they are registered from where they are.
    """

    def __init__(self, name: str, script: str, html: str = "", css: Iterable[str] = ()) -> None:
        self.name = f"{PROJECT}.{name}"
        self.manifest = ComponentManifest(PROJECT, "", [ComponentConfig(name, ".")])
        self.parts: dict[str, Any] = {
            "html": read(html) if html else None,
            "css": "\n".join(read(file) for file in css) or None,
            "js": script,
        }
        self.mount: Any = None

    def __call__(self, *, key: str, data: Any, **options: Any) -> None:
        """Show it; `options` are callbacks on_NAME_change, and the width.

        Bytes reach the script as they are, all else as the one entry of a list: in a dictionary
        Streamlit looks for data frames, for which it loads pandas before the first picture.
        """
        with _lock:
            manager = get_bidi_component_manager()
            if manager.get_component_asset_root(self.name) is None:
                manager.register_from_manifest(self.manifest, COMPONENTS)
            if self.mount is None:
                self.mount = st.components.v2.component(self.name, **self.parts)
        sent = data if isinstance(data, bytes) else [data]
        self.mount(key=key, data=sent, **options)


def read(file: str) -> str:
    """A file below ui/components."""
    return (COMPONENTS / file).read_text(encoding="utf-8")


def rounded(values: Iterable[float]) -> list[float]:
    """Seven significant digits: as good as float32, in half the letters."""
    return [float(f"{value:.7g}") for value in values]


def packed(values: "np.ndarray") -> str:
    """Many numbers in float32, as letters: quicker to write and to read than decimals."""
    return b64encode(values.astype("<f4").tobytes()).decode()


__all__ = ["Component", "packed", "read", "rounded"]
