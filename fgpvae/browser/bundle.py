"""Components of the app as parts of one HTML file, for a browser without server or network.

An import map gives each module a name and its text as a data address, because a module in a file
cannot import its neighbour by a relative path. `read` gives a file below ui/components.
"""

import base64
import json
import posixpath
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

Read = Callable[[str], str]
IMPORT = re.compile(r'(?<=from ")\.[^"]+(?=")')


def page(template: str, parts: Mapping[str, str]) -> str:
    """Fill in the {{NAMES}} of a template."""
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


def import_map(read: Read, entry: str) -> str:
    """An import map of a module below ui/components and everything that it imports."""
    found: dict[str, str] = {}
    todo = [entry]
    while todo:
        name = todo.pop()
        if name in found:
            continue
        folder, text = posixpath.dirname(name), read(name)
        for path in IMPORT.findall(text):
            imported = posixpath.normpath(posixpath.join(folder, path))
            text = text.replace(f'from "{path}"', f'from "{imported}"')
            todo.append(imported)
        found[name] = f"data:text/javascript;base64,{base64.b64encode(text.encode()).decode()}"
    return script_json({"imports": found})


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


def packed(values: np.ndarray) -> str:
    """Encode an array in float32 as base64, which is faster to write and read than decimals."""
    return base64.b64encode(values.astype("<f4").tobytes()).decode()
