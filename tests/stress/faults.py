"""Killed processes, full and read-only disks, clocks that jump, many hands on one run."""

import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from fgpvae import background, files, recorder, runs
from fgpvae.errors import UserError
from tests.browser import ROOT
from tests.stress.table import Row, none
from tests.stress.uploads import one_sentence
from tests.test_runs import KILLED, OFTEN, finished, kill_after_checkpoints, same_weights, tiny
from tests.zygote import Zygote, zygote

KILLS = 50
EPOCHS = 8


@dataclass
class Kills:
    kills: int = 0
    while_writing: int = 0  # a file was half written when the process died
    runs: int = 0
    wrong: list[str] = field(default_factory=list)


def killed(folder: Path, count: int, kinds: int = len(KILLED)) -> Kills:
    """Kill runs of several kinds at random moments until there were so many kills."""
    seen, stream = Kills(), random.Random(count)
    with zygote(folder) as forks:
        wholes: dict[str, Path] = {}
        for turn, (name, changes) in enumerate(itertools.cycle(list(KILLED.items())[:kinds])):
            if seen.kills >= count or turn > 4 * count:
                return seen
            if name not in wholes:
                wholes[name] = folder / f"whole-{len(wholes)}"
                code, out = forks.run("train", "--run-dir", wholes[name], *command(changes))
                assert code == 0, out
            torn = folder / f"torn-{turn}"
            seen.runs += 1
            one_run(forks, torn, changes, seen, stream, count)
            if not same_weights(torn, wholes[name]):
                seen.wrong.append(f"{name}: other weights than those of an undisturbed run")
            if list(torn.glob(".*")):
                seen.wrong.append(f"{name}: something half written is left")
            shutil.rmtree(torn)
    return seen


def command(changes: list[str]) -> list[object]:
    config = ["data.views=2", "training.batch=60", "model.network.widths=[16]", *changes]
    words: list[object] = ["--preset", "quick", "--epochs", EPOCHS, "--seed", 7]
    return words + [part for change in config for part in ("--set", change)]


def one_run(
    forks: Zygote, torn: Path, changes: list[str], seen: Kills, stream: random.Random, most: int
) -> None:
    """Train a run to its end, however often it is killed."""
    child = forks.start("train", "--run-dir", torn, *command(changes), **OFTEN)
    for attempt in range(60):
        calm = seen.kills >= most or attempt >= 12
        hit = False if calm else strike(child, torn, stream)
        code = child.wait()
        if code not in (0, -signal.SIGKILL):
            seen.wrong.append(child.out.read_text()[-300:])
            return
        if not hit:
            return
        seen.kills += 1
        seen.while_writing += bool(list(torn.glob(f"{files.UNFINISHED}*")))
        if runs.open_run(torn).state != runs.INTERRUPTED:
            seen.wrong.append(f"a killed run is {runs.open_run(torn).state}")
        child = forks.start("train", "--run-dir", torn, "--resume", **OFTEN)


def strike(child, torn: Path, stream: random.Random) -> bool:
    """Kill during or after a checkpoint, or at any moment since the run goes on."""
    if stream.random() < 0.6 or not (torn / runs.STATE).exists():
        return kill_after_checkpoints(child, torn, stream)
    end = time.monotonic() + stream.uniform(0, 0.4)
    while time.monotonic() < end:
        if finished(torn):
            return False
        time.sleep(0.002)
    child.kill(signal.SIGKILL)
    return not finished(torn)


# Disks


@contextmanager
def small_disk(folder: Path, megabytes: int = 2) -> Iterator[Path | None]:
    """A file system of its own, or None where mounting is not allowed."""
    disk = folder / "disk"
    disk.mkdir()
    size = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(disk)]
    if shutil.which("mount") is None or subprocess.run(size, capture_output=True).returncode:
        yield None
        return
    try:
        yield disk
    finally:
        subprocess.run(["umount", "-l", str(disk)], check=True)


def refusals(root: Path, run: runs.Run) -> tuple[list[str], list[str]]:
    """What is said to each action on a run, and what is wrong with it."""
    said, wrong = [], []
    for name, action in {
        "start": lambda: background.start(root, "new", tiny()),
        "resume": lambda: background.resume(run),
        "train": lambda: list(recorder.execute(run.path)),
        "advance": lambda: background.advance_queue(root),
        "look": lambda: runs.open_run(run.path).summary(),
        "list": lambda: runs.list_runs(root),
    }.items():
        try:
            action()
        except UserError as error:
            said.append(str(error))
            if not one_sentence(str(error)):
                wrong.append(f"{name}: {error}")
        except Exception as error:
            wrong.append(f"{name}: {type(error).__name__}, {error}")
    return said, wrong


