"""The dial as one HTML file: decoder, digit and styles, for a browser without server or network.

The file holds the same modules that the app loads (`fgpvae.browser.bundle`).
"""

import base64
from collections.abc import Mapping
from html import escape
from typing import Any

from fgpvae.browser import bundle
from ui.components.shared import read

ENTRY = "dial/standalone.js"


def html(
    decoder: bytes,
    dial: Mapping[str, Any],
    sliders: Mapping[str, Any] | None,
    title: str,
    sentence: str,
) -> str:
    """The HTML file. Views cannot be added in it, because the encoder is on the server."""
    content = {
        "decoder": base64.b64encode(decoder).decode(),
        "dial": {**dial, "editable": False, "beside": None},
        "sliders": sliders,
    }
    parts = {
        "TITLE": escape(title),
        "SENTENCE": escape(sentence),
        "STYLE": read("shared/page.css"),
        "IMPORTS": bundle.import_map(read, ENTRY),
        "CONTENT": bundle.script_json(content),
        "ENTRY": ENTRY,
        "DIAL": bundle.shadow(read, "dial"),
        "SLIDERS": bundle.shadow(read, "style_sliders") if sliders else "",
    }
    return bundle.page(read("dial/standalone.html"), parts)
