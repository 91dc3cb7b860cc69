import errno
import json
import math
import os
import pickle
import random
import resource
import shutil
import signal
import subprocess
import time
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
import torch

from fgpvae import files, recorder, runs
from fgpvae.checkpoints import CONFIG, WEIGHTS, load_config, load_model, save_config
from fgpvae.configs import DataConfig, RunConfig, TrainingConfig
from fgpvae.errors import UserError
from fgpvae.models import FGPVAEConfig
from fgpvae.networks import NetworkConfig
from fgpvae.objectives import ObjectiveConfig
from tests.configs import model_config
from tests.test_checkpoints import Malicious
from tests.zygote import Child, Zygote, zygote

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
    for _ in recorder.execute(directory, config, **options):
        pass
    return runs.open_run(directory)


def same_weights(a: Path, b: Path) -> bool:
    mine, other = (load_model(path / WEIGHTS).state_dict() for path in (a, b))
    return mine.keys() == other.keys() and all(torch.equal(mine[n], other[n]) for n in mine)


@pytest.fixture(scope="module")
def forks(tmp_path_factory):
    with zygote(tmp_path_factory.mktemp("out")) as ready:
        yield ready


# Killed at any moment

KILLED = {
    "the paper's networks, GECO": [
        "model.network.kind=paper",
        "objective.name=geco",
        "objective.multiplier=1e4",
    ],
    "average, cosine, warmup, context dropout, validation": [
        "training.average=0.9",
        "training.schedule=cosine",
        "training.warmup=7",
        "training.context_dropout=0.5",
        "model.mean_function=true",
        "model.network.dropout=0.1",
        "data.validation=5",
        "training.validate_every=2",
        "training.keep=best",
    ],
    "warp, ragged, weight decay, clip": [
        "data.split=shuffled",
        "data.warp=1",
        "training.batch=180",
        "training.weight_decay=0.1",
        "training.clip=1",
        "objective.learn_pixel_variance=true",
    ],
    "continuous": ["data.split=continuous", "data.classes=[3,5]", "training.batch=120"],
    "joint GP": [
        "model.name=gpvae",
        "model.network.kind=paper",
        "model.phases=[0.3,0.6]",
        "training.context_dropout=0",
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("changes", KILLED.values(), ids=KILLED.keys())
def test_a_run_killed_at_random_moments_ends_with_the_weights_of_an_undisturbed_one(
    changes, forks, tmp_path
):
    config = ["data.views=2", "training.batch=60", "model.network.widths=[16]", *changes]
    command = ["--preset", "quick", "--epochs", 5, "--seed", 7]
    command += [part for change in config for part in ("--set", change)]
    whole, torn = tmp_path / "whole", tmp_path / "torn"
    assert forks.run("train", "--run-dir", whole, *command)[0] == 0

    stream = random.Random(str(changes))
    kills = 0
    child = forks.start("train", "--run-dir", torn, *command, **OFTEN)
    while True:
        hit = kill_after_checkpoints(child, torn, stream) if kills < 3 else False
        code = child.wait()
        assert code in (0, -signal.SIGKILL), child.out.read_text()
        if not hit:
            break
        kills += 1
        assert runs.open_run(torn).state == runs.INTERRUPTED
        child = forks.start("train", "--run-dir", torn, "--resume", **OFTEN)
    assert kills
    assert same_weights(torn, whole)
    assert runs.open_run(torn).state == runs.FINISHED

    def course(path):
        lines = runs.open_run(path).metrics()
        own = dict.fromkeys(("seconds", "cpu_seconds", "waiting", "memory_mb"), 0)
        return [line | own for line in lines]

    assert course(torn) == course(whole)
    assert len(course(whole)) == 5
    assert not list(torn.glob(".*"))


def kill_after_checkpoints(child: Child, directory: Path, stream: random.Random) -> bool:
    """SIGKILL after a few more checkpoints and a moment; False if the run has ended before."""
    state = directory / runs.STATE
    last = version(state)
    for _ in range(stream.randrange(1, 4)):
        while (now := version(state)) == last:
            if finished(directory):
                return False
            time.sleep(0.005)
        last = now
    time.sleep(stream.uniform(0, 0.02))
    child.kill(signal.SIGKILL)
    return not finished(directory)


def version(path: Path) -> int:
    return path.stat().st_mtime_ns if path.exists() else 0


def finished(directory: Path) -> bool:
    status = directory / runs.STATUS
    return status.exists() and files.read_json(status)["state"] == runs.FINISHED


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_between_two_steps_and_keeps_everything(number, forks, tmp_path):
    command = ["--preset", "quick", "--set", "data.views=2", "--set", "model.network.widths=[16]"]
    directory = tmp_path / "run"
    child = forks.start("train", "--run-dir", directory, "--epochs", 100_000, *command)
    while not (directory / runs.METRICS).exists():
        time.sleep(0.005)
    child.kill(number)
    assert child.wait() == 130
    assert child.out.read_text() == "fgpvae: interrupted; what was trained is kept\n"
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
    for _ in recorder.execute(directory, tiny(1)):
        break
    child = forks.start("train", "--resume", "--run-dir", directory, "--epochs", 100_000, **OFTEN)
    while not runs.open_run(directory).active:
        time.sleep(0.005)
    while runs.open_run(directory).state != runs.RUNNING:
        time.sleep(0.005)
    (directory / runs.STOP).touch()
    assert child.wait() == 0
    assert runs.open_run(directory).state == runs.STOPPED


def test_two_processes_never_train_one_run(forks, tmp_path):
    directory = tmp_path / "run"
    child = forks.start(
        "train", "--run-dir", directory, "--epochs", 100_000, "--set", "data.views=2", **OFTEN
    )
    while not (directory / WEIGHTS).exists():
        time.sleep(0.005)
    assert runs.open_run(directory).active
    for arguments in (["--resume"], ["--preset", "quick"]):
        code, out = forks.run("train", "--run-dir", directory, *arguments, LOCK_SECONDS=0.05)
        assert (code, out) == (2, "fgpvae: 'run' is being trained by another process.\n")
    child.kill(signal.SIGKILL)
    child.wait()
    run = runs.open_run(directory)
    assert (run.state, run.active) == (runs.INTERRUPTED, False)


# Beginning, going on, ending


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


def test_closing_the_generator_keeps_what_was_trained(tmp_path):
    with closing(recorder.execute(tmp_path / "run", tiny())) as steps:
        for progress in steps:
            if progress.step.step == 8:
                break
    run = runs.open_run(tmp_path / "run")
    assert (run.state, run.epoch) == (runs.STOPPED, 8 / 6)
    train(run.path)
    assert same_weights(run.path, train(tmp_path / "whole", tiny()).path)


def test_checkpoints_are_frequent_at_first_and_ten_seconds_apart_later(tmp_path, monkeypatch):
    now, kept = 0.0, set()
    monotonic, clock = time.monotonic, SimpleNamespace(**vars(time))
    clock.monotonic = lambda: now + 1e-9 * monotonic()
    monkeypatch.setattr(recorder, "time", clock)
    for _ in recorder.execute(tmp_path / "run", tiny(7)):
        now += 0.9  # seconds a step
        kept.add(torch.load(tmp_path / "run" / runs.STATE, weights_only=True)["step"])
    assert sorted(kept) == [0, 3, 7, 15, 27, 39]


def test_a_run_that_diverges_stops_with_the_cause_and_keeps_the_last_good_weights(
    tmp_path, monkeypatch
):
    monkeypatch.setattr(recorder, "CHECKPOINT_SECONDS", 0.0)
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
    steps = [progress.step for progress in recorder.execute(tmp_path / "run", tiny(2))]
    lines = runs.open_run(tmp_path / "run").metrics()
    for epoch, line in enumerate(lines):
        mine = steps[6 * epoch : 6 * epoch + 6]
        for name in ("loss", "mse", "kl"):
            assert line[name] == pytest.approx(sum(getattr(step, name) for step in mine) / 6)
        assert line["multiplier"] == mine[-1].multiplier


def test_a_model_that_cannot_take_new_digits_cannot_be_validated_on_them(tmp_path):
    config = tiny(model=model_config("gpvae", latents=4), data=DataConfig(views=2, validation=4))
    with pytest.raises(UserError, match=r"set data\.validation to 0"):
        train(tmp_path / "run", config)
    assert runs.open_run(tmp_path / "run").state == runs.FAILED
    views = replace(config.data, keep_back="views")
    train(tmp_path / "other", replace(config, data=views))
    line = runs.open_run(tmp_path / "other").metrics()[-1]
    assert line["validation_mse"] > 0
    assert line["cpu_seconds"] > 0


# Damage


@pytest.fixture
def stopped(tmp_path) -> Path:
    with closing(recorder.execute(tmp_path / "run", tiny())) as steps:
        next(steps)
        next(steps)
    return tmp_path / "run"


def refused(directory: Path) -> str:
    with pytest.raises(UserError) as error:
        train(directory)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_a_damaged_state_is_refused_and_the_weights_can_still_be_used(stopped, tmp_path):
    state, good = stopped / runs.STATE, (stopped / runs.STATE).read_bytes()
    stream, bait = random.Random(0), tmp_path / "bait"
    damaged = [good[:size] for size in (0, 1, 100, len(good) // 2, len(good) - 1)]
    for _ in range(20):
        flipped = bytearray(good)
        start = good.index(b"PK\x01\x02")  # flips in the list of files may change nothing
        flipped[stream.randrange(64, start)] ^= 1 << stream.randrange(8)
        damaged.append(bytes(flipped))
    damaged += [b"\0" * 100, pickle.dumps(Malicious(bait)), pickle.dumps({"step": 3})]
    torch.save(Malicious(bait), state)
    damaged.append(state.read_bytes())
    torch.save({"step": 1}, state)
    damaged.append(state.read_bytes())
    torch.save([1], state)
    damaged.append(state.read_bytes())
    intact = 0
    for wrong in damaged:
        state.write_bytes(wrong)
        try:
            with closing(recorder.execute(stopped)) as steps:
                next(steps)
            intact += 1  # a flip in a name or a gap between the parts
            state.write_bytes(good)
        except UserError:
            run = runs.open_run(stopped)
            assert run.state == runs.FAILED
            assert "is damaged or belongs to another run" in run.message
        load_model(stopped / WEIGHTS)
    assert intact <= 5
    assert not bait.exists()


def test_a_compressed_state_is_not_unpacked(stopped):
    import zipfile

    state = stopped / runs.STATE
    with zipfile.ZipFile(state) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(state, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, part in parts.items():
            archive.writestr(name, part + bytes(10**6))
    assert "damaged" in refused(stopped)


def test_the_state_of_another_run_is_refused(stopped, tmp_path):
    other = train(tmp_path / "other", tiny(1, seed=1)).path
    shutil.copy(other / runs.STATE, stopped / runs.STATE)
    assert "belongs to another run" in refused(stopped)


def test_a_lost_or_damaged_status_loses_no_run(stopped):
    for text in (None, "", "[]", "nonsense", '{"state": 3, "epoch": "x"}', '{"epoch": 1e999}'):
        if text is None:
            (stopped / runs.STATUS).unlink()
        else:
            (stopped / runs.STATUS).write_text(text)
        run = runs.open_run(stopped)
        assert (run.state, run.epoch) == (runs.INTERRUPTED, 0.0)
    assert train(stopped).state == runs.FINISHED


GOOD = {"epoch": 2, "mse": 0.1, "kl": 3, "multiplier": 1.0, "seconds": 0.2}


@pytest.mark.parametrize("name", GOOD)
@pytest.mark.parametrize("value", [None, "0.1", math.nan, math.inf, [1]])
def test_a_metrics_line_without_its_numbers_is_left_out(tmp_path, name, value):
    runs.create(tmp_path / "run", tiny())
    without = {key: each for key, each in GOOD.items() if key != name}
    rows = [{"epoch": 1}, GOOD, *(each | {"epoch": 3} for each in (without, GOOD | {name: value}))]
    if name == "epoch":
        rows = [GOOD, without, GOOD | {"epoch": value}]
    (tmp_path / "run" / runs.METRICS).write_text("\n".join(map(json.dumps, rows)))
    assert runs.open_run(tmp_path / "run").metrics() == [GOOD]


def test_a_metrics_line_cut_short_costs_that_line_only(stopped):
    (stopped / runs.METRICS).write_text('{"epoch": 1, "mse": 0.5}\n[1]\n{"epoch": 1e999}\n{"epo')
    run = train(stopped)
    assert [line["epoch"] for line in run.metrics()] == [1, 2, 3]
    assert run.metrics()[0]["mse"] != 0.5  # trained again since


def test_links_in_a_run_lead_nowhere(stopped, tmp_path):
    secret = tmp_path / "secret"
    for name in (runs.METRICS, runs.LOCK, runs.STATUS, runs.STATE, WEIGHTS):
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        shutil.copytree(stopped, tmp_path / "copy")
        (tmp_path / "copy" / name).unlink(missing_ok=True)
        secret.write_text("untouched")
        (tmp_path / "copy" / name).symlink_to(secret)
        with suppress(UserError):
            train(tmp_path / "copy")
        assert secret.read_text() == "untouched"


def test_runs_are_listed_newest_first_and_broken_ones_are_named(tmp_path):
    assert runs.list_runs(tmp_path / "none") == ([], {})
    for age, name in enumerate(["new", "middle", "old"]):
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


def test_a_run_that_is_deleted_while_one_looks_is_not_called_broken(stopped, monkeypatch):
    def deleted_meanwhile(path):
        shutil.rmtree(path)
        return load_config(path)

    run = runs.open_run(stopped)
    monkeypatch.setattr(runs, "load_config", deleted_meanwhile)
    assert runs.list_runs(stopped.parent) == ([], {})
    assert run.metrics() == []


def test_a_run_that_is_deleted_while_its_metrics_are_read_has_none(tmp_path, monkeypatch):
    runs.create(tmp_path, tiny())
    (tmp_path / runs.METRICS).write_text(json.dumps(GOOD))
    run, read = runs.open_run(tmp_path), files.read

    def too_late(path, most):
        path.unlink()
        return read(path, most)

    monkeypatch.setattr(files, "read", too_late)
    assert run.metrics() == []


# A disk that is full or may not be written


def test_a_full_disk_stops_a_run_with_a_sentence_and_loses_nothing(stopped):
    before = {name: (stopped / name).read_bytes() for name in (runs.STATE, WEIGHTS, CONFIG)}
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    try:  # no file may grow beyond 1 KB: the status fits, a checkpoint does not
        resource.setrlimit(resource.RLIMIT_FSIZE, (1024, hard))
        message = refused(stopped)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert message == f"'run/{runs.STATE}' cannot be written: {os.strerror(errno.EFBIG)}."
    assert {name: (stopped / name).read_bytes() for name in before} == before
    assert not list(stopped.glob(f"{files.UNFINISHED}*"))
    assert runs.open_run(stopped).message == message
    train(stopped)
    assert same_weights(stopped, train(stopped.parent / "whole", tiny()).path)


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(disk)]
    try:
        done = subprocess.run(mount, capture_output=True, check=False)
    except OSError:
        pytest.skip("there is no mount")
    if done.returncode:
        pytest.skip("mounting is not allowed here")
    yield disk
    subprocess.run(["umount", "-l", str(disk)], check=True)


def test_a_disk_that_fills_up_or_turns_read_only(small_disk):
    with closing(recorder.execute(small_disk / "run", tiny())) as steps:
        next(steps)
    with suppress(OSError), (small_disk / "ballast").open("ab", buffering=0) as file:
        while file.write(bytes(4096)):
            pass
    assert "No space left on device" in refused(small_disk / "run")
    with pytest.raises(UserError, match="No space left on device"):
        train(small_disk / "another", tiny())
    (small_disk / "ballast").unlink()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert "Read-only file system" in refused(small_disk / "run")
    assert "Read-only file system" in refused(small_disk / "third")
    assert runs.open_run(small_disk / "run").epoch > 0
    subprocess.run(["mount", "-o", "remount,rw", str(small_disk)], check=True)
    assert train(small_disk / "run").state == runs.FINISHED


def test_a_directory_that_cannot_be_made_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="'file/run' cannot be made: Not a directory"):
        train(tmp_path / "file" / "run", tiny())


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


def test_no_run_without_a_readable_config(tmp_path, forks: Zygote):
    save_config(tiny(), tmp_path)
    (tmp_path / CONFIG).write_text(json.dumps({"format": 99}))
    code, out = forks.run("train", "--resume", "--run-dir", tmp_path)
    assert code == 2
    assert out.count("\n") == 1
    assert "was not written by this version" in out
