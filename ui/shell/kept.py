"""What is computed once for all sessions."""

import pickle
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import CancelledError, Future
from functools import lru_cache, wraps
from hashlib import sha256
from threading import Lock
from typing import Any, Generic, ParamSpec, TypeVar

import streamlit as st

MOST_SENT = 192  # parts of pages, the largest of which have half a megabyte
P = ParamSpec("P")
T = TypeVar("T")


def kept(
    most: int, by: Callable[..., Hashable] | None = None
) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Keep what a function returns, for the last `most` different arguments.

    Arguments say all that the result depends on. They are hashable, or told apart `by` a function
    of them (`content`). All callers get the same object, which none of them changes: nothing is
    copied, as `st.cache_data` does. Of several that ask for the same at once one computes and the
    others wait. An error is not kept.
    """

    def decorate(make: Callable[P, T]) -> Callable[P, T]:
        shelf: _Shelf[T] = _Shelf(most)
        name = by or _arguments

        @wraps(make)
        def ask(*args: P.args, **kwargs: P.kwargs) -> T:
            key = name(*args, **kwargs)
            while True:
                result, mine = shelf.take(key)
                if mine:
                    try:
                        result.set_result(make(*args, **kwargs))
                    except BaseException:
                        shelf.drop(key, result)
                        raise
                try:
                    return result.result()
                except CancelledError:  # it failed for another; here it may not
                    continue

        return ask

    return decorate


def content(*args: Any, **kwargs: Any) -> bytes:
    """Of arguments that are not hashable: equal only if they hold the same values."""
    return sha256(pickle.dumps((args, kwargs))).digest()


def _arguments(*args: Any, **kwargs: Any) -> Hashable:
    return args, tuple(sorted(kwargs.items()))


def sent(name: bytes, show: Callable[[], Any]) -> None:
    """Show what `show` does; Streamlit keeps what goes to the browsers under the `content` it has.

    For what takes long to write: HTML with many pictures, tables, charts. Not for what answers, as
    widgets and components do.
    """
    _keeper()(name, show)


@lru_cache(maxsize=1)
def _keeper() -> Callable[[bytes, Callable[[], Any]], None]:
    """Made when it is used: without a server Streamlit warns that it has none."""

    @st.cache_data(max_entries=MOST_SENT, show_spinner=False)
    def shown(name: bytes, _show: Callable[[], Any]) -> None:
        _show()

    return shown


class _Shelf(Generic[T]):
    """Results by name, those not asked for longest first to go."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._results: OrderedDict[Hashable, Future[T]] = OrderedDict()
        self._lock = Lock()

    def take(self, key: Hashable) -> tuple[Future[T], bool]:
        """A result, perhaps not there yet, and whether it is for the caller to make."""
        with self._lock:
            missing = key not in self._results
            result = self._results.setdefault(key, Future())
            self._results.move_to_end(key)
            while len(self._results) > self.most:
                self._results.popitem(last=False)
            return result, missing

    def drop(self, key: Hashable, result: Future[T]) -> None:
        """It could not be made; those who wait for it try themselves."""
        with self._lock:
            if self._results.get(key) is result:
                del self._results[key]
        result.cancel()
