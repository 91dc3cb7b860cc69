"""A server for strangers (FGPVAE_PUBLIC=1): what it offers, and that it writes nothing."""

import functools
import http.server
import io
import json
import re
import threading
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fgpvae import UserError, runs
from fgpvae.runs import queue
from fgpvae.training.presets import PRESETS
from tests import tiny
from tests.browser import ROOT, Visit, picture, serve, settle
from tests.pages import html, open_page
from ui.shell import public

DOCUMENT = (ROOT / "docs" / "deploy.md").read_text()
(CONTAINER,) = re.findall(r"```dockerfile\n(FROM (?:(?!```).)*PUBLIC.*?)```", DOCUMENT, re.S)
HOOK = """
import os, sys
os.write(2, b"WATCHED\\n")
from tests.stress.watch import changes
def note(event, arguments):
    for each in changes(event, arguments):
        os.write(2, f"CHANGES {each}\\n".encode())
sys.addaudithook(note)
"""


@pytest.fixture
def opened(monkeypatch, tmp_path) -> Path:
    """The directory of runs of an open server, with one run in it."""
    with runs.locked(tmp_path / "mine"):
        runs.create(tmp_path / "mine", tiny.config())
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    monkeypatch.setenv("FGPVAE_PUBLIC", "1")
    return tmp_path


def test_runs_cannot_be_changed(opened):
    before = sorted(opened.rglob("*"))
    run = queue.find(opened, "mine")
    for change in (
        lambda: queue.start(opened, "new", PRESETS["quick"]),
        lambda: queue.resume(run),
        lambda: queue.stop(run),
        lambda: queue.delete(run),
        lambda: queue.rename(run, "yours"),
        lambda: queue.advance_queue(opened),
    ):
        with pytest.raises(UserError, match="open to everybody"):
            change()
    assert sorted(opened.rglob("*")) == before


def test_train_offers_neither_runs_nor_uploads(opened):
    app = open_page("train")
    assert not app.exception
    assert not app.button
    assert not app.get("file_uploader")
    assert "fgpvae train" in app.code[0].value


def test_pictures_are_few_and_small(opened):
    app = open_page("extrapolate", **{"extrapolate.source": "Upload"})
    (uploader,) = app.get("file_uploader")
    assert uploader.proto.max_upload_size_mb == public.OPEN.megabytes
    side = round((1.1e6 * public.OPEN.megapixels) ** 0.5)
    large = io.BytesIO()
    Image.new("L", (side, side)).save(large, "PNG")
    app.file_uploader[0].set_value([("large.png", large.getvalue(), "image/png")]).run()
    assert html(app, "pixels")


@pytest.fixture
def embedding(tmp_path) -> str:
    """Another site, to show the app in a frame."""
    (tmp_path / "site").mkdir()
    handler = functools.partial(
        http.server.SimpleHTTPRequestHandler, directory=str(tmp_path / "site")
    )
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


def test_in_a_frame_under_a_path_pages_work_and_nothing_is_written(embedding, tabs, tmp_path):
    (tmp_path / "sitecustomize.py").write_text(HOOK)
    log = tmp_path / "log"
    noise = np.random.default_rng(0).integers(0, 255, (1100, 1100, 3), np.uint8)
    Image.fromarray(noise).save(tmp_path / "large.png")  # more than a megabyte
    environment = dict(re.findall(r"^ENV (\w+)=(\S+)$", CONTAINER, re.M)) | {
        "PYTHONPATH": f"{tmp_path}:{ROOT}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "FGPVAE_RUNS": str(tmp_path / "runs"),
        "STREAMLIT_SERVER_ADDRESS": "localhost",
        "STREAMLIT_SERVER_BASE_URL_PATH": "demo/digits",
    }
    command = json.loads(re.search(r"^CMD (.+)$", CONTAINER, re.M)[1])
    assert command == ["streamlit", "run", "app.py", "--server.headless", "true"]  # as `serve` does
    with serve("app.py", log=log, **environment) as address:
        visit = Visit(tabs, embedding)
        for page in ("rotate", "compare", "latents", "extrapolate"):
            frame = f'<iframe src="{address}/{page}" style="width:100%;height:2000px"></iframe>'
            (tmp_path / "site" / f"{page}.html").write_text(frame)
            tab = visit.page
            tab.goto(f"{embedding}/{page}.html")
            inside = tab.frames[1]
            inside.wait_for_selector("[data-ready=yes]" if page == "rotate" else "h1")
            settle(inside)
            if page == "rotate":
                assert picture(inside).max() > 0.5
        inside.get_by_role("radio", name="Upload").click()
        inside.locator("input[type=file]").first.set_input_files(tmp_path / "large.png")
        inside.wait_for_selector(".notice.problem")
        visit.tabs.close(visit.page)
    said = log.read_text()
    assert "WATCHED" in said
    assert [line for line in said.splitlines() if line.startswith("CHANGES")] == []
    assert not (tmp_path / "runs").exists()
