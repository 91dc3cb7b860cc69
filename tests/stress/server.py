"""Streamlit, and a look into its memory: on SIGUSR1 it writes what it holds to STRESS_CENSUS."""

import gc
import json
import os
import signal
import sys
from collections import Counter
from pathlib import Path

from streamlit.web.cli import main


def census(*_: object) -> None:
    """Count the models and the images of digits that are alive, however many sessions there are."""
    import numpy as np

    from fgpvae.models import Model
    from ui import digits

    gc.unfreeze()  # what has been loaded is out of the collector's sight
    gc.collect()
    found = gc.get_objects()
    gc.freeze()
    # those in training are of a run whose time is being estimated
    held = [each for each in found if issubclass(type(each), Model) and not each.training]
    # arrays are not the collector's business, but what holds them is
    holders = [each for each in found if type(each) in (dict, list, tuple, type(digits._images))]
    arrays = {
        id(each): each
        for holder in holders
        for each in gc.get_referents(holder)
        if type(each) is np.ndarray and each.shape[1:] == (28, 28) and len(each) >= 40
    }
    kinds = Counter(f"{each.config.name} {each.config.latents}" for each in held)
    weights = sum(weight.nbytes for each in held for weight in each.parameters())
    seen = {
        "models": len(held),
        "kinds": kinds,
        "model_mb": weights / 2**20,
        "classes": digits._images.cache_info().currsize,
        "arrays": len(arrays),
        "digit_mb": sum(each.nbytes for each in arrays.values()) / 2**20,
    }
    path = Path(os.environ["STRESS_CENSUS"])
    part = path.with_suffix(".part")
    part.write_text(json.dumps(seen))
    part.rename(path)


if __name__ == "__main__":
    signal.signal(signal.SIGUSR1, census)
    sys.exit(main())
