"""What threads of the server take: Streamlit runs every script in a new one.

glibc gives threads arenas of their own, up to eight a core, and what one frees stays in its arena:
thirty sessions at once left 300 MB that nobody used. OpenMP gives each thread that computes a team
of helpers, one a core. To start them takes longer than what a page computes, and they wait for
cores that other sessions or a training run have; `torch.set_num_threads` is for the thread that
calls it.
"""

import ctypes
import os
import platform

ARENAS = 2
_ARENA_MAX = -8  # M_ARENA_MAX of malloc.h


def limit_arenas() -> None:
    """For threads that are still to come; where malloc is not glibc's, nothing is changed."""
    if platform.libc_ver()[0] == "glibc" and "MALLOC_ARENA_MAX" not in os.environ:
        ctypes.CDLL(None).mallopt(_ARENA_MAX, ARENAS)


def compute_alone() -> None:
    """No helpers, unless the environment says how many; before torch is loaded."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
