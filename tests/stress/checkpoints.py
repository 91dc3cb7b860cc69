"""Damaged, foreign and malicious checkpoints and run directories: data, never code."""

import io
import json
import math
import os
import pickle
import random
import shutil
import struct
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import torch
from safetensors.torch import load, save

from fgpvae import runs
from fgpvae.errors import UserError
from fgpvae.runs import archives, checkpoints, queue, writer
from fgpvae.runs.checkpoints import CONFIG, WEIGHTS, load_model, load_pretrained
from tests.stress.table import Row, none
from tests.stress.uploads import one_sentence
from tests.stress.watch import watched
from tests.test_checkpoints import Malicious, archive, header, same
from tests.test_runs import tiny

SLOWEST = 2.0  # seconds of processor time
SECRET = "outside the runs directory"
PARTS = (CONFIG, WEIGHTS, runs.STATE, runs.STATUS, runs.METRICS)
Damage = tuple[str, bytes]


@dataclass
class Outcome:
    """What became of many damages."""

    tried: int = 0
    refused: int = 0
    bad: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    slow: list[str] = field(default_factory=list)

    def __call__(self, name: str, root: Path, action: Callable[[], bool]) -> None:
        """`action` says whether what it read is what was written, or refuses in a sentence."""
        self.tried += 1
        began = time.process_time()
        with watched(root) as touched:
            try:
                if not action():
                    self.bad.append(f"{name}: read as something else")
            except UserError as error:
                self.refused += 1
                if not one_sentence(str(error)):
                    self.bad.append(f"{name}: {str(error)!r}")
            except Exception as error:
                self.bad.append(f"{name}: {type(error).__name__}, {error}")
        if touched:
            self.touched.append(f"{name}: {touched[0]}")
        if (spent := time.process_time() - began) > SLOWEST:
            self.slow.append(f"{name}: {spent:.1f} s")


class Place:
    """A runs directory with one good run, a secret beside it, and a bait for code that is run."""

    def __init__(self, folder: Path) -> None:
        self.root, self.secret, self.bait = folder / "runs", folder / "secret", folder / "bait"
        self.secret.write_text(SECRET)
        self.run = self.root / "good"
        with closing(writer.execute(self.run, tiny())) as steps:
            for step, _ in steps:
                if step.step == 8:
                    break
        self.good = {name: (self.run / name).read_bytes() for name in PARTS}
        self.model = load_model(self.run / WEIGHTS)
        self.config = runs.open_run(self.run).config

    def restore(self) -> None:
        """All as it was."""
        if self.run.is_symlink() or self.run.is_file():
            self.run.unlink()
        self.run.mkdir(exist_ok=True)
        for name, content in self.good.items():
            path = self.run / name
            if path.is_symlink() or not path.is_file():
                _remove(path)
                path.write_bytes(content)
            elif path.read_bytes() != content:
                path.write_bytes(content)
        (self.run / runs.STOP).unlink(missing_ok=True)

    def outside(self) -> list[str]:
        wrong = []
        if self.secret.is_symlink() or self.secret.read_text() != SECRET:
            wrong.append("the file outside was changed")
        if self.bait.exists():
            wrong.append("code from a file was run")
        extra = {path.name for path in self.root.parent.iterdir()} - {"runs", "secret"}
        return wrong + [f"new beside the runs: {name}" for name in sorted(extra)]


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def cuts(content: bytes, step: int = 4096) -> Iterator[Damage]:
    for size in sorted({*range(0, len(content), step), 1, 7, 8, 9, len(content) - 1}):
        if size < len(content):
            yield f"cut at {size}", content[:size]


def flips(content: bytes, count: int, seed: int) -> Iterator[Damage]:
    stream = random.Random(seed)
    for number in range(count):
        damaged = bytearray(content)
        for _ in range(stream.choice([1, 1, 4, 40])):
            # every second one near the start, where the sizes are
            end = min(len(content), 600) if number % 2 else len(content)
            damaged[stream.randrange(end)] ^= 1 << stream.randrange(8)
        yield f"flips {number}", bytes(damaged)


def foreign(bait: Path) -> Iterator[Damage]:
    """What is no file of a run at all, among it pickles that would write a file."""
    evil = Malicious(bait)
    for protocol in range(6):
        yield f"pickle, protocol {protocol}", pickle.dumps(evil, protocol)
    for wrapped in (evil, {"model": evil}, [evil], {"step": 1, "optimizer": {"state": evil}}):
        for zipped in (True, False):
            buffer = io.BytesIO()
            torch.save(wrapped, buffer, _use_new_zipfile_serialization=zipped)
            yield f"torch file of {type(wrapped).__name__}, {zipped}", buffer.getvalue()
    yield "marshal and shell", b"#!/bin/sh\ntouch bait\n"
    yield "nothing", b""
    yield "zeros", bytes(5_000)
    yield "ones", b"\xff" * 5_000
    yield "text", b"hello\n" * 100
    yield "random", random.Random(5).randbytes(20_000)


