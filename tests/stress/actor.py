"""One of several servers with several tabs, all acting on the same few runs at random."""

import json
import random
import sys
import threading
import time
from pathlib import Path

from fgpvae import archives, background, runs
from fgpvae.errors import UserError
from fgpvae.runs import PREPARING, RUNNING
from tests.test_runs import tiny

NAMES = ("a", "b", "c")
EPOCHS = 400


def config(name: str):
    return tiny(EPOCHS, seed=ord(name[0]))


def act(root: Path, stream: random.Random) -> None:
    """What a click does."""
    name = stream.choice(NAMES)
    action = stream.choice(["start", "resume", "resume", "stop", "rename", "delete", "look", "zip"])
    if action == "start":
        background.start(root, name, config(name))
        return
    run = background.find(root, name)
    match action:
        case "resume":
            background.resume(run)
        case "stop":
            background.stop(run)
        case "rename":  # away and back, so that the name still tells the seed
            background.rename(background.rename(run, f"{name}-{stream.randrange(9)}"), name)
        case "delete" if stream.random() < 0.3:
            background.delete(run)
        case "zip":
            archives.pack(run)
        case _:
            run.summary()
            background.advance_queue(root)


def tab(root: Path, end: float, seed: int, said: list[str], wrong: list[str]) -> None:
    stream = random.Random(seed)
    while time.time() < end:
        try:
            act(root, stream)
            said.append("")
        except UserError as error:
            said.append(str(error))
        except Exception as error:
            wrong.append(f"{type(error).__name__}: {error}")
        found, broken = runs.list_runs(root)
        wrong += broken.values()
        # whoever renames or deletes a run holds it for an instant; only these are trained
        trained = [run for run in found if run.active and run.state in (PREPARING, RUNNING)]
        if len(trained) > background.slots():
            wrong.append("more runs are trained than there is room for")
        time.sleep(stream.uniform(0, 0.15))


def main(root: str, seconds: str, seed: str) -> None:
    said: list[str] = []
    wrong: list[str] = []
    end = time.time() + float(seconds)
    tabs = [
        threading.Thread(target=tab, args=(Path(root), end, 10 * int(seed) + index, said, wrong))
        for index in range(3)
    ]
    for each in tabs:
        each.start()
    for each in tabs:
        each.join()
    background.reap()
    print(json.dumps({"said": said, "wrong": wrong}))


if __name__ == "__main__":
    main(*sys.argv[1:])
