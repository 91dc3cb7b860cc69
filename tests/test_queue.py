"""Background runs, with real processes."""

import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import psutil
import pytest

from fgpvae import files, runs
from fgpvae.errors import UserError
from fgpvae.models import FGPVAEConfig
from fgpvae.networks.standard import NetworkConfig
from fgpvae.runs import estimate, queue
from fgpvae.training.configs import DataConfig
from fgpvae.training.presets import PRESETS
from tests.test_runs import same_weights, tiny, train
from tests.waiting import eventually

FOREVER = 5000


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """A directory for runs; whatever trains in it ends with the test, and nothing follows it."""
    monkeypatch.setenv("FGPVAE_RUNS_NICE", "1")  # tests may run beside other work
    yield tmp_path / "runs"
    for run in runs.list_runs(tmp_path / "runs")[0]:
        if run.state == runs.QUEUED:
            queue.stop(run)
    for path in (tmp_path / "runs").glob("*/"):
        if pid := trainer(path):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            eventually(lambda path=path: not files.is_locked(path / runs.LOCK))


@pytest.fixture
def one_slot(monkeypatch):
    monkeypatch.setattr(queue, "slots", lambda: 1)


@pytest.fixture
def no_slot(monkeypatch):
    monkeypatch.setattr(queue, "slots", lambda: 0)


def trainer(path: Path) -> int | None:
    """The process that trains a run."""
    if not files.is_locked(path / runs.LOCK):
        return None
    for process in psutil.process_iter(["cmdline"]):
        if str(path) in (process.info["cmdline"] or []):
            return process.pid
    return None


def state(root: Path, name: str) -> str:
    return queue.find(root, name).state


def test_a_run_trains_in_the_background_stops_goes_on_and_ends_as_it_would_here(
    root, one_slot, monkeypatch
):
    config = tiny(FOREVER)
    run = queue.start(root, "first", config)
    assert (run.state, run.active) == (runs.PREPARING, True)
    waiting = queue.start(root, "second", tiny(2, seed=1))
    assert (waiting.state, waiting.active) == (runs.QUEUED, False)
    assert queue.advance_queue(root) == []  # there is no room

    eventually(lambda: state(root, "first") == runs.RUNNING)
    child = psutil.Process(trainer(run.path))
    assert child.nice() == 1
    session = Path(f"/proc/{child.pid}/autogroup")  # Linux may weigh sessions, not processes
    if session.exists():
        assert session.read_text().split()[-1] == "1"
    assert os.getsid(child.pid) == child.pid != os.getsid(0)
    assert child.environ()["OMP_NUM_THREADS"] == str(max(queue.cores() - 1, 1))

    for refused in (queue.delete, partial(queue.rename, name="other"), queue.resume):
        with monkeypatch.context() as patch:
            # the lock is held as long as the run is trained
            patch.setattr(runs, "LOCK_SECONDS", 0.1)
            with pytest.raises(UserError, match="is being trained; stop it first"):
                refused(run)
    with pytest.raises(UserError, match="There is a run 'first' already"):
        queue.start(root, "first", config)

    # the stopped run makes room for the next one without anyone looking
    eventually(lambda: queue.find(root, "first").epoch >= 1)
    queue.stop(run)
    eventually(lambda: state(root, "second") == runs.FINISHED)
    stopped = queue.find(root, "first")
    assert (stopped.state, stopped.active) == (runs.STOPPED, False)
    eventually(lambda: not psutil.pid_exists(child.pid))  # no zombie is left
    assert same_weights(root / "second", train(root.parent / "here", tiny(2, seed=1)).path)

    epochs = int(stopped.epoch) + 2
    queue.resume(stopped, epochs=epochs)
    eventually(lambda: state(root, "first") == runs.FINISHED)
    assert queue.find(root, "first").epoch == epochs
    assert same_weights(root / "first", train(root.parent / "there", tiny(epochs)).path)
    with pytest.raises(UserError, match="is finished; give it more epochs"):
        queue.resume(queue.find(root, "first"))