def headers(content: bytes) -> Iterator[Damage]:
    """Safetensors whose header lies about sizes, shapes, places and kinds."""
    size = int.from_bytes(content[:8], "little")
    known, body = json.loads(content[8 : 8 + size]), content[8 + size :]

    def packed(changed: object) -> bytes:
        text = json.dumps(changed).encode()
        return struct.pack("<Q", len(text)) + text + body

    name = "decoder.layers.0.weight"
    tensor = known[name]
    start, end = tensor["data_offsets"]
    for what, change in {
        "negative shape": {"shape": [-1, 2]},
        "negative place": {"data_offsets": [-8, end]},
        "place beyond the end": {"data_offsets": [start, 2**62]},
        "place backwards": {"data_offsets": [end, start]},
        "absurd shape": {"shape": [2**40, 2**40]},
        "shape of 1,000 sides": {"shape": [1] * 1_000},
        "shape of zero": {"shape": [0]},
        "unknown kind": {"dtype": "PICKLE"},
        "other kind": {"dtype": "I64"},
        "no shape": {"shape": None},
    }.items():
        yield what, packed(known | {name: tensor | change})
    yield "two tensors in one place", packed(known | {"more": tensor})
    yield "no tensors", packed({"__metadata__": known["__metadata__"]})
    yield "a name with dots", packed(known | {"../../x": tensor})
    yield "a list", packed([known])
    yield "metadata of numbers", packed(known | {"__metadata__": {"format": 1}})
    for length in (0, 2**63 - 1, 2**64 - 1, size + 1, size - 1, len(content)):
        yield f"header of {length}", struct.pack("<Q", length) + content[8:]
    yield "deep header", packed(known | {"__metadata__": {"model": "[" * 50_000}})


def configs() -> Iterator[tuple[str, dict]]:
    """Changes to the settings of a model that no file may ask for."""
    for name, values in {
        "latents": (-3, 0, 10**9, 2**64, 1.5, "8", None, True, []),
        "local": (-1, 10**6),
        "amplitude": (0, -1, 1e300, "x"),
        "length_scale": (0, -1, 1e-3, 1e-9, 1e9),
        "period": (0, 1e-9),
        "digit_rank": (-1, 0, 10**9),
        "phases": ([2, 1], [0.1], "ab", [[0], [1]]),
        "training_set": ([-1, 5], [10**6, 10**6], [2**63, 2], [1]),
        "network": (
            [],
            {"kind": "../../etc/passwd"},
            {"kind": "convolutional", "hidden": 10**9},
            {"kind": "convolutional", "hidden": -5},
            {"kind": "convolutional", "filters": [10**9, 1]},
            {"kind": "dense", "widths": [4096] * 10**4},
            {"kind": "dense", "widths": []},
            {"kind": "dense", "widths": [-1]},
            {"shape": [1, 10**9, 28]},
            {"shape": [1, -28, -28]},
            {"dropout": 2},
        ),
        "name": (7, "os.system", "__class__", "x" * 10**5),
        "__init__": (1,),
    }.items():
        for value in values:
            yield f"{name} = {str(value)[:40]}", {name: value}


def weights_of(place: Place, outcome: Outcome, number: int) -> None:
    """The weights file."""
    good, path = place.good[WEIGHTS], place.run / WEIGHTS

    def reads_the_same() -> bool:
        return same(load_model(path), place.model)

    damages = [*cuts(good), *flips(good, number, 0)]
    damages += [*headers(good), *foreign(place.bait)]
    damages += [(f"{name} in its place", place.good[name]) for name in PARTS if name != WEIGHTS]
    for name, content in damages:
        path.write_bytes(content)
        outcome(f"weights: {name}", place.root, reads_the_same)
    # well written, with a valid digest, and wrong all the same
    tensors, known = load(good), header(good)
    for name, change in configs():
        description = json.dumps(asdict(place.model.config) | change)
        digest = checkpoints._digest(description, tensors)
        path.write_bytes(save(tensors, known | {"model": description, "digest": digest}))
        outcome(f"weights: {name}", place.root, lambda: not load_model(path))
    for version in ("0", "3", "99", "", "1.0", "x" * 1_000):
        path.write_bytes(save(tensors, known | {"format": version}))
        outcome(f"weights: format {version[:9]}", place.root, lambda: not load_model(path))
    place.restore()


