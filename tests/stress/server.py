"""Streamlit, and a look into its memory: on SIGUSR1 it writes what it holds to STRESS_CENSUS."""

import gc
import json
import os
import signal
import sys
from functools import _lru_cache_wrapper
from pathlib import Path

from streamlit.web.cli import main


def census(*_: object) -> None:
    """Count the models and the images of digits that are alive, and how many of them differ."""
    import numpy as np

    from fgpvae.models import Model

    gc.unfreeze()  # what has been loaded is out of the collector's sight
    gc.collect()
    found = gc.get_objects()
    gc.freeze()
    # those in training are of a run whose time is being estimated
    held = [each for each in found if issubclass(type(each), Model) and not each.training]
    weights = [
        b"".join(weight.detach().numpy().tobytes() for weight in each.parameters()) for each in held
    ]
    # arrays are not the collector's business, but what holds them is
    holders = [each for each in found if type(each) in (dict, list, tuple, _lru_cache_wrapper)]
    arrays = {
        each.__array_interface__["data"][0]: each
        for holder in holders
        for each in gc.get_referents(holder)
        if type(each) is np.ndarray and each.shape[1:] == (28, 28) and len(each) >= 40
    }
    images = [each.tobytes() for each in arrays.values()]
    seen = {
        "models": len(held),
        "different_models": len(set(weights)),
        "model_mb": sum(map(len, weights)) / 2**20,
        "digits": len(images),
        "different_digits": len(set(images)),
        "digit_mb": sum(map(len, images)) / 2**20,
    }
    path = Path(os.environ["STRESS_CENSUS"])
    part = path.with_suffix(".part")
    part.write_text(json.dumps(seen))
    part.rename(path)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, census)
    sys.exit(main())
