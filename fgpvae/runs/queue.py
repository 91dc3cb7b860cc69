"""Queue of training processes, which outlive the page and the server that started them.

A new run is written to disk as queued. Starting or ending a run starts as many queued runs as there
is room for; a server does so when it starts, for runs whose server has ended. The whole state of a
run is in its directory, so a server can restart at any time.
"""

import os
import re
import secrets
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from fgpvae import files, runs
from fgpvae.data.objects import Objects
from fgpvae.errors import UserError, require
from fgpvae.runs import Run
from fgpvae.runs.checkpoints import CONFIG, pretrained_names, save_config
from fgpvae.training.configs import RunConfig, network_weights

# defaults of the limits FGPVAE_RUNS_..., see docs/deploy.md
LARGEST_ROOT = 2048  # LIMIT_MB: size of all runs
NICE = 10  # NICE: niceness of training processes
MOST_EPOCHS = 5000  # EPOCHS: of runs started in the app
MOST_KEPT = 200  # KEPT: runs in the directory
MOST_QUEUED = 50
COPIES = 5  # copies of the weights on disk: model, state, two moments, average
NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]{0,59}")
ROOT_LOCK, ROOT_LOCK_SECONDS, DELETED = ".lock", 10.0, ".deleted-"


def root() -> Path:
    """The directory of the runs: FGPVAE_RUNS, or `runs` in the working directory."""
    return Path(os.environ.get(files.RUNS_VARIABLE) or "runs")