def configs_of(place: Place, outcome: Outcome, number: int) -> None:
    """config.json: another config or a sentence, and in lists the others are still there."""
    good, path = place.good[CONFIG], place.run / CONFIG

    def opened() -> bool:
        found, broken = runs.list_runs(place.root)
        if len(found) + len(broken) != 1:
            return False
        for sentence in broken.values():
            raise UserError(sentence)
        found[0].summary()
        return True

    damages = [*cuts(good, 16), *flips(good, number, 2)]
    damages += [*foreign(place.bait), ("deep", b"[" * 100_000), ("long", b"9" * 10**5)]
    values = json.loads(good)
    damages += [
        (f"model {name}", json.dumps(values | {"model": values["model"] | change}).encode())
        for name, change in configs()
    ]
    for group, name, value in (
        ("training", "epochs", -1),
        ("training", "epochs", 10**12),
        ("training", "batch", 0),
        ("training", "learning_rate", 1e400),
        ("data", "views", -1),
        ("data", "views", 10**9),
        ("data", "classes", [10**9] * 1_000),
        ("data", "source", "/etc"),
        ("objective", "multiplier", -1),
    ):
        changed = values | {group: values[group] | {name: value}}
        damages.append((f"{group}.{name} = {str(value)[:20]}", json.dumps(changed).encode()))
    damages += [
        (f"format {version}", json.dumps(values | {"format": version}).encode())
        for version in (0, 2, 99, "1", None, [1])
    ]
    for name, content in damages:
        path.write_bytes(content)
        outcome(f"config: {name}", place.root, opened)
    place.restore()


def states_of(place: Place, outcome: Outcome, number: int) -> None:
    """state.pt: the run goes on as it would have, or says why it cannot; weights stay usable."""
    good = place.good[runs.STATE]
    with closing(writer.execute(place.run)) as steps:
        expected, _ = next(steps)
    place.restore()

    def resumes() -> bool:
        with closing(writer.execute(place.run)) as steps:
            step, _ = next(steps)
        return step.step == expected.step and math.isclose(step.loss, expected.loss, rel_tol=1e-4)

    damages = [*cuts(good), *flips(good, number, 4)]
    damages += foreign(place.bait)
    damages += [(f"{name} in its place", place.good[name]) for name in PARTS if name != runs.STATE]
    state = torch.load(io.BytesIO(good), weights_only=True)
    for name, change in {
        "negative step": {"step": -5},
        "step far beyond the end": {"step": 10**15},
        "step that is a text": {"step": "x"},
        "empty model": {"model": {}},
        "absurd moments": {"optimizer": {"state": {0: {"exp_avg": torch.zeros(1)}}}},
        "of another run": {"run": json.dumps(asdict(replace(place.config, seed=9)))},
        "negative threads": {"threads": -1},
        "a million threads": {"threads": 10**6},
        "sums that are a list": {"sums": [1]},
    }.items():
        buffer = io.BytesIO()
        torch.save(state | change, buffer)
        damages.append((name, buffer.getvalue()))
    threads = torch.get_num_threads()
    for name, content in damages:
        (place.run / runs.STATE).write_bytes(content)
        # a number of threads changes nothing that is trained
        outcome(f"state: {name}", place.root, resumes)
        torch.set_num_threads(threads)
        if not same(load_model(place.run / WEIGHTS), place.model):
            place.restore()
        place.restore()


def small_files_of(place: Place, outcome: Outcome, number: int) -> None:
    """status.json and metrics.jsonl: whatever is in them, the run is still there."""

    def opened() -> bool:
        run = runs.open_run(place.run)
        run.summary()
        return run.config == place.config

    for part in (runs.STATUS, runs.METRICS, runs.STOP, runs.LOG):
        good = place.good.get(part, b"x" * 100)
        damages = [*cuts(good, 16), *flips(good, number, 6), *foreign(place.bait)]
        damages += [("numbers", b'{"epoch": 1e999, "queued": -1e308, "seconds_left": NaN}')]
        damages += [("a future", b'{"state": "running", "heartbeat": 9e12, "started": 9e12}')]
        for name, content in damages:
            (place.run / part).write_bytes(content)
            outcome(f"{part}: {name}", place.root, opened)
        _remove(place.run / part)
        place.restore()


