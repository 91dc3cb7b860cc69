"""Few memory arenas for many threads.

glibc gives threads arenas of their own, up to eight a core. Streamlit runs every script in a new
thread, and what one frees stays in its arena: thirty sessions at once left 300 MB that nobody used.
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
