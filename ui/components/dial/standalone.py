"""The dial as one HTML file: decoder, digit and styles, for a browser without server or network.

The file holds the same modules that the app loads. An import map gives each of them a name and its
text as a data address, because a module in a file cannot import its neighbour by a relative path.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from ui.components.shared import read

if TYPE_CHECKING:
    from fgpvae.scenes import Network

ENTRY = "dial/standalone.js"
DIAL = ("dial/dial.html", ("shared/common.css", "shared/degrees.css", "dial/dial.css"))
SLIDERS = (
    "style_sliders/style_sliders.html",
    ("shared/common.css", "style_sliders/style_sliders.css"),
)
IMPORT = re.compile(r'(?<=from ")\.[^"]+(?=")')


@dataclass(frozen=True)
class Standalone:
    """A dial that can be taken along, as it stands."""

    network: Network
    dial: Mapping[str, Any]
    sliders: Mapping[str, Any] | None
    angle: float
    style: Sequence[float] | None

    def html(self, title: str, sentence: str) -> str:
        """The file. Views cannot be added to it: what the model makes of them needs the server."""
        pose = {"revision": "file", "angle": self.angle, "style": self.style}
        dial = {**self.dial, "key": "dial", "pose": pose, "editable": False, "beside": None}
        sliders = self.sliders and {**self.sliders, "key": "dial"}
        header, weights = _halved(self.network.blob)
        content = {"header": header, "weights": weights, "dial": dial, "sliders": sliders}
        parts = {
            "TITLE": escape(title),
            "SENTENCE": escape(sentence),
            "IMPORTS": _json({"imports": {name: _address(name) for name in modules(ENTRY)}}),
            "CONTENT": _json(content),
            "ENTRY": ENTRY,
            "DIAL": _shadow(*DIAL),
            "SLIDERS": _shadow(*SLIDERS) if sliders else "",
        }
        page = read("dial/standalone.html")
        return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], page)


def modules(entry: str) -> list[str]:
    """A module and all that it imports, as paths below ui/components."""
    found, todo = [], [entry]
    while todo:
        name = todo.pop()
        if name not in found:
            found.append(name)
            todo += [_resolved(name, path) for path in IMPORT.findall(read(name))]
    return found


def _resolved(name: str, path: str) -> str:
    """The module that `name` imports by a relative path."""
    return posixpath.normpath(posixpath.join(posixpath.dirname(name), path))


def _address(name: str) -> str:
    """A module as a data address, whose imports are names of the import map."""
    text = IMPORT.sub(lambda found: _resolved(name, found[0]), read(name))
    return f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"


def _halved(blob: bytes) -> tuple[dict[str, Any], str]:
    """Header and weights of a packed decoder; the weights in half precision, as base64."""
    start = 4 + int.from_bytes(blob[:4], "little")
    header = json.loads(blob[4:start])
    weights = np.frombuffer(blob[start:], "<f2" if header["half"] else "<f4")
    return header, base64.b64encode(weights.astype("<f2").tobytes()).decode()


def _json(value: Any) -> str:
    """For a script element, which ends at the first </script."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _shadow(html: str, css: Sequence[str]) -> str:
    styles = "\n".join(read(file) for file in css)
    return f'<template shadowrootmode="open"><style>{styles}</style>{read(html)}</template>'
