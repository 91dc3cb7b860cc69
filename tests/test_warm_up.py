"""Loading ahead of the first visit."""

import subprocess
import sys
import textwrap
import threading

import pytest

from tests.browser import ROOT
from ui.shell import warm_up


@pytest.fixture
def module(tmp_path, monkeypatch):
    """A module that takes as long to import, and to prepare, as the test says."""
    name = f"slow_{tmp_path.name.replace('-', '_')}"
    (tmp_path / f"{name}.py").write_text(
        textwrap.dedent("""
            from tests.test_warm_up import IMPORT, PREPARED, READY, STARTED
            STARTED.set()
            assert IMPORT.wait(60)
            def prepare():
                assert READY.wait(60)
                PREPARED.set()
        """)
    )
    monkeypatch.syspath_prepend(tmp_path)
    for event in (IMPORT, READY, PREPARED):
        event.clear()
    yield name
    for event in (IMPORT, READY):
        event.set()


STARTED, IMPORT, READY, PREPARED = (threading.Event() for _ in range(4))


def test_a_page_waits_for_the_imports_and_not_for_the_rest(module):
    warm_up.wait()  # nothing is being imported
    assert not warm_up.pending()
    thread = warm_up.start("math", module)
    waiting = threading.Thread(target=warm_up.wait)
    waiting.start()
    waiting.join(0.2)
    assert waiting.is_alive()
    assert warm_up.pending()
    IMPORT.set()
    waiting.join(60)
    assert not waiting.is_alive()
    assert not warm_up.pending()
    assert not PREPARED.is_set()
    READY.set()
    thread.join(60)
    assert PREPARED.is_set()


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_page_does_not_wait_for_what_cannot_be_imported():
    for names in (("math", "no.such.module"), ("no.such.module", "math")):
        thread = warm_up.start(*names)
        warm_up.wait()
        thread.join(60)


def test_the_modules_are_imported_when_a_page_waits_or_after_a_while(module, monkeypatch):
    STARTED.clear()
    thread = warm_up.start("math", module)
    assert not STARTED.wait(0.3)
    threading.Thread(target=warm_up.wait, daemon=True).start()
    assert STARTED.wait(60)
    for event in (IMPORT, READY):
        event.set()
    thread.join(60)
    sys.modules.pop(module)

    STARTED.clear()
    monkeypatch.setattr(warm_up, "QUIET", 0.1)
    warm_up.start("math", module).join(60)
    assert STARTED.is_set()
    assert PREPARED.is_set()


CHECK = """
import sys
from ui.rotate import ahead
ahead.prepare()
from ui.catalog import digits, models
from ui.inference import style_names
choice = models.available()[0]
assert choice.name == "best"
def never(*_): raise AssertionError("fitted again")
style_names.style_directions.style_directions = never
assert style_names.names(choice, digits.first(choice).label)
late = {"pandas", "sklearn", "torch._dynamo", "ui.charts.drawn", "fgpvae.training"}
late &= set(sys.modules)
assert not late, late
"""


def test_the_first_digit_is_prepared_and_nothing_else_is_loaded():
    subprocess.run([sys.executable, "-c", CHECK], cwd=ROOT, check=True, timeout=300)
