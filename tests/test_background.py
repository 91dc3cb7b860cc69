"""Background runs, with real processes."""

import itertools
import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import psutil
import pytest
import torch

from fgpvae import archives, background, checkpoints, files, runs, timing
from fgpvae.checkpoints import CONFIG, WEIGHTS, load_pretrained
from fgpvae.configs import DataConfig, RunConfig, to_dict
from fgpvae.data import TRAIN_DIGITS
from fgpvae.errors import UserError
from fgpvae.models import FGPVAEConfig
from fgpvae.networks import NetworkConfig
from tests.configs import model_config
from tests.test_runs import same_weights, tiny, train

FOREVER = 5000


@pytest.fixture
def root(tmp_path, monkeypatch) -> Path:
    """A directory for runs; whatever trains in it ends with the test."""
    monkeypatch.setenv("FGPVAE_RUNS_NICE", "1")  # tests may run beside other work
    yield tmp_path / "runs"
    for path in (tmp_path / "runs").glob("*/"):
        if pid := trainer(path):
            os.kill(pid, signal.SIGKILL)
            wait(lambda path=path: not files.is_locked(path / runs.LOCK))
    background.reap()


@pytest.fixture
def one_slot(monkeypatch):
    monkeypatch.setattr(background, "slots", lambda: 1)


@pytest.fixture
def no_slot(monkeypatch):
    monkeypatch.setattr(background, "slots", lambda: 0)


def wait(condition) -> None:
    while not condition():
        time.sleep(0.02)


def trainer(path: Path) -> int | None:
    """The process that trains a run."""
    if not files.is_locked(path / runs.LOCK):
        return None
    for process in psutil.process_iter(["cmdline"]):
        if str(path) in (process.info["cmdline"] or []):
            return process.pid
    return None


def state(root: Path, name: str) -> str:
    return background.find(root, name).state


# Processes


def test_a_session_steps_back_also_right_after_another(monkeypatch):
    """Linux refuses a second change within a tenth of a second, unless it is by root."""
    child = subprocess.Popen(["sleep", "60"], start_new_session=True)
    session, write, refused = Path(f"/proc/{child.pid}/autogroup"), Path.write_text, []

    def once_refused(path, text):
        if not refused:
            refused.append(path)
            raise BlockingIOError
        return write(path, text)

    monkeypatch.setattr(Path, "write_text", once_refused)
    monkeypatch.setattr(os, "setpriority", Mock(side_effect=PermissionError))
    try:
        background._step_back(child.pid, 7)
        assert not session.exists() or session.read_text().split()[-1] == "7"
    finally:
        child.kill()
        child.wait()


def test_a_run_trains_in_the_background_stops_goes_on_and_ends_as_it_would_here(
    root, one_slot, monkeypatch
):
    config = tiny(FOREVER)
    run = background.start(root, "first", config)
    assert (run.state, run.active) == (runs.PREPARING, True)
    waiting = background.start(root, "second", tiny(2, seed=1))
    assert (waiting.state, waiting.active) == (runs.QUEUED, False)
    assert background.advance_queue(root) == []  # there is no room

    wait(lambda: state(root, "first") == runs.RUNNING)
    child = psutil.Process(trainer(run.path))
    assert child.nice() == 1
    session = Path(f"/proc/{child.pid}/autogroup")  # Linux may weigh sessions, not processes
    if session.exists():
        assert session.read_text().split()[-1] == "1"
    assert os.getsid(child.pid) == child.pid != os.getsid(0)
    assert child.environ()["OMP_NUM_THREADS"] == str(max(background.cores() - 1, 1))

    for refused in (background.delete, partial(background.rename, name="other"), background.resume):
        with monkeypatch.context() as patch:
            patch.setattr(runs, "LOCK_SECONDS", 0.1)  # it is held as long as the run is trained
            with pytest.raises(UserError, match="is being trained; stop it first"):
                refused(run)
    with pytest.raises(UserError, match="There is a run 'first' already"):
        background.start(root, "first", config)

    # the stopped run makes room for the next one without anyone looking
    wait(lambda: background.find(root, "first").epoch >= 1)
    background.stop(run)
    wait(lambda: state(root, "second") == runs.FINISHED)
    stopped = background.find(root, "first")
    assert (stopped.state, stopped.active) == (runs.STOPPED, False)
    background.reap()
    assert not psutil.pid_exists(child.pid)  # no zombie is left
    assert same_weights(root / "second", train(root.parent / "here", tiny(2, seed=1)).path)

    epochs = int(stopped.epoch) + 2
    background.resume(stopped, epochs=epochs)
    wait(lambda: state(root, "first") == runs.FINISHED)
    assert background.find(root, "first").epoch == epochs
    assert same_weights(root / "first", train(root.parent / "there", tiny(epochs)).path)
    with pytest.raises(UserError, match="is finished; give it more epochs"):
        background.resume(background.find(root, "first"))