def test_runs_survive_the_server_and_a_killed_one_is_interrupted(root, one_slot):
    server = (
        "import sys, time; from pathlib import Path\n"
        "from fgpvae.runs import queue; from tests.test_runs import tiny\n"
        "queue.slots = lambda: 1\n"
        "for name in ('a', 'b'): queue.start(Path(sys.argv[1]), name, tiny(5000))\n"
        "print('started', flush=True); time.sleep(1000)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", server, str(root)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "started\n"
        process.kill()
    # a is still trained, b still waits
    eventually(lambda: state(root, "a") == runs.RUNNING)
    assert state(root, "b") == runs.QUEUED
    assert queue.advance_queue(root) == []

    os.kill(trainer(root / "a"), signal.SIGKILL)
    eventually(lambda: state(root, "a") == runs.INTERRUPTED)
    queue.stop(queue.find(root, "b"))
    assert state(root, "b") == runs.STOPPED
    assert queue.advance_queue(root) == []


def test_many_callers_start_each_queued_run_once(root, no_slot, monkeypatch):
    launched = []
    for name in "abcdef":
        queue.start(root, name, tiny())
    with monkeypatch.context() as patch, ThreadPoolExecutor(8) as pool:

        def launch(run, threads):
            files.write_json(run.path / runs.STATUS, {"state": runs.STOPPED})
            launched.append(run.name)

        patch.setattr(queue, "slots", lambda: 2)
        patch.setattr(queue, "_launch", launch)
        list(pool.map(lambda _: queue.advance_queue(root), range(24)))
    assert sorted(launched) == list("abcdef")  # stopped at once, so there was always room
    assert launched == sorted(launched)  # the oldest first


def test_rename_and_delete(root, no_slot):
    first, second = (queue.start(root, name, tiny()) for name in ("first", "second"))
    with pytest.raises(UserError, match="There is a run 'second' already"):
        queue.rename(first, "second")
    renamed = queue.rename(first, "third")
    assert (renamed.name, renamed.config) == ("third", first.config)
    for action in (queue.delete, queue.resume, lambda run: queue.rename(run, "x")):
        with pytest.raises(UserError, match="There is no run 'first' any more"):
            action(first)
    queue.delete(renamed)
    queue.delete(second)
    assert [path.name for path in root.iterdir()] == [queue.ROOT_LOCK]
    assert queue.free_name(root, "first") == "first"


def test_deleting_never_follows_links(root, no_slot, tmp_path):
    outside = tmp_path / "outside"
    with runs.locked(outside):
        runs.create(outside, tiny())
    run = queue.start(root, "run", tiny())
    (run.path / "link").symlink_to(outside)
    (root / "linked").symlink_to(outside)
    before = sorted(outside.iterdir())
    with pytest.raises(UserError, match="no run 'linked' any more"):
        queue.find(root, "linked")
    with pytest.raises(UserError, match="no run 'linked' any more"):
        queue.delete(replace(run, path=root / "linked"))
    queue.delete(run)
    assert not run.path.exists()
    assert sorted(outside.iterdir()) == before


def test_limits_on_epochs_disk_and_queue(root, no_slot, monkeypatch):
    with pytest.raises(UserError, match="from 1 to 5000 epochs"):
        queue.start(root, "long", tiny(5001))
    monkeypatch.setattr(queue, "MOST_QUEUED", 2)
    first = queue.start(root, "a", tiny())
    queue.start(root, "b", tiny())
    with pytest.raises(UserError, match="2 runs waiting already"):
        queue.start(root, "c", tiny())
    queue.stop(first)
    with (first.path / "ballast").open("wb") as file:
        file.truncate(3 * 2**20)
    monkeypatch.setenv("FGPVAE_RUNS_LIMIT_MB", "3")
    for action in (
        lambda: queue.start(root, "c", tiny()),
        lambda: queue.resume(first),
    ):
        with pytest.raises(UserError, match="The runs take 3 MB of the 3 MB they may"):
            action()
    monkeypatch.setenv("FGPVAE_RUNS_LIMIT_MB", "lots")
    with pytest.raises(UserError, match="must be a whole number"):
        queue.start(root, "c", tiny())
    monkeypatch.setenv("FGPVAE_RUNS_LIMIT_MB", "4")
    queue.start(root, "c", tiny())
    assert sorted(run.name for run in runs.list_runs(root)[0]) == ["a", "b", "c"]


def test_a_run_too_large_for_what_is_left_is_refused_before_it_fills_the_disk(
    root, no_slot, monkeypatch
):
    wide = FGPVAEConfig(latents=8, local=4, network=NetworkConfig("dense", widths=(2048,)))
    monkeypatch.setenv("FGPVAE_RUNS_LIMIT_MB", "60")
    with pytest.raises(UserError, match=r"The runs take 0 MB of the 60 MB .* needs about \d+ MB"):
        queue.start(root, "large", tiny(model=wide))
    # admitted one by one while they were empty, they must not fill it together
    monkeypatch.setenv("FGPVAE_RUNS_LIMIT_MB", "70")
    for name in ("a", "b"):
        queue.start(root, name, tiny(model=wide))
    with (root / "a" / "ballast").open("wb") as file:
        file.truncate(65 * 2**20)
    queue.stop(queue.find(root, "a"))
    monkeypatch.setattr(queue, "slots", lambda: 1)
    assert queue.advance_queue(root) == []
    run = queue.find(root, "b")
    assert (run.state, run.active) == (runs.FAILED, False)
    assert "The runs take 65 MB of the 70 MB they may" in run.message
    monkeypatch.setattr(queue, "slots", lambda: 0)
    queue.delete(queue.find(root, "a"))
    assert queue.resume(run).state == runs.QUEUED


def test_an_estimate_grows_with_what_is_trained():
    small = tiny(10)
    full = tiny(10, data=DataConfig("continuous", "openml", classes=tuple(range(10)), views=2))
    assert estimate.training_subjects(full) > 100 * estimate.training_subjects(small)
    assert estimate.epoch_seconds(full) > 100 * estimate.epoch_seconds(small) > 0
    assert estimate.epoch_seconds(PRESETS["wide"]) > estimate.epoch_seconds(PRESETS["quick"])
    assert estimate.epoch_seconds(PRESETS["cubes"]) > estimate.epoch_seconds(PRESETS["cubes-quick"])
