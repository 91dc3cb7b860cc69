"""The sources of an older commit, to be compared with the present ones."""

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parent.parent
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
        try:
            yield path
        finally:
            _git("worktree", "remove", "--force", str(path))


def _git(*arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True)