def test_runs_survive_the_server_and_a_killed_one_is_interrupted(root, one_slot):
    server = (
        "import sys, time; from pathlib import Path\n"
        "from fgpvae import background; from tests.test_runs import tiny\n"
        "background.slots = lambda: 1\n"
        "for name in ('a', 'b'): background.start(Path(sys.argv[1]), name, tiny(5000))\n"
        "print('started', flush=True); time.sleep(1000)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", server, str(root)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "started\n"
        process.kill()
    # a is still trained, b still waits
    wait(lambda: state(root, "a") == runs.RUNNING)
    assert state(root, "b") == runs.QUEUED
    assert background.advance_queue(root) == []

    os.kill(trainer(root / "a"), signal.SIGKILL)
    wait(lambda: state(root, "a") == runs.INTERRUPTED)
    background.stop(background.find(root, "b"))
    assert state(root, "b") == runs.STOPPED
    assert background.advance_queue(root) == []


def test_what_a_process_could_not_do_is_said(root, one_slot):
    config = tiny(2, data=DataConfig("continuous", "/no/such/directory"))
    run = background.start(root, "lost", config)
    wait(lambda: not background.find(root, "lost").active)
    run = background.find(root, "lost")
    assert run.state == runs.FAILED
    assert "There is no directory" in run.message
    log = run.path / runs.LOG
    wait(lambda: log.read_text().endswith("\n"))  # written when the run is already let go
    assert log.read_text().count("\n") == 1


def test_many_callers_start_each_queued_run_once(root, no_slot, monkeypatch):
    launched = []
    for name in "abcdef":
        background.start(root, name, tiny())
    with monkeypatch.context() as patch, ThreadPoolExecutor(8) as pool:

        def launch(run, threads):
            files.write_json(run.path / runs.STATUS, {"state": runs.STOPPED})
            launched.append(run.name)

        patch.setattr(background, "slots", lambda: 2)
        patch.setattr(background, "_launch", launch)
        list(pool.map(lambda _: background.advance_queue(root), range(24)))
    assert sorted(launched) == list("abcdef")  # stopped at once, so there was always room
    assert launched == sorted(launched)  # the oldest first


# Names and files


@pytest.mark.parametrize("name", ["a", "Run-1_b.c", "7", "-x", "x" * 60])
def test_good_names(name):
    assert background.check_name(name) == name


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", ".hidden", "a/b", "a\\b", "../x", "a..b", "x" * 61, "a b", "a\n", "ä", "\0"],
)
def test_bad_names_reach_no_file(name, root, no_slot):
    run = background.start(root, "run", tiny())
    for action in (
        lambda: background.start(root, name, tiny()),
        lambda: background.rename(run, name),
        lambda: background.find(root, name),
    ):
        with pytest.raises(UserError, match="A name has up to 60"):
            action()
    assert sorted(path.name for path in root.iterdir()) == [background.ROOT_LOCK, "run"]
    assert [path.name for path in root.parent.iterdir()] == ["runs"]


def test_rename_and_delete(root, no_slot):
    first, second = (background.start(root, name, tiny()) for name in ("first", "second"))
    with pytest.raises(UserError, match="There is a run 'second' already"):
        background.rename(first, "second")
    renamed = background.rename(first, "third")
    assert (renamed.name, renamed.config) == ("third", first.config)
    for action in (background.delete, background.resume, lambda run: background.rename(run, "x")):
        with pytest.raises(UserError, match="There is no run 'first' any more"):
            action(first)
    background.delete(renamed)
    background.delete(second)
    assert [path.name for path in root.iterdir()] == [background.ROOT_LOCK]
    assert background.free_name(root, "first") == "first"