def disks(folder: Path) -> tuple[list[str], list[str]] | None:
    """A disk that fills up, turns read-only, and is well again; None if it cannot be mounted."""
    slots = background.slots
    background.slots = lambda: 0
    try:
        with small_disk(folder) as disk:
            if disk is None:
                return None
            root = disk / "runs"
            background.start(root, "run", tiny())
            with closing(recorder.execute(root / "run")) as steps:
                next(steps)
            run = runs.open_run(root / "run")
            before = {path.name: path.read_bytes() for path in run.path.iterdir()}
            with suppress(OSError), (disk / "ballast").open("ab", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
            said, wrong = refusals(root, run)
            if (root / "new").exists():
                wrong.append("a full disk: half a run is left")
            subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
            more, bad = refusals(root, run)
            said, wrong = said + more, wrong + bad
            subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
            (disk / "ballast").unlink()
            for name in (runs.STATE, "model.safetensors", "config.json"):
                if (run.path / name).read_bytes() != before[name]:
                    wrong.append(f"{name} was changed")
            for _ in recorder.execute(run.path):
                pass
            for _ in recorder.execute(folder / "whole", tiny()):
                pass
            if not same_weights(run.path, folder / "whole"):
                wrong.append("other weights after a full and a read-only disk")
            # what is full can be emptied
            with suppress(OSError), (disk / "ballast").open("ab", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
            background.delete(runs.open_run(run.path))
            if run.path.exists():
                wrong.append("a run cannot be deleted from a full disk")
            return said, wrong
    finally:
        background.slots = slots


# Clocks


def clocks(folder: Path) -> list[str]:
    """The clock of the machine jumps by years, back and forth, while a run trains."""
    stream, wrong = random.Random(0), []

    def jumping() -> float:
        return stream.choice([0.0, 1.0, 1e9, 4e9, 9e12])

    with mock.patch.object(recorder.time, "time", jumping), mock.patch.multiple(recorder, **OFTEN):
        for _ in recorder.execute(folder / "jumping", tiny()):
            pass
    for _ in recorder.execute(folder / "calm", tiny()):
        pass
    if not same_weights(folder / "jumping", folder / "calm"):
        wrong.append("other weights")
    if any(not 0 <= line["seconds"] < 600 for line in runs.open_run(folder / "jumping").metrics()):
        wrong.append("seconds that are none")
    for when in (-1e14, 0, 9e14, 1e300):
        status = {"state": runs.RUNNING, "started": when, "heartbeat": when, "queued": when}
        files.write_json(folder / "jumping" / runs.STATUS, status)
        run = runs.open_run(folder / "jumping")
        if (run.state, run.active) != (runs.INTERRUPTED, False):
            wrong.append(f"heartbeat at {when:g}: {run.state}")
        with runs.locked(folder / "jumping"):
            if not runs.open_run(folder / "jumping").active:
                wrong.append(f"heartbeat at {when:g}: a run that is trained seems idle")
    return wrong


# Many hands


def many_hands(folder: Path, servers: int, seconds: float) -> tuple[int, list[str], list[str]]:
    """Servers with three tabs each act on the same runs; actions, sentences, what went wrong."""
    root = folder / "runs"
    environment = os.environ | {
        "FGPVAE_RUNS_AT_ONCE": "1",
        "FGPVAE_RUNS_NICE": "1",
        "OMP_NUM_THREADS": "1",
    }
    command = [sys.executable, "-m", "tests.stress.actor", str(root), str(seconds)]
    crowd = [
        subprocess.Popen(
            [*command, str(seed)], cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True
        )
        for seed in range(servers)
    ]
    said, wrong = [], []
    for process in crowd:
        out, _ = process.communicate()
        if process.returncode:
            wrong.append(f"a server ended with {process.returncode}")
            continue
        found = json.loads(out)
        said += found["said"]
        wrong += found["wrong"]
    wrong += [f"not a sentence: {text!r}" for text in said if text and not one_sentence(text)]
    wrong += settle(root, folder)
    return len(said), sorted({text for text in said if text}), wrong


def settle(root: Path, folder: Path) -> list[str]:
    """Whatever is left is whole, and goes on to the weights that it would have had."""
    wrong: list[str] = []
    found, broken = runs.list_runs(root)
    wrong += broken.values()
    for run in found:
        if runs.open_run(run.path).state == runs.QUEUED:
            background.stop(run)
    for run in found:
        background.stop(run)
        end = time.monotonic() + 120
        while runs.open_run(run.path).active and time.monotonic() < end:
            time.sleep(0.05)
        if runs.open_run(run.path).active:
            wrong.append(f"'{run.name}' does not stop")
            continue
        epochs = int(runs.open_run(run.path).epoch) + 2
        with suppress(UserError):  # one that never began has its epochs still
            for _ in recorder.execute(run.path, epochs=epochs):
                pass
        alone = folder / f"alone-{run.name}"
        for _ in recorder.execute(alone, tiny(epochs, seed=ord(run.name[0]))):
            pass
        if not same_weights(run.path, alone):
            wrong.append(f"'{run.name}' has other weights than one that was left alone")
    names = {path.name for path in root.iterdir()} - {run.name for run in found}
    wrong += [f"left over: {name}" for name in names if name != background.ROOT_LOCK]
    return wrong


def rows() -> Iterator[Row]:
    part = "faults"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        seen = killed(place, KILLS)
        tried = f"{seen.kills} SIGKILLs, {seen.while_writing} amid a write, {seen.runs} runs"
        row = none(part, "runs lost, or other weights than undisturbed", seen.kills, seen.wrong)
        yield Row(part, row.what, tried, row.found, row.target, row.met)
        result = disks(place)
        what = "wrong on a full, then read-only disk"
        if result is None:
            yield Row(part, what, "not tried: mounting is not allowed here", "-")
        else:
            said, wrong = result
            yield none(part, what, 12, wrong)
            yield Row(part, "what is said then", f"{len(said)} refusals", said[0])
        yield none(part, "wrong when the clock jumps by years", 9, clocks(place))
        count, sentences, wrong = many_hands(place, servers=2, seconds=40)
        row = none(part, "wrong with two servers of three tabs on the same runs", count, wrong)
        yield Row(part, row.what, f"{count:,} actions", row.found, row.target, row.met)
        yield Row(part, "what is said then", f"{len(sentences)} kinds", "; ".join(sentences)[:300])