def archives_of(place: Place, outcome: Outcome, number: int) -> None:
    path = place.root / "run.zip"
    parts = {name: place.good[name] for name in (CONFIG, WEIGHTS)}
    good = archive(path, parts).read_bytes()

    def reads_the_same() -> bool:
        checkpoints.load_config(path)
        return same(load_pretrained(path), place.model)

    damages = [*cuts(good), *flips(good, number, 7), *foreign(place.bait)]
    for name, content in {
        "names with ..": {f"../{name}": part for name, part in parts.items()},
        "names from the root": {f"/{name}": part for name, part in parts.items()},
        "names in folders": {f"a/{name}": part for name, part in parts.items()},
        "a bomb": parts | {CONFIG: bytes(30 * 2**20)},
        "10,000 files": parts | {f"{index}": b"" for index in range(10_000)},
    }.items():
        damages.append((name, archive(path, content, zipfile.ZIP_DEFLATED).read_bytes()))
    link = io.BytesIO()
    with zipfile.ZipFile(link, "w") as file:
        for name in parts:
            entry = zipfile.ZipInfo(name)
            entry.external_attr = 0o120777 << 16
            file.writestr(entry, str(place.secret))
    damages.append(("links", link.getvalue()))
    for name, content in damages:
        path.write_bytes(content)
        outcome(f"archive: {name}", place.root, reads_the_same)
    path.unlink()


def directories_of(place: Place, outcome: Outcome) -> None:
    """Links, pipes and directories in place of files; names that lead elsewhere."""

    def used() -> bool:
        run = queue.find(place.root, "good")
        run.summary()
        with closing(writer.execute(place.run)) as steps:
            next(steps, None)
        archives.pack(run)
        return True

    odd: dict[str, Callable[[Path], object]] = {
        "a link to a file outside": lambda path: path.symlink_to(place.secret),
        "a link to a directory outside": lambda path: path.symlink_to(place.root.parent),
        "a link to nothing": lambda path: path.symlink_to("nowhere"),
        "a link to itself": lambda path: path.symlink_to(path),
        "a link to /dev/zero": lambda path: path.symlink_to("/dev/zero"),
        "a pipe": os.mkfifo,
        "a directory": Path.mkdir,
    }
    for part in (*PARTS, runs.LOCK, runs.STOP, runs.LOG):
        for name, make in odd.items():
            _remove(place.run / part)
            make(place.run / part)
            outcome(f"{part}: {name}", place.root, used)
            _remove(place.run / part)
            place.restore()
    names = ["..", "../secret", "/etc", "a/../../x", "good/../../secret", "good/", ".", ""]
    names += ["%2e%2e", "..\\x", "good\0", "~", "$HOME", "x" * 300, ".lock", "a\nb"]
    for name in names:
        run = runs.open_run(place.run)
        for action in (
            lambda name=name: not queue.find(place.root, name),
            lambda name=name: not queue.start(place.root, name, tiny()),
            lambda name=name, run=run: not queue.rename(run, name),
        ):
            outcome(f"a run named {name[:20]!r}", place.root, action)
        place.restore()
    (place.root / "linked").symlink_to(place.root.parent)
    linked = replace(runs.open_run(place.run), path=place.root / "linked")
    for action in (queue.delete, queue.resume, lambda run: queue.rename(run, "x")):
        outcome("a run that is a link", place.root, lambda action=action: not action(linked))
    (place.root / "linked").unlink()


def trial(number: int) -> tuple[Outcome, list[str]]:
    """All of it; `number` says how many random damages a file gets."""
    outcome, wrong, slots = Outcome(), [], queue.slots
    queue.slots = lambda: 0  # nothing is to be trained in the background
    try:
        with tempfile.TemporaryDirectory() as folder:
            place = Place(Path(folder))
            for part in (weights_of, configs_of, states_of, small_files_of, archives_of):
                part(place, outcome, number)
                wrong += [f"{part.__name__}: {what}" for what in place.outside()]
            directories_of(place, outcome)
            wrong += [f"directories_of: {what}" for what in place.outside()]
    finally:
        queue.slots = slots
    return outcome, wrong


def rows() -> Iterator[Row]:
    outcome, wrong = trial(number=300)
    part = "checkpoints"
    what = "neither refused in a sentence nor read as written"
    yield none(part, what, outcome.tried, outcome.bad)
    yield Row(part, "refused", f"{outcome.tried:,}", f"{outcome.refused:,}")
    yield none(part, "over 2 s of processor time", outcome.tried, outcome.slow)
    what = "code run, or anything outside the runs directory touched"
    yield none(part, what, outcome.tried, [*wrong, *outcome.touched])
