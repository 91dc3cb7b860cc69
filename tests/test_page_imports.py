"""What pages import is loaded by one thread at a time."""

import subprocess
import sys
import threading
import tomllib

import pytest

from tests.browser import ROOT
from ui.shell import page_imports

STARTED, GO = threading.Event(), threading.Event()


@pytest.fixture
def script(tmp_path, monkeypatch):
    """A page whose module waits while it is being imported."""
    name = f"waiting_{tmp_path.name.replace('-', '_')}"
    module = "from tests.test_page_imports import GO, STARTED\nSTARTED.set()\nassert GO.wait(60)\n"
    (tmp_path / f"{name}.py").write_text(module)
    monkeypatch.syspath_prepend(tmp_path)
    path = tmp_path / "page.py"
    path.write_text(f"import {name}\nraise AssertionError('the page itself is not run')\n")
    STARTED.clear()
    GO.clear()
    yield path
    GO.set()


def test_whoever_comes_meanwhile_waits(script, tmp_path):
    other = tmp_path / "other.py"
    other.write_text("import math\n")
    first, second = (
        threading.Thread(target=page_imports.load, args=(path,)) for path in (script, other)
    )
    first.start()
    assert STARTED.wait(60)
    second.start()
    second.join(0.2)
    assert second.is_alive()
    GO.set()
    for thread in (first, second):
        thread.join(60)
        assert not thread.is_alive()
    assert {script, other} <= page_imports._loaded


def test_what_cannot_be_imported_is_tried_again(tmp_path):
    path = tmp_path / "page.py"
    path.write_text("import no.such.module\n")
    for _ in range(2):
        with pytest.raises(ModuleNotFoundError):
            page_imports.load(path)


def test_links_to_a_page_of_a_fresh_server_go_through_the_app():
    code = (
        "import app; from streamlit.runtime.pages_manager import PagesManager; "
        "assert PagesManager('app.py').uses_pages_directory is False"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)


def test_charts_are_drawn_when_pandas_is_loaded():
    """Plotly would take it half loaded, from a thread that shows a table."""
    said = "import sys, ui.charts.drawn; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", said], cwd=ROOT, capture_output=True, text=True)
    assert done.stdout == "True\n"


def test_streamlit_does_not_parse_the_scripts():
    """Two threads that parse at once may end in a SystemError, in Python 3.11."""
    settings = tomllib.loads((ROOT / ".streamlit" / "config.toml").read_text())
    assert settings["runner"]["magicEnabled"] is False
