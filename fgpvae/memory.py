"""How much memory this process has taken."""

import resource
import sys
from pathlib import Path

STATUS = Path("/proc/self/status")  # of Linux


def peak_mb() -> float:
    """The most so far, of this process alone.

    On Linux the figure of `resource` starts with that of whoever started the process.
    """
    if STATUS.exists():
        (peak,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) / 2**10
    peak_size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak_size / (2**20 if sys.platform == "darwin" else 2**10)  # macOS counts bytes
