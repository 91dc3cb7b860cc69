"""MNIST as openml.org would send it, in the place where scikit-learn keeps its answers."""

import gzip
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

DATA = "https://www.openml.org/data/v1/download/52667/mnist_784.arff"
PIXELS = [f"pixel{number}" for number in range(1, 785)]


def answer(home: Path, images: np.ndarray, labels: Sequence[object]) -> None:
    """Fill a data home, so that `fetch_openml` finds there what it asks for.

    `images` [P, 28, 28] have whole numbers from 0 to 255.
    """
    arff = _arff(images.astype(np.uint8), labels)
    description = {
        "name": "mnist_784",
        "version": "1",
        "status": "active",
        "format": "ARFF",
        "url": DATA,
        "md5_checksum": hashlib.md5(arff).hexdigest(),
        "description": "",
    }
    features = [
        {
            "index": str(index),
            "name": name,
            "data_type": "nominal" if name == "class" else "numeric",
            "is_target": "true" if name == "class" else "false",
            "is_ignore": "false",
            "is_row_identifier": "false",
            "number_of_missing_values": "0",
        }
        for index, name in enumerate([*PIXELS, "class"])
    ]
    qualities = [{"name": "NumberOfInstances", "value": str(float(len(images)))}]
    found = {"did": 554, "name": "mnist_784", "version": 1, "status": "active"}
    api = "api/v1/json/data"
    for path, content in {
        f"{api}/list/data_name/mnist_784/limit/2/data_version/1": {"data": {"dataset": [found]}},
        f"{api}/554": {"data_set_description": description},
        f"{api}/features/554": {"data_features": {"feature": features}},
        f"{api}/qualities/554": {"data_qualities": {"quality": qualities}},
    }.items():
        _put(home, path, json.dumps(content).encode())
    _put(home, DATA.removeprefix("https://www.openml.org/"), arff)


def _arff(images: np.ndarray, labels: Sequence[object]) -> bytes:
    head = ["@RELATION mnist_784", *(f"@ATTRIBUTE {name} real" for name in PIXELS)]
    head += [f"@ATTRIBUTE class {{{','.join(map(str, dict.fromkeys(labels)))}}}", "@DATA"]
    rows = (
        ",".join(map(str, [*image.reshape(-1).tolist(), label]))
        for image, label in zip(images, labels, strict=True)
    )
    return "\n".join([*head, *rows, ""]).encode()


def _put(home: Path, path: str, content: bytes) -> None:
    file = home / "openml" / "openml.org" / f"{path}.gz"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(gzip.compress(content, 1))