def cores() -> int:
    """The number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def slots() -> int:
    """Maximum number of simultaneous training runs; one core stays free."""
    return _setting("FGPVAE_RUNS_AT_ONCE", max(cores() - 1, 1))


def threads(active: int = 0) -> int:
    """The number of threads of a run beside `active` others."""
    return max((cores() - 1) // (active + 1), 1)


def most_epochs() -> int:
    """Maximum number of epochs for runs started in the app."""
    return _setting("FGPVAE_RUNS_EPOCHS", MOST_EPOCHS)


def check_name(name: str) -> str:
    if not NAME.fullmatch(name) or ".." in name:
        raise UserError(
            "A name has up to 60 letters, digits, dashes, underscores and dots, "
            "and does not begin with a dot."
        )
    return name


def check_free(root: Path, name: str) -> None:
    """Raise a UserError if this is no name, or that of a run or a shipped model."""
    if check_name(name) in pretrained_names():
        raise UserError(f"'{name}' is the name of a shipped model; choose another name.")
    if os.path.lexists(root / name):
        raise UserError(f"There is a run '{name}' already; choose another name.")


def tidy_name(name: str) -> str:
    """Replace spaces in a typed name by dashes."""
    return "-".join(name.split())


def free_name(root: Path, name: str) -> str:
    """The name, with the lowest number appended that makes it unused if necessary."""
    base = re.sub(r"-\d+$", "", check_name(name))[:50]
    found, number = name, 1
    while found in pretrained_names() or os.path.lexists(root / found):
        number += 1
        found = f"{base}-{number}"
    return found


def find(root: Path, name: str) -> Run:
    """The run of this name, which may come from a stranger."""
    path = root / check_name(name)
    _check_exists(path)
    return runs.open_run(path)


def start(root: Path, name: str, config: RunConfig, own: Objects | None = None) -> Run:
    """Queue a new run, on own objects if given, and start it if there is room."""
    with _adding(root, name) as path:
        _check_room(path, config, 0 if own is None else own.images.nbytes)
        runs.create(path, config, own)
    advance_queue(root)
    return runs.open_run(root / name)


def add(root: Path, name: str, content: dict[str, bytes]) -> Run:
    """Add an unpacked run, its files by name, under a new name."""
    with _adding(root, name) as path:
        _check_disk(path, more=sum(map(len, content.values())))
        for file in sorted(content, key=lambda file: file == CONFIG):  # the last makes it a run
            files.write(path / file, content[file])
    return runs.open_run(root / name)


def resume(run: Run, epochs: int | None = None) -> Run:
    """Queue a run that was stopped, failed or was interrupted; it resumes without loss."""
    config = run.config
    if epochs is not None:
        config = replace(config, training=replace(config.training, epochs=epochs))
    with _changing(run.path.parent, run):
        _check_room(run.path, config)
        now = runs.open_run(run.path)
        runs.check_state(run.path)
        if now.state == runs.FINISHED and config.training.epochs <= now.epoch:
            raise UserError(f"'{run.name}' is finished; give it more epochs to continue.")
        if config != now.config:
            save_config(config, run.path)
        runs.write_status(run.path, runs.QUEUED, queued=time.time(), epoch=now.epoch)
    advance_queue(run.path.parent)
    return runs.open_run(run.path)


def stop(run: Run) -> None:
    """Take a run out of the queue, or ask its process to write a checkpoint and end."""
    with _changing(run.path.parent):
        now = runs.open_run(run.path)
        if now.active:
            files.write(run.path / runs.STOP, b"")
        elif now.state == runs.QUEUED:
            runs.write_status(run.path, runs.STOPPED, epoch=now.epoch)


def delete(run: Run) -> None:
    """Remove a run and all its files; never while it is trained, never through a link."""
    folder = run.path.parent
    with _changing(folder, run):
        # gone for everyone at once, even if removing the files is slow or interrupted
        hidden = folder / f"{DELETED}{secrets.token_hex(4)}"
        with files.explained(run.path, "deleted"):
            os.rename(run.path, hidden)
    for leftover in folder.glob(f"{DELETED}*"):
        shutil.rmtree(leftover, ignore_errors=True)


def rename(run: Run, name: str) -> Run:
    renamed = run.path.parent / name
    with _changing(run.path.parent, run):
        check_free(run.path.parent, name)
        with files.explained(run.path, "renamed"):
            os.rename(run.path, renamed)
    return runs.open_run(renamed)


def advance_queue(root: Path) -> list[str]:
    """Start queued runs, the oldest first, while there is room; return their names.

    Any number of servers, pages and finished runs may call this at the same time.
    """
    if not root.is_dir():
        return []
    started: list[str] = []
    with _changing(root):
        found, _ = runs.list_runs(root)
        active = sum(run.active for run in found)
        queue = [run for run in found if run.state == runs.QUEUED and not run.active]
        for run in sorted(queue, key=lambda run: (run.queued, run.name)):
            if active >= slots():
                break
            try:
                _check_disk(run.path, run.config)  # earlier runs may have filled the disk
            except UserError as error:
                runs.write_status(run.path, runs.FAILED, message=str(error), epoch=run.epoch)
                continue
            if _launch(run, threads(active)):
                active += 1
                started.append(run.name)
    return started


def used_bytes(root: Path) -> int:
    """The size of all files below a directory; links are not followed."""
    total = 0
    for folder, _, names in os.walk(root):
        for name in names:
            with suppress(OSError):
                total += os.lstat(os.path.join(folder, name)).st_size
    return total


def _setting(name: str, default: int) -> int:
    """A whole number from the environment."""
    text = os.environ.get(name) or str(default)
    if not (text.isascii() and text.isdecimal() and len(text) < 10):
        raise UserError(f"{name} must be a whole number, not '{text}'.")
    return int(text)


def _launch(run: Run, threads: int) -> bool:
    """Start the process that trains a run; it inherits the lock's file descriptor.

    False if another process trains the run by now, or the process could not be started.
    """

    def follow() -> None:
        """Wait for the process to end, or be killed, and start the next run."""
        child.wait()
        with suppress(UserError):
            advance_queue(run.path.parent)

    nice = _setting("FGPVAE_RUNS_NICE", NICE)
    lock = files.try_lock(run.path / runs.LOCK, runs.LOCK_SECONDS)
    if lock is None:
        return False  # trained from a terminal
    paths = filter(None, [str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH")])
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    command = [sys.executable, "-m", "fgpvae", "train", "--resume", "--json"]
    command += ["--run-dir", str(run.path.absolute()), "--lock", str(lock)]
    try:
        (run.path / runs.STOP).unlink(missing_ok=True)
        runs.write_status(run.path, runs.PREPARING, epoch=run.epoch)
        with open(run.path / runs.LOG, "wb", opener=files.without_links) as log:
            child = subprocess.Popen(
                command,
                env=environment,
                pass_fds=(lock,),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        _step_back(child.pid, nice)
        threading.Thread(target=follow, daemon=True).start()
        return True
    except OSError as error:
        message = f"The training process could not be started: {error.strerror}."
        runs.write_status(run.path, runs.FAILED, message=message, epoch=run.epoch)
        return False
    finally:
        os.close(lock)


def _step_back(pid: int, nice: int) -> None:
    """Lower the priority of this process below that of the app.

    Linux may share its processors between sessions (autogroup in sched(7)): then niceness counts
    only within a session, and that of the session has to be set as well.
    """
    with suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, pid, nice)
    session = Path(f"/proc/{pid}/autogroup")
    with suppress(OSError):
        while session.exists():
            try:
                session.write_text(str(nice))
                break
            except BlockingIOError:  # except for root, one change per 0.1 s is allowed
                time.sleep(0.1)


@contextmanager
def _changing(root: Path, run: Run | None = None) -> Iterator[None]:
    """Lock the directory of the runs, and a run in it that no process trains."""
    require(not files.public(), "This server is open to everybody: its runs cannot be changed.")
    with files.explained(root, "made"):
        root.mkdir(parents=True, exist_ok=True)
    lock = files.try_lock(root / ROOT_LOCK, ROOT_LOCK_SECONDS)
    if lock is None:
        raise UserError("The runs are being changed by someone else; try again in a moment.")
    try:
        if run is None:
            yield
        else:
            _check_exists(run.path)
            with runs.locked(run.path):
                yield
    finally:
        os.close(lock)


@contextmanager
def _adding(root: Path, name: str) -> Iterator[Path]:
    """The locked directory of a new run, which is removed if an error is raised."""
    with _changing(root):
        found, broken = runs.list_runs(root)
        most = _setting("FGPVAE_RUNS_KEPT", MOST_KEPT)
        if len(found) + len(broken) >= most:
            raise UserError(f"There are {most} runs already; delete one first.")
        check_free(root, name)
        with runs.locked(root / name):
            try:
                yield root / name
            except BaseException:
                shutil.rmtree(root / name, ignore_errors=True)
                raise


def _check_exists(path: Path) -> None:
    if path.is_symlink() or not (path / CONFIG).is_file():
        raise UserError(f"There is no run '{path.name}' any more.")


def _check_room(run: Path, config: RunConfig, more: int = 0) -> None:
    """Raise a UserError if the config or the queue or the disk does not allow one more run."""
    if not 1 <= config.training.epochs <= most_epochs():
        raise UserError(
            f"A run started here has from 1 to {most_epochs()} epochs, "
            f"not {config.training.epochs}."
        )
    require(_setting("FGPVAE_RUNS_AT_ONCE", 1), "Training is switched off on this server.")
    _check_disk(run, config, more)
    found, _ = runs.list_runs(run.parent)
    if sum(run.state == runs.QUEUED for run in found) >= MOST_QUEUED:
        raise UserError(f"There are {MOST_QUEUED} runs waiting already; try again later.")


def _check_disk(run: Path, config: RunConfig | None = None, more: int = 0) -> None:
    """Raise a UserError if there is no room for `more` bytes and the weights of a config."""
    if config is not None:
        more += max(4 * COPIES * network_weights(config.model) - used_bytes(run), 0)
    used, limit = used_bytes(run.parent), _setting("FGPVAE_RUNS_LIMIT_MB", LARGEST_ROOT) << 20
    if used + more > limit:
        raise UserError(
            f"The runs take {used >> 20} MB of the {limit >> 20} MB they may, and this one needs "
            f"about {-(-more >> 20)} MB more; delete one first."
        )