def test_deleting_never_follows_links(root, no_slot, tmp_path):
    outside = tmp_path / "outside"
    runs.create(outside, tiny())
    run = background.start(root, "run", tiny())
    (run.path / "link").symlink_to(outside)
    (root / "linked").symlink_to(outside)
    before = sorted(outside.iterdir())
    with pytest.raises(UserError, match="no run 'linked' any more"):
        background.find(root, "linked")
    with pytest.raises(UserError, match="no run 'linked' any more"):
        background.delete(replace(run, path=root / "linked"))
    background.delete(run)
    assert not run.path.exists()
    assert sorted(outside.iterdir()) == before


def test_free_names_count_up(root, no_slot):
    for expected in ("quick", "quick-2", "quick-3"):
        name = background.free_name(root, "quick")
        assert name == expected
        background.start(root, name, tiny())
    assert background.free_name(root, "quick-2") == "quick-4"
    assert len(background.free_name(root, "x" * 60)) == 60


def test_an_archive_of_a_run_is_the_run(root, no_slot, tmp_path):
    run = background.start(root, "run", tiny(1))
    with pytest.raises(UserError, match=r"model\.safetensors' does not exist"):
        archives.pack(run)
    train(run.path)
    packed = tmp_path / "download.zip"
    packed.write_bytes(archives.pack(run))
    model, original = load_pretrained(packed), load_pretrained(run.path)
    for name, value in original.state_dict().items():
        assert torch.equal(model.state_dict()[name], value)
    assert checkpoints.load_config(packed) == run.config
    subprocess.run([sys.executable, "-m", "zipfile", "-e", packed, tmp_path / "x"], check=True)
    assert sorted(path.name for path in (tmp_path / "x").iterdir()) == [
        CONFIG,
        runs.METRICS,
        WEIGHTS,
    ]
    assert same_weights(tmp_path / "x", run.path)


# Limits


def test_limits_on_epochs_disk_and_queue(root, no_slot, monkeypatch):
    with pytest.raises(UserError, match="from 1 to 5000 epochs"):
        background.start(root, "long", tiny(5001))
    monkeypatch.setattr(background, "MOST_QUEUED", 2)
    first = background.start(root, "a", tiny())
    background.start(root, "b", tiny())
    with pytest.raises(UserError, match="2 runs waiting already"):
        background.start(root, "c", tiny())
    background.stop(first)
    with (first.path / "ballast").open("wb") as file:
        file.truncate(3 * 2**20)
    monkeypatch.setenv("FGPVAE_RUNS_LIMIT_MB", "3")
    for action in (
        lambda: background.start(root, "c", tiny()),
        lambda: background.resume(first),
    ):
        with pytest.raises(UserError, match="The runs take 3 MB of the 3 MB they may"):
            action()
    monkeypatch.setenv("FGPVAE_RUNS_LIMIT_MB", "lots")
    with pytest.raises(UserError, match="must be a whole number"):
        background.start(root, "c", tiny())
    monkeypatch.setenv("FGPVAE_RUNS_LIMIT_MB", "4")
    background.start(root, "c", tiny())
    assert sorted(run.name for run in runs.list_runs(root)[0]) == ["a", "b", "c"]


