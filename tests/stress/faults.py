"""Killed processes, full and read-only disks, clocks that jump."""

import itertools
import random
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from fgpvae import files, runs
from fgpvae.errors import UserError
from fgpvae.runs import queue, writer
from tests.stress.table import Row, none
from tests.stress.uploads import one_sentence
from tests.test_runs import OFTEN, same_weights, tiny
from tests.zygote import Child, Zygote, zygote

KILLS = 50
EPOCHS = 8
KILLED = {  # kinds of runs, and the settings that they change
    "the paper's networks, GECO": (
        "model.network.kind=paper objective.name=geco objective.multiplier=1e4"
    ),
    "average, cosine, warmup, context dropout, validation": (
        "training.average=0.9 training.schedule=cosine training.warmup=7 "
        "training.context_dropout=0.5 model.mean_function=true model.network.dropout=0.1 "
        "data.validation=5 training.validate_every=2 training.keep=best"
    ),
    "warp, ragged, weight decay, clip": (
        "data.split=shuffled data.warp=1 training.batch=180 training.weight_decay=0.1 "
        "training.clip=1 objective.learn_pixel_variance=true"
    ),
    "continuous": "data.split=continuous data.classes=[3,5] training.batch=120",
    "joint GP": (
        "model.name=gpvae model.network.kind=paper model.phases=[0.3,0.6] "
        "training.context_dropout=0"
    ),
}


@dataclass
class Kills:
    kills: int = 0
    while_writing: int = 0  # a file was half written when the process died
    runs: int = 0
    wrong: list[str] = field(default_factory=list)


def killed(folder: Path, count: int, kinds: Sequence[str] = tuple(KILLED)) -> Kills:
    """Kill runs of several kinds at random moments until there were so many kills."""
    seen, stream = Kills(), random.Random(count)
    with zygote(folder) as forks:
        wholes: dict[str, Path] = {}
        for turn, name in enumerate(itertools.cycle(kinds)):
            if seen.kills >= count or turn > 4 * count:
                return seen
            changes = KILLED[name].split()
            if name not in wholes:
                wholes[name] = folder / f"whole-{len(wholes)}"
                code, out = forks.run("train", "--run-dir", wholes[name], *command(changes))
                assert code == 0, out
            torn = folder / f"torn-{turn}"
            seen.runs += 1
            most = min(count, seen.kills + -(-count // len(kinds)))  # some for each kind
            one_run(forks, torn, changes, seen, stream, most)
            if not same_weights(torn, wholes[name]):
                seen.wrong.append(f"{name}: other weights than those of an undisturbed run")
            if course(torn) != course(wholes[name]):
                seen.wrong.append(f"{name}: other metrics than those of an undisturbed run")
            if list(torn.glob(".*")):
                seen.wrong.append(f"{name}: something half written is left")
            shutil.rmtree(torn)
    return seen


def course(path: Path) -> list[dict]:
    """The metrics of a run, but for what depends on the machine."""
    own = dict.fromkeys(("seconds", "cpu_seconds", "memory_mb"), 0)
    return [line | own for line in runs.open_run(path).metrics()]


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


def strike(child: Child, directory: Path, stream: random.Random) -> bool:
    """SIGKILL after a few more checkpoints and a moment; False if the run has ended before."""
    state = directory / runs.STATE
    for _ in range(stream.randrange(1, 4)):
        last = version(state)
        child.until(lambda last=last: version(state) != last or finished(directory))
    time.sleep(stream.uniform(0, 0.02))
    if finished(directory):
        return False
    child.kill(signal.SIGKILL)
    return not finished(directory)


def version(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def finished(directory: Path) -> bool:
    status = directory / runs.STATUS
    return status.exists() and files.read_json(status)["state"] == runs.FINISHED


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
        "start": lambda: queue.start(root, "new", tiny()),
        "resume": lambda: queue.resume(run),
        "train": lambda: list(writer.execute(run.path)),
        "advance": lambda: queue.advance_queue(root),
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
    slots = queue.slots
    queue.slots = lambda: 0
    try:
        with small_disk(folder) as disk:
            if disk is None:
                return None
            root = disk / "runs"
            queue.start(root, "run", tiny())
            with closing(writer.execute(root / "run")) as steps:
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
            for _ in writer.execute(run.path):
                pass
            for _ in writer.execute(folder / "whole", tiny()):
                pass
            if not same_weights(run.path, folder / "whole"):
                wrong.append("other weights after a full and a read-only disk")
            # what is full can be emptied
            with suppress(OSError), (disk / "ballast").open("ab", buffering=0) as file:
                while file.write(bytes(4096)):
                    pass
            queue.delete(runs.open_run(run.path))
            if run.path.exists():
                wrong.append("a run cannot be deleted from a full disk")
            return said, wrong
    finally:
        queue.slots = slots


def clocks(folder: Path) -> list[str]:
    """The clock of the machine jumps by years, back and forth, while a run trains."""
    stream, wrong = random.Random(0), []

    def jumping() -> float:
        return stream.choice([0.0, 1.0, 1e9, 4e9, 9e12])

    with mock.patch.object(writer.time, "time", jumping), mock.patch.multiple(writer, **OFTEN):
        for _ in writer.execute(folder / "jumping", tiny()):
            pass
    for _ in writer.execute(folder / "calm", tiny()):
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
