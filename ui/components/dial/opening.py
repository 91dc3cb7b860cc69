"""The first digit of the page Rotate, shown before torch and the model are loaded.

What the dial gets for it is kept in `opening.json` (`python scripts/keep_opening.py`), but for the
weights of the decoder, which are in the model's own file. What was made from another file than the
one that is there now is not shown.
"""

import json
from pathlib import Path

import streamlit as st
from safetensors import SafetensorError, safe_open

import fgpvae
from ui.components.dial.dial import kept_dial
from ui.shell import frame

FILE = Path(__file__).with_name("opening.json")
SIDE = 154  # pixels that the menus beside the title will take
MODELS = Path(fgpvae.__file__).parent / "assets" / "pretrained"


def opening() -> bool:
    """Show heading and dial where the page will show them; False for an address with parameters."""
    if st.query_params:
        return False
    try:
        kept = json.loads(FILE.read_text(encoding="utf-8"))
        with safe_open(MODELS / kept["model"], "np") as model:
            if model.metadata()["digest"] != kept["digest"]:
                return False
            weights = [model.get_tensor(name).tobytes() for name in kept["weights"]]
    except (OSError, SafetensorError):
        return False  # the page itself says what is missing
    header = kept["header"].encode()
    head, side = st.columns([2.2, 1.3], vertical_alignment="center")
    side.container(height=SIDE, border=False)  # or the dial would move when the menus come
    with head.container():
        frame.heading(kept["title"], kept["sentence"])
    blob = len(header).to_bytes(4, "little") + header + b"".join(weights)
    kept_dial(kept["data"]["key"], tuple(kept["subject"]), blob, kept["data"])
    return True