def test_limits_of_a_deployment(root, no_slot, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS_EPOCHS", "20")
    with pytest.raises(UserError, match="from 1 to 20 epochs, not 21"):
        background.start(root, "long", tiny(21))
    # one that was begun from a terminal is not a way around
    runs.create(root / "longer", tiny(30))
    with pytest.raises(UserError, match="from 1 to 20 epochs, not 30"):
        background.resume(background.find(root, "longer"))
    monkeypatch.setenv("FGPVAE_RUNS_KEPT", "2")
    first = background.start(root, "first", tiny())
    with pytest.raises(UserError, match="There are 2 runs already; delete one first"):
        background.start(root, "second", tiny())
    background.stop(first)
    monkeypatch.setenv("FGPVAE_RUNS_AT_ONCE", "0")
    for action in (
        lambda: background.start(root, "second", tiny()),
        lambda: background.resume(first),
    ):
        with pytest.raises(UserError, match="Training is switched off on this server"):
            action()
    assert background.find(root, "first").state == runs.STOPPED
    assert sorted(run.name for run in runs.list_runs(root)[0]) == ["first", "longer"]


def test_how_many_train_at_once_is_a_setting(monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS_AT_ONCE", "3")
    assert background.slots() == 3
    monkeypatch.setenv("FGPVAE_RUNS_AT_ONCE", "-1")
    with pytest.raises(UserError, match="FGPVAE_RUNS_AT_ONCE must be a whole number"):
        background.slots()


def test_a_run_too_large_for_what_is_left_is_refused_before_it_fills_the_disk(
    root, no_slot, monkeypatch
):
    wide = FGPVAEConfig(latents=8, local=4, network=NetworkConfig("dense", widths=(2048,)))
    monkeypatch.setenv("FGPVAE_RUNS_LIMIT_MB", "60")
    with pytest.raises(UserError, match=r"The runs take 0 MB of the 60 MB .* needs about \d+ MB"):
        background.start(root, "large", tiny(model=wide))
    # admitted one by one while they were empty, they must not fill it together
    monkeypatch.setenv("FGPVAE_RUNS_LIMIT_MB", "70")
    for name in ("a", "b"):
        background.start(root, name, tiny(model=wide))
    with (root / "a" / "ballast").open("wb") as file:
        file.truncate(65 * 2**20)
    background.stop(background.find(root, "a"))
    monkeypatch.setattr(background, "slots", lambda: 1)
    assert background.advance_queue(root) == []
    run = background.find(root, "b")
    assert (run.state, run.active) == (runs.FAILED, False)
    assert "The runs take 65 MB of the 70 MB they may" in run.message
    monkeypatch.setattr(background, "slots", lambda: 0)
    background.delete(background.find(root, "a"))
    assert background.resume(run).state == runs.QUEUED


def test_a_run_whose_process_cannot_be_started_is_not_reported_as_started(
    root, no_slot, monkeypatch
):
    background.start(root, "lost", tiny())
    monkeypatch.setattr(background, "slots", lambda: 1)
    monkeypatch.setattr(sys, "executable", "/no/such/python")
    assert background.advance_queue(root) == []
    run = background.find(root, "lost")
    assert (run.state, run.active) == (runs.FAILED, False)
    assert run.message == "The training process could not be started: No such file or directory."


@pytest.mark.skipif(sys.platform != "linux", reason="the limit is Linux's")
def test_the_process_that_times_a_run_has_a_limit_of_memory():
    code = (
        "import sys, numpy; from fgpvae import timing\n"
        "take = lambda config: numpy.empty(timing.LARGEST_CHILD, numpy.uint8).nbytes\n"
        "timing.seconds_an_epoch = take; sys.exit(timing.main())"
    )
    config = json.dumps(to_dict(tiny()))
    done = subprocess.run(
        [sys.executable, "-c", code], input=config, capture_output=True, text=True
    )
    assert done.returncode == 1
    assert "Unable to allocate" in done.stderr


def test_where_runs_are_kept(monkeypatch, tmp_path):
    monkeypatch.delenv("FGPVAE_RUNS", raising=False)
    assert background.root() == Path("runs")
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    assert background.root() == tmp_path
    assert 1 <= background.slots() <= max(background.cores() - 1, 1)


def test_an_estimate_grows_with_what_is_trained(monkeypatch):
    """By a clock that goes on by a second whenever somebody looks at it."""
    seconds = itertools.count()
    monkeypatch.setattr(timing, "time", SimpleNamespace(perf_counter=lambda: next(seconds)))

    def expected(config: RunConfig, measured: int) -> float:
        digits = timing.digits(config)
        return digits / measured + -(-digits // config.training.batch)  # to begin, and each step

    small = tiny(10)
    assert timing.seconds_an_epoch(small) == expected(small, timing.digits(small))
    full = tiny(10, data=DataConfig("continuous", "openml", classes=tuple(range(10)), views=2))
    assert timing.digits(full) > 100 * timing.digits(small)
    assert timing.seconds_an_epoch(full) == expected(full, TRAIN_DIGITS)
    assert timing.seconds_an_epoch(tiny(10, model=model_config("gpvae", latents=4))) > 0


def test_an_estimate_is_measured_once_in_a_child(monkeypatch):
    monkeypatch.setattr(timing, "PATIENCE", 600)  # a busy machine is not a failure
    one = timing.estimate_seconds(tiny(10))
    assert one > 0
    monkeypatch.setattr(timing.subprocess, "run", None)
    assert timing.estimate_seconds(tiny(20)) == pytest.approx(2 * one)
