"""What is computed once for all sessions."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from ui.shell.kept import content, kept


def counted(most=4, by=None):
    calls = []

    @kept(most, by)
    def double(value, *, more=0):
        calls.append(value)
        return [2 * value + more]

    return double, calls


def test_the_same_arguments_are_computed_once_and_shared():
    double, calls = counted()
    first = double(3)
    assert first == [6]
    assert double(3) is first
    assert double(3, more=1) == [7]
    assert double(4) == [8]
    assert calls == [3, 3, 4]


def test_what_was_not_asked_for_longest_goes_first():
    double, calls = counted(most=2)
    for value in (1, 2, 1, 3):  # 2 goes
        double(value)
    double(1)
    assert calls == [1, 2, 3]
    double(2)
    assert calls == [1, 2, 3, 2]


def test_content_tells_arrays_apart_by_their_values():
    double, calls = counted(by=content)
    ones = np.ones(3)
    assert double(ones) is double(np.ones(3))
    assert len(calls) == 1
    ones[0] = 5  # the same object, other values
    assert double(ones)[0][0] == 10
    double(np.ones(3, np.float32))
    assert len(calls) == 3


def test_of_several_at_once_one_computes_and_the_others_wait():
    begun, go_on, calls = threading.Event(), threading.Event(), []

    @kept(4)
    def slow(value):
        calls.append(value)
        begun.set()
        assert go_on.wait(60)
        return object()

    with ThreadPoolExecutor(4) as pool:
        first = pool.submit(slow, 1)
        assert begun.wait(60)
        others = [pool.submit(slow, 1) for _ in range(3)]
        go_on.set()
        found = {id(each.result(60)) for each in (first, *others)}
    assert len(found) == 1
    assert calls == [1]


def test_an_error_is_not_kept_and_not_passed_on():
    begun, go_on, calls = threading.Event(), threading.Event(), []

    @kept(4)
    def fails_once(value):
        calls.append(value)
        if len(calls) == 1:
            begun.set()
            assert go_on.wait(60)
            raise ValueError("not now")
        return value

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(fails_once, 1)
        assert begun.wait(60)
        second = pool.submit(fails_once, 1)
        go_on.set()
        with pytest.raises(ValueError, match="not now"):
            first.result(60)
        assert second.result(60) == 1
    assert fails_once(1) == 1
    assert calls == [1, 1]


def test_a_part_of_a_page_is_written_once_and_shown_to_everybody_where_it_belongs():
    def app(text):
        import streamlit as st

        from ui.shell.kept import content, sent

        def show():
            st.session_state["written"] = True
            st.html(f"<p>{text}</p>")

        left, right = st.columns(2)
        right.caption("before")
        with right:
            sent(content("tests", text), show)
        left.caption("last")

    first, second, other = (
        AppTest.from_function(app, args=(text,), default_timeout=30).run() for text in "aab"
    )
    for page, text in ((first, "a"), (second, "a"), (other, "b")):
        assert not page.exception
        caption, html = page.columns[1].children.values()
        assert (caption.value, html.proto.body) == ("before", f"<p>{text}</p>")
    assert ["written" in page.session_state for page in (first, second, other)] == [
        True,
        False,
        True,
    ]
