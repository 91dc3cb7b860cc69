"""Peak memory of this process."""

import sys
from pathlib import Path

import psutil

STATUS = Path("/proc/self/status")  # Linux only


def peak_mb() -> float:
    """Peak memory of this process alone, in MB.

    On Linux the value of `resource` starts at that of the parent process.
    """
    if STATUS.exists():
        (peak,) = (line for line in STATUS.read_text().splitlines() if line.startswith("VmHWM"))
        return int(peak.split()[1]) / 2**10
    if sys.platform == "win32":
        return float(psutil.Process().memory_info().peak_wset) / 2**20
    import resource

    peak_size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak_size / (2**20 if sys.platform == "darwin" else 2**10)  # macOS counts bytes
