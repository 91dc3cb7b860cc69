import errno
import os
import resource
import shutil
import signal
import subprocess
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from fgpvae import files, runs
from fgpvae.errors import UserError
from fgpvae.models import FGPVAEConfig
from fgpvae.networks.standard import NetworkConfig
from fgpvae.runs import memory, writer
from fgpvae.runs.checkpoints import CONFIG, WEIGHTS, load_model
from fgpvae.training.configs import DataConfig, RunConfig, TrainingConfig
from fgpvae.training.objectives import ObjectiveConfig
from tests.zygote import zygote

OFTEN = {"CHECKPOINT_SECONDS": 0.02, "HEARTBEAT_SECONDS": 0.01}
DENSE = NetworkConfig("dense", widths=(16,))


def tiny(epochs: int = 3, **changes) -> RunConfig:
    config = RunConfig(
        model=FGPVAEConfig(latents=4, local=2, network=DENSE),
        data=DataConfig(views=2),
        objective=ObjectiveConfig("elbo"),
        training=TrainingConfig(epochs=epochs, batch=60),
    )
    return replace(config, **changes)


def train(directory: Path, config: RunConfig | None = None, **options) -> runs.Run:
    for _ in writer.execute(directory, config, **options):
        pass
    return runs.open_run(directory)


def same_weights(a: Path, b: Path) -> bool:
    """Byte for byte, so that a checksum says as much."""
    return (a / WEIGHTS).read_bytes() == (b / WEIGHTS).read_bytes()


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    with zygote(tmp_path_factory.mktemp("out")) as ready:
        yield ready


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_between_two_steps_and_keeps_everything(number, forks, tmp_path):
    command = ["--preset", "quick", "--set", "data.views=2", "--set", "model.network.widths=[16]"]
    directory = tmp_path / "run"
    child = forks.start("train", "--run-dir", directory, "--epochs", 100_000, *command)
    child.until((directory / runs.METRICS).exists)
    child.kill(number)
    assert child.wait() == 130
    assert child.out.read_text() == "fgpvae: interrupted; the last checkpoint is kept\n"
    run = runs.open_run(directory)
    assert (run.state, run.active) == (runs.STOPPED, False)
    # the checkpoint is of the step at which it stopped
    done = round(run.epoch * 18)
    assert torch.load(directory / runs.STATE, weights_only=True)["step"] == done
    load_model(directory / WEIGHTS)
    epochs = done // 18 + 1
    code, _ = forks.run("train", "--run-dir", directory, "--resume", "--epochs", epochs)
    assert code == 0
    assert runs.open_run(directory).epoch == epochs


def test_the_stop_file_stops_a_run(forks, tmp_path):
    directory = tmp_path / "run"
    for _ in writer.execute(directory, tiny(1)):
        break
    child = forks.start("train", "--resume", "--run-dir", directory, "--epochs", 100_000, **OFTEN)
    child.until(lambda: runs.open_run(directory).active)
    child.until(lambda: runs.open_run(directory).state == runs.RUNNING)
    (directory / runs.STOP).touch()
    assert child.wait() == 0
    assert runs.open_run(directory).state == runs.STOPPED


def test_two_processes_never_train_one_run(forks, tmp_path):
    directory = tmp_path / "run"
    child = forks.start(
        "train", "--run-dir", directory, "--epochs", 100_000, "--set", "data.views=2", **OFTEN
    )
    child.until((directory / WEIGHTS).exists)
    assert runs.open_run(directory).active
    for arguments in (["--resume"], ["--preset", "quick"]):
        code, out = forks.run("train", "--run-dir", directory, *arguments, LOCK_SECONDS=0.05)
        assert (code, out) == (2, "fgpvae: 'run' is being trained; stop it first.\n")
    child.kill(signal.SIGKILL)
    child.wait()
    run = runs.open_run(directory)
    assert (run.state, run.active) == (runs.INTERRUPTED, False)


def test_a_finished_run_is_left_alone_and_can_be_lengthened(tmp_path):
    run = train(tmp_path / "run", tiny(2))
    assert (run.state, run.epoch, run.active) == (runs.FINISHED, 2.0, False)
    before = {path.name: path.stat().st_mtime_ns for path in run.path.iterdir()}
    assert train(run.path).state == runs.FINISHED
    assert {path.name: path.stat().st_mtime_ns for path in run.path.iterdir()} == before
    with pytest.raises(UserError, match="trained for 2 epochs already and cannot be cut to 1"):
        train(run.path, epochs=1)
    with pytest.raises(UserError, match="already holds a run"):
        train(run.path, tiny(9))
    assert runs.open_run(run.path).state == runs.FINISHED
    longer = train(run.path, epochs=4)
    assert (longer.epoch, longer.config.training.epochs) == (4.0, 4)
    assert [line["epoch"] for line in longer.metrics()] == [1, 2, 3, 4]
    assert same_weights(run.path, train(tmp_path / "other", tiny(4)).path)


