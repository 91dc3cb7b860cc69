"""How long a run takes, from a few timed steps, in a process of its own with limits.

    python -m fgpvae.timing < config.json

prints the seconds of an epoch. A config decides how much memory steps take and how long they last:
none of that belongs into the process of a server.
"""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from fgpvae import background
from fgpvae.configs import CUBES, OBJECTS, RunConfig, from_dict, to_dict
from fgpvae.data import CLASS_COUNTS, DIGITS_PER_CLASS, TRAIN_DIGITS, cubes
from fgpvae.errors import UserError

CALIBRATION_SECONDS = 1.0
STAND_IN = 50  # figures of cubes that stand for all
PATIENCE = 60.0  # seconds, after which the child is ended
LARGEST_CHILD = 4 * 2**30  # bytes that it may take


def estimate_seconds(config: RunConfig) -> float:
    """How long a run takes on this machine when it has it to itself."""
    if config.data.split == OBJECTS:
        raise UserError("How long a run on own objects takes is not estimated.")
    plain = replace(
        config, preset="", seed=0, training=replace(config.training, epochs=1, warmup=0)
    )
    return config.training.epochs * _timed_elsewhere(plain)


@lru_cache(maxsize=128)
def _timed_elsewhere(config: RunConfig) -> float:
    environment = os.environ | {
        "OMP_NUM_THREADS": str(background.threads()),  # as the run itself will have
        "PYTHONPATH": str(Path(__file__).parent.parent),
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "fgpvae.timing"],
            input=json.dumps(to_dict(config)),
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=PATIENCE,
        )
    except subprocess.TimeoutExpired:
        raise UserError(f"A few steps take more than {PATIENCE:.0f} seconds.") from None
    if done.returncode == 2:
        raise UserError(done.stderr.strip())
    if done.returncode:
        raise UserError("A few steps could not be taken.")
    return float(done.stdout)


def seconds_an_epoch(config: RunConfig) -> float:
    """From a few steps in this process."""
    from fgpvae import training_data  # a page that only asks loads nothing that trains
    from fgpvae.training import Trainer

    # one class of the embedded digits stands for all of the data: a step does not know the others
    stand_in = replace(config.data, classes=config.data.classes[:1], source="embedded")
    if config.data.split == CUBES:
        source = training_data.figure_source(config, STAND_IN)
    else:
        source, _ = training_data.build_source(replace(config, data=stand_in))
    trainer = Trainer(config, source)
    began = time.perf_counter()
    trainer.model.start_epoch(source.everything, 1.0)  # where a model has phases, its last one
    overhead = time.perf_counter() - began
    trainer.step = 1
    times: list[float] = []
    while sum(times) < CALIBRATION_SECONDS and len(times) < 50:
        began = time.perf_counter()
        trainer.advance()
        times.append(time.perf_counter() - began)
        trainer.step = 1
    share = digits(config) / source.digits
    steps = -(-digits(config) // config.training.batch)
    return overhead * share + steps * min(times)  # whatever else runs can only make one longer


def digits(config: RunConfig) -> int:
    """How many digits a run is trained on."""
    data = config.data
    if data.split == CUBES:
        return 4 * len(cubes.all_copies(cubes.splits().training)) + data.figures
    if data.split != "continuous":
        return len(data.classes) * (data.digits - data.validation * (data.keep_back == "digits"))
    if data.source == "embedded":
        return len(data.classes) * TRAIN_DIGITS
    kept_back = DIGITS_PER_CLASS - TRAIN_DIGITS
    return sum(CLASS_COUNTS[label] - kept_back for label in data.classes)


def _limit_memory() -> None:
    """Of this process, where the system has such a limit."""
    if sys.platform != "linux":
        return
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (LARGEST_CHILD, LARGEST_CHILD))


def main() -> int:
    _limit_memory()
    try:
        config = from_dict(RunConfig, json.load(sys.stdin))
        print(seconds_an_epoch(config))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
