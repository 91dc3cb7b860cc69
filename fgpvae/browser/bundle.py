"""Components of the app as parts of one HTML file, for a browser without server or network.

An import map gives each module a name and its text as a data address, because a module in a file
cannot import its neighbour by a relative path. `read` gives a file below ui/components.
"""

import base64
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

Read = Callable[[str], str]
IMPORT = re.compile(r'(?<=from ")\.[^"]+(?=")')


def page(template: str, parts: Mapping[str, str]) -> str:
    """Fill in the {{NAMES}} of a template."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def import_map(read: Read, entry: str) -> str:
    """An import map of a module and everything that it imports."""
    return script_json({"imports": {name: _address(read, name) for name in modules(read, entry)}})


def modules(read: Read, entry: str) -> list[str]:
    """Paths below ui/components of a module and everything that it imports."""
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


def _address(read: Read, name: str) -> str:
    """A module as a data address, whose imports are names of the import map."""
    text = IMPORT.sub(lambda found: _resolved(name, found[0]), read(name))
    return f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"


def script_json(value: Any) -> str:
    """JSON for a script element, which would end at the first </script."""
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def shadow(read: Read, name: str) -> str:
    """A component's HTML and styles as a shadow root."""
    html, css = read(f"{name}/{name}.html"), read("shared/common.css") + read(f"{name}/{name}.css")
    return f'<template shadowrootmode="open"><style>{css}</style>{html}</template>'


def rounded(values: Iterable[float]) -> list[float]:
    """Round to seven significant digits: as precise as float32, in half the characters."""
    return [float(f"{value:.7g}") for value in values]


def packed(values: "np.ndarray") -> str:
    """Encode an array in float32 as base64, which is faster to write and read than decimals."""
    return base64.b64encode(values.astype("<f4").tobytes()).decode()
