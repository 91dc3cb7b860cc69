"""All checks: style, types, tests in a real browser. `python -m tests.check`"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.browser import executable_path

ROOT = Path(__file__).parent.parent
# three files at a time on two cores, as browsers wait much, in the order of tests/conftest.py;
# not `loadgroup`, which pytest 9.2 and pytest-xdist 3.8 together ignore
TESTS = ["-n", "3", "--dist", "loadfile", "--no-loadscope-reorder", "--durations", "15"]


def install_chromium() -> None:
    """From the system's packages where there is one to ask, else Playwright's own build."""
    if shutil.which("apt-get") and os.geteuid() == 0:
        subprocess.run(["apt-get", "update", "-qq"], check=True)
        subprocess.run(
            ["apt-get", "install", "-y", "-qq", "chromium"],
            check=True,
            env=os.environ | {"DEBIAN_FRONTEND": "noninteractive"},
            stdout=subprocess.DEVNULL,
        )
    else:
        subprocess.run([sys.executable, "-m", "playwright", "install", "chromium"], check=True)


def main() -> int:
    if executable_path() is None:
        install_chromium()
    python = [sys.executable, "-m"]
    for command in (
        [*python, "ruff", "check", "."],
        [*python, "ruff", "format", "--check", "."],
        [str(Path(sys.executable).with_name("oxlint")), "--deny-warnings", "ui"],
    ):
        if failed := start(*command).wait():
            return failed
    types = start(*python, "mypy")  # one core for half a minute: beside the tests
    failed = start(*python, "pytest", *TESTS).wait()
    if types.wait():
        print("mypy found errors: see above, where the tests begin", flush=True)
    return failed or types.returncode


def start(*command: str) -> subprocess.Popen:
    print("+", *command[1:], flush=True)
    # compiled once: every server and every process of a test reads the same sources
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    return subprocess.Popen(command, cwd=ROOT, env=environment)


if __name__ == "__main__":
    sys.exit(main())
