"""Streamlit collects garbage after every run of a script, and torch has 300,000 objects to look at.

That is a quarter of a second in which nothing else runs. What has been loaded stays for good, so it
is taken out of the collection.
"""

import gc
import threading

_done: set[str] = set()
_lock = threading.Lock()


def keep(what: str) -> None:
    """After `what` has been loaded; once in a process."""
    with _lock:
        if what in _done:
            return
        _done.add(what)
    gc.collect()
    gc.freeze()
