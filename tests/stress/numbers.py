"""The property tests of tests/test_numbers.py, with far more examples."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator

from tests.browser import ROOT
from tests.stress.table import Row

EXAMPLES = 400  # of each property


def rows() -> Iterator[Row]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "tests/test_numbers.py"],
        cwd=ROOT,
        env=os.environ | {"STRESS_EXAMPLES": str(EXAMPLES), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = re.findall(r"^FAILED (\S+)", done.stdout, re.M)
    found = ", ".join(failed) or f"0, exit code {done.returncode}"
    tried = f"3 properties, {EXAMPLES:,} examples each, and all fixed cases"
    what = "results that are not finite and not explained"
    yield Row("numbers", what, tried, found, "0", done.returncode == 0)
