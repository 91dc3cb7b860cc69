"""The sources of an older commit, to be compared with the present ones."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
TAKEN_IF_THERE = ("uvloop",)
REFERENCE = "4d0292e"  # what speed and memory are compared with


@contextmanager
def checked_out(commit: str) -> Iterator[Path]:
    """A commit in a worktree of its own, which is gone afterwards; or a folder that is there."""
    if Path(commit).is_dir():
        yield Path(commit).resolve()
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sources"
        _git("worktree", "add", "--quiet", "--detach", str(path), commit)
        _hide_unasked(path)
        try:
            yield path
        finally:
            _git("worktree", "remove", "--force", str(path))


def _hide_unasked(sources: Path) -> None:
    """Packages that servers take where they find them, but that these sources do not ask for."""
    asked = (sources / "requirements.txt").read_text(encoding="utf-8")
    for name in TAKEN_IF_THERE:
        if name not in asked:
            (sources / f"{name}.py").write_text("raise ModuleNotFoundError(__name__)")


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True)