def test_a_run_that_diverges_stops_with_the_cause_and_keeps_the_last_good_weights(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(writer, "CHECKPOINT_SECONDS", 0.0)
    deep = FGPVAEConfig(latents=4, local=2, network=NetworkConfig("dense", widths=(64,) * 8))
    config = tiny(200, model=deep, training=TrainingConfig(200, 60, learning_rate=1.0))
    with pytest.raises(UserError, match=r"stopped at step \d+: .* finite .*checkpoint is kept"):
        train(tmp_path / "run", config)
    run = runs.open_run(tmp_path / "run")
    assert run.state == runs.FAILED
    assert "finite" in run.message
    load_model(run.path / WEIGHTS)  # refuses weights that are not finite
    assert torch.load(run.path / runs.STATE, weights_only=True)["step"] > 0


def test_metrics_are_the_means_over_an_epoch(tmp_path):
    steps = [step for step, _ in writer.execute(tmp_path / "run", tiny(2))]
    lines = runs.open_run(tmp_path / "run").metrics()
    for epoch, line in enumerate(lines):
        mine = steps[6 * epoch : 6 * epoch + 6]
        for name in ("loss", "mse", "kl"):
            assert line[name] == pytest.approx(sum(getattr(step, name) for step in mine) / 6)
        assert line["multiplier"] == mine[-1].multiplier


def test_the_time_left_does_not_go_up_and_down_on_a_busy_machine(tmp_path, monkeypatch):
    steps = np.random.default_rng(0).exponential(1.0, 10_000).cumsum()
    clock = {"monotonic": iter(steps).__next__, "process_time": lambda: 0.0, "time": lambda: 0.0}
    monkeypatch.setattr(writer, "time", SimpleNamespace(**clock))
    left = []
    for _ in writer.execute(tmp_path / "run", tiny(30)):
        left.append(runs.open_run(tmp_path / "run").seconds_left)
    later = np.round(np.array(left[60:-1], float) / 60)
    assert later[0] >= 3
    assert (np.diff(later) <= 0).all()


@pytest.fixture
def stopped(tmp_path) -> Path:
    with closing(writer.execute(tmp_path / "run", tiny())) as steps:
        next(steps)
        next(steps)
    return tmp_path / "run"


def refused(directory: Path) -> str:
    with pytest.raises(UserError) as error:
        train(directory)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_compressed_state_is_not_unpacked(stopped):
    import zipfile

    state = stopped / runs.STATE
    with zipfile.ZipFile(state) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(state, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part + bytes(10**6))
    assert "damaged" in refused(stopped)


def test_a_metrics_line_cut_short_costs_that_line_only(stopped):
    (stopped / runs.METRICS).write_text('{"epoch": 1, "mse": 0.5}\n[1]\n{"epoch": 1e999}\n{"epo')
    run = train(stopped)
    assert [line["epoch"] for line in run.metrics()] == [1, 2, 3]
    assert run.metrics()[0]["mse"] != 0.5  # trained again since


def test_runs_are_listed_newest_first_and_broken_ones_are_named(tmp_path):
    assert runs.list_runs(tmp_path / "none") == ([], {})
    for age, name in enumerate(["new", "middle", "old"]):
        with runs.locked(tmp_path / name):
            runs.create(tmp_path / name, tiny())
        os.utime(tmp_path / name / CONFIG, (10**9 - age, 10**9 - age))
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / CONFIG).write_text("{")
    (tmp_path / "empty").mkdir()
    (tmp_path / "note.txt").touch()
    (tmp_path / "link").symlink_to(tmp_path / "new")
    (tmp_path / ".hidden").mkdir()
    shutil.copy(tmp_path / "new" / CONFIG, tmp_path / ".hidden")
    found, broken = runs.list_runs(tmp_path)
    assert [run.name for run in found] == ["new", "middle", "old"]
    assert [run.state for run in found] == [runs.QUEUED] * 3
    assert list(broken) == ["broken"]
    assert "not valid JSON" in broken["broken"]


def test_a_full_disk_stops_a_run_with_a_sentence_and_loses_nothing(stopped):
    before = {name: (stopped / name).read_bytes() for name in (runs.STATE, WEIGHTS, CONFIG)}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:  # no file may grow beyond 1 KB: the status fits, a checkpoint does not
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
        message = refused(stopped)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert message == f"'{stopped / runs.STATE}' cannot be written: {os.strerror(errno.EFBIG)}."
    assert {name: (stopped / name).read_bytes() for name in before} == before
    assert not list(stopped.glob(f"{files.UNFINISHED}*"))
    assert runs.open_run(stopped).message == message
    train(stopped)
    assert same_weights(stopped, train(stopped.parent / "whole", tiny()).path)


def test_a_write_replaces_a_file_as_a_whole_or_not_at_all(tmp_path):
    for nameless in (Path("."), Path("/")):
        with pytest.raises(UserError, match="not the name of a file"):
            files.write(nameless, b"")
    path = tmp_path / "a"
    files.write(path, b"old")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (2, hard))
        with pytest.raises(UserError):
            files.write(path, b"new and longer")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert path.read_bytes() == b"old"
    files.write(path, b"new")
    assert path.read_bytes() == b"new"
    assert list(tmp_path.iterdir()) == [path]


def test_the_peak_is_not_that_of_the_process_before():
    code = f"exec(open({memory.__file__!r}).read()); print(peak_mb())"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 1 < float(done.stdout) < 60 < memory.peak_mb()  # ours has PyTorch
