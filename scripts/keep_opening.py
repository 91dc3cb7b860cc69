"""The first digit of Rotate, kept to be shown before torch is loaded.

python scripts/keep_opening.py

Runs the page once and writes what its dial gets to ui/components/dial/opening.json. To be run when
the first model, its first digit, or what a dial is sent has changed: tests/test_opening.py tells.
"""

import json
import sys
from pathlib import Path
from typing import Any
from unittest import mock

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from safetensors import safe_open  # noqa: E402
from streamlit.testing.v1 import AppTest  # noqa: E402

from ui.components import decoders  # noqa: E402
from ui.components.dial.opening import FILE, MODELS  # noqa: E402
from ui.components.shared import Component  # noqa: E402


def opening_content() -> dict[str, Any]:
    """What the page sends for its first digit, without the weights."""
    sent: dict[str, Any] = {}

    def send(_: Component, *, key: str, data: Any, **__: Any) -> None:
        sent[key] = data

    with mock.patch.object(Component, "__call__", send):
        page = AppTest.from_file(str(ROOT / "app.py"), default_timeout=600).run()
    assert not page.exception, page.exception
    data = sent["rotate.dial"]
    blob = decoders.packed(data["network"])
    assert blob is not None
    start = 4 + int.from_bytes(blob[:4], "little")
    name = f"{data['name']}.safetensors"
    return {
        "model": name,
        **_weights(MODELS / name, blob[start:]),
        "header": blob[4:start].decode(),
        "title": page.title[0].value,
        "sentence": page.main.caption[0].value,
        "line": page.main.caption[1].value,
        "subject": page.session_state["rotate.record"].subject,
        "data": {name: value for name, value in data.items() if name != "pose"},
    }


def _weights(file: Path, packed: bytes) -> dict[str, Any]:
    """The tensors in a file that are these bytes, one after the other."""
    names: list[str] = []
    with safe_open(file, "np") as model:
        tensors = {name: model.get_tensor(name).tobytes() for name in sorted(model.keys())}
        while packed:
            names.append(next(n for n, raw in tensors.items() if raw and packed.startswith(raw)))
            packed = packed[len(tensors[names[-1]]) :]
        return {"digest": model.metadata()["digest"], "weights": names}


if __name__ == "__main__":
    text = json.dumps(opening_content(), separators=(",", ":"))
    FILE.write_text(f"{text}\n", encoding="utf-8")
