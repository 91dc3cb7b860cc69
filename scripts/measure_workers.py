"""Images a second with one worker and with two on this machine: python scripts/measure_workers.py

Starts itself under torchrun with each number of workers, twice: with the same batch in all, and
with the same batch for each worker. Prints one JSON object. `cpu_ms` is the processor time of the
first worker in a step, messages included; on a busy machine it varies too, but less than the clock
does. `message_ms` is by the clock: the wait for the terms of the other workers' digits, the slowest
worker included. `buckets` are the gradients that travel together: for each its bytes, and how many
ms of computing are left in the backward pass when it leaves. `projected` is not measured: see
`project`.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

BATCH, VIEWS, STEPS, WARM_UP = 32, 16, 60, 5
LATENCY = 50e-6  # seconds of a message between two hosts, assumed
SCENES = {"same batch in all": lambda count: BATCH, "same batch each": lambda count: BATCH * count}


def work(batch: int) -> None:
    """In a worker: some steps of the networks of `best`."""
    from fgpvae import distributed, presets, training_data
    from fgpvae.training import Trainer

    changes = ["data.source=embedded", f"data.views={VIEWS}", f"training.batch={batch}"]
    config = presets.preset("best", changes)
    with distributed.join() as workers:
        workers.begun = True
        left = note_buckets(distributed)
        trainer = Trainer(config, training_data.build_source(config)[0], workers)
        for _ in range(WARM_UP):
            trainer.advance()
        sent, talked = workers.bytes, workers.seconds
        began, cpu = time.perf_counter(), time.process_time()
        left.clear()
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
                "buckets": buckets(left),
                "weights": sum(p.numel() for p in trainer.model.parameters()),
                "parameters": sum(1 for p in trainer.model.parameters() if p.requires_grad),
            }
            print(json.dumps(figures), flush=True)


def note_buckets(distributed: Any) -> list[tuple[float, int]]:
    """When each bucket of gradients leaves, in processor time of the thread, and its bytes."""
    left: list[tuple[float, int]] = []
    send = distributed._add_up

    def note(workers, bucket):  # type: ignore[no-untyped-def]
        left.append((time.thread_time(), bucket.buffer().numel() * bucket.buffer().element_size()))
        return send(workers, bucket)

    distributed._add_up = note
    return left


def buckets(left: list[tuple[float, int]]) -> list[dict[str, float]]:
    """Of a step: bytes of each bucket, and the median of the ms from it to the last one."""
    each = len(left) // STEPS
    steps = [left[k * each : (k + 1) * each] for k in range(STEPS)]
    return [
        {
            "bytes": steps[0][k][1],
            "ms_left": round(1000 * median(step[-1][0] - step[k][0] for step in steps), 1),
        }
        for k in range(each)
    ]


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


def project(
    figures: dict[str, Any], count: int, gigabits: float, batches: int = 1
) -> dict[str, float]:
    """A step of `count` workers with the same batch each, on hosts joined by a network.

    With `batches` a worker has so many times the digits in a step; the messages stay the same, and
    leave no earlier before the end of the step than they do with one.

    T(n) = f + c m + d n P + W(n)

    for m images and P digits a worker; f, c from the processor time of two workers with m/2 and
    with m images each, d from the random numbers of a digit. W is the time in messages and nothing
    else. A message of G bytes takes 2 (n - 1)/n G/b + 2 (n - 1) l, a ring all-reduce in a network
    of bandwidth b and latency l. A bucket of gradients leaves when it is ready, which was measured,
    and the one before it has arrived. Two messages overlap with nothing: the terms of all digits,
    and after the last bucket which gradients there are. `efficiency_without_overlap` is that of one
    message with all gradients after the backward pass.
    """
    half, full = (figures[scene][2] for scene in SCENES)
    digits = batches * BATCH
    m = digits * VIEWS
    c = (full["cpu_ms"] - half["cpu_ms"]) / (BATCH * VIEWS / 2) / 1000
    f = full["cpu_ms"] / 1000 - c * BATCH * VIEWS

    def message(size: float) -> float:
        ring = 2 * (count - 1) / count * size / (gigabits * 1e9 / 8)
        return ring + 2 * (count - 1) * LATENCY

    terms = message(24 * (count * digits + 1))
    present = message(4 * full["parameters"])
    arrived, total = -math.inf, terms + present  # seconds after the last bucket is ready
    for bucket in full["buckets"]:
        took = message(bucket["bytes"])
        arrived = max(arrived, -bucket["ms_left"] / 1000) + took
        total += took
    waiting = terms + arrived + present
    drawn = figures["noise_us_a_digit"] / 1e6 * count * digits
    step = f + c * m + drawn + waiting
    once = message(sum(bucket["bytes"] for bucket in full["buckets"]))
    return {
        "step_ms": round(1000 * step, 1),
        "message_ms": round(1000 * total, 1),
        "waiting_ms": round(1000 * waiting, 1),
        "images_a_second": round(count * m / step),
        "efficiency": round((f + c * m) / step, 3),
        "efficiency_without_overlap": round((f + c * m) / (f + c * m + drawn + terms + once), 3),
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
    } | {
        f"8 workers, 1 Gbit/s, {batches} batches each": project(figures, 8, 1, batches)
        for batches in (2, 4, 8)
    }
    print(json.dumps({"batch": BATCH, "views": VIEWS, "threads": 1} | figures, indent=1))


if __name__ == "__main__":
    main()
