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
SPACE = '<div style="width:8rem"></div>'  # as wide as a menu at least is; ui/shell/streamlit.css
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
    with side:  # as on the page: in no width the dial moves when switch and menus come
        st.container(key="rotate.things").html(SPACE)
        menus, lines = st.container(key="rotate.menus", horizontal=True), st.container()
    for _ in range(2):
        menus.html(SPACE)
    lines.caption(kept["line"])
    with head.container():
        frame.heading(kept["title"], kept["sentence"])
    blob = len(header).to_bytes(4, "little") + header + b"".join(weights)
    kept_dial(kept["data"]["key"], tuple(kept["subject"]), blob, kept["data"])
    return True
