"""Images a second with one worker and with two on this machine: python scripts/measure_workers.py

Starts itself under torchrun with each number of workers, twice: with the same batch in all, and
with the same batch for each worker. Prints one JSON object. `cpu_ms` is the processor time of the
first worker in a step, messages included; on a busy machine it varies too, but less than the clock
does. `message_ms` is by the clock, and includes waiting for the slowest worker.
`projected` is not measured: see `project`.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

BATCH, VIEWS, STEPS, WARM_UP = 32, 16, 60, 5
LATENCY = 50e-6  # seconds of a message between two hosts, assumed
SCENES = {"same batch in all": lambda count: BATCH, "same batch each": lambda count: BATCH * count}


def work(batch: int) -> None:
    """In a worker: some steps of the networks of `best`."""
    from fgpvae import distributed, presets, runs
    from fgpvae.training import Trainer

    changes = ["data.source=embedded", f"data.views={VIEWS}", f"training.batch={batch}"]
    config = presets.preset("best", changes)
    with distributed.join() as workers:
        workers.begun = True
        trainer = Trainer(config, runs.build_source(config)[0], workers)
        for _ in range(WARM_UP):
            trainer.advance()
        sent, talked = workers.bytes, workers.seconds
        began, cpu = time.perf_counter(), time.process_time()
        for _ in range(STEPS):
            trainer.advance()
        wall, cpu = time.perf_counter() - began, time.process_time() - cpu
        if workers.rank == 0:
            figures = {
                "images_a_second": round(STEPS * batch * VIEWS / wall),
                "step_ms": round(1000 * wall / STEPS, 1),
                "cpu_ms": round(1000 * cpu / STEPS, 1),
                "message_ms": round(1000 * (workers.seconds - talked) / STEPS, 1),
                "message_bytes": (workers.bytes - sent) // STEPS,
                "weights": sum(p.numel() for p in trainer.model.parameters()),
            }
            print(json.dumps(figures), flush=True)


def start(count: int, batch: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone"]
    command += ["--nproc-per-node", str(count), __file__, "--batch", str(batch)]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}  # a core for each worker
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def noise_seconds(digits: int = 2048) -> float:
    """Processor time a digit of the random numbers that every worker draws for the whole batch."""
    from fgpvae import presets, randomness

    model = presets.PRESETS["best"].model
    began = time.process_time()
    for _ in range(10):
        randomness.normal((digits, VIEWS, model.local), torch.float64)
        randomness.normal((digits, model.latents - model.local), torch.float64)
        randomness.uniform((digits, 2 * VIEWS + 2), torch.float64)  # context and angles
    return (time.process_time() - began) / 10 / digits


def project(figures: dict[str, Any], count: int, gigabits: float) -> dict[str, float]:
    """A step of `count` workers with the same batch each, on hosts joined by a network.

    T(n) = f + c m + d n P + 2 (n - 1)/n G/b + 2 (n - 1) l

    for m images and P digits a worker; f, c from the processor time of two workers with m/2 and
    with m images each, d from the random numbers of a digit, G from the bytes of a message; b is
    the network's bandwidth and l its latency. The last two terms are a ring all-reduce that does
    not overlap with computing.
    """
    half, full = (figures[scene][2] for scene in SCENES)
    m = BATCH * VIEWS
    c = (full["cpu_ms"] - half["cpu_ms"]) / (m / 2) / 1000
    f = full["cpu_ms"] / 1000 - c * m
    ring = 2 * (count - 1) / count * full["message_bytes"] / (gigabits * 1e9 / 8)
    message = ring + 2 * (count - 1) * LATENCY
    drawn = figures["noise_us_a_digit"] / 1e6 * count * BATCH
    step = f + c * m + drawn + message
    return {
        "step_ms": round(1000 * step, 1),
        "message_ms": round(1000 * message, 1),
        "images_a_second": round(count * m / step),
        "efficiency": round((f + c * m) / step, 3),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.batch:
        work(options.batch)
        return
    figures: dict[str, Any] = {
        scene: {count: start(count, size(count)) for count in (1, 2)}
        for scene, size in SCENES.items()
    }
    figures["noise_us_a_digit"] = round(1e6 * noise_seconds(), 2)
    figures["projected"] = {
        f"{count} workers, {gigabits:g} Gbit/s": project(figures, count, gigabits)
        for gigabits in (1, 10, 100)
        for count in (8, 64)
    }
    print(json.dumps({"batch": BATCH, "views": VIEWS, "threads": 1} | figures, indent=1))


if __name__ == "__main__":
    main()
