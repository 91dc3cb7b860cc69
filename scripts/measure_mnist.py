"""Training on all of MNIST for a few minutes: python scripts/measure_mnist.py DIR [--seconds 180]

DIR has MNIST's IDX files. The first half of the time the next batches are turned in a thread while
the networks work on this one, as in every run; in the second half nobody does, to compare. Prints
one JSON object: images a second, the share of the time spent waiting for a batch, and the peak of
the memory of this process.
"""

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from fgpvae import presets, training_data  # noqa: E402
from fgpvae.memory import peak_mb  # noqa: E402
from fgpvae.training import Trainer  # noqa: E402

WARM_UP = 20  # steps


def measure(trainer: Trainer, seconds: float) -> dict[str, Any]:
    for _ in range(WARM_UP):
        trainer.advance()
    first, waited, began = trainer.step, trainer.waited, time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds:
        trainer.advance()
    steps = trainer.step - first
    images = steps * trainer.config.training.batch * trainer.config.data.views
    return {
        "images_a_second": round(images / spent),
        "milliseconds_a_step": round(1000 * spent / steps, 1),
        "waiting": round((trainer.waited - waited) / spent, 4),
        "steps": steps,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("directory")
    parser.add_argument("--seconds", type=float, default=180)
    options = parser.parse_args()
    changes = [f"data.source={json.dumps(options.directory)}", "data.views=16"]
    config = presets.preset("best", changes)
    source, _ = training_data.build_source(config)
    figures: dict[str, Any] = {
        "digits": source.digits,
        "images_an_epoch": source.digits * config.data.views,
        "threads": torch.get_num_threads(),
    }
    figures["ahead"] = measure(Trainer(config, source), options.seconds / 2)
    source.slow = False
    figures["not_ahead"] = measure(Trainer(config, source), options.seconds / 2)
    figures["peak_mb"] = round(peak_mb())
    print(json.dumps(figures, indent=1))


if __name__ == "__main__":
    main()
