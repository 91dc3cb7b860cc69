"""The first digit, shown before torch and the model are loaded."""

import json
import subprocess
import sys
from base64 import b64decode
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import Browser, expect

from scripts.keep_opening import opening_content
from tests.browser import ROOT, Watch, serve, settle
from ui.components.dial.opening import FILE

KEPT = json.loads(FILE.read_text())
VISITS = f"""
import json, sys
from importlib import import_module
from unittest import mock
import streamlit as st
from streamlit.testing.v1 import AppTest
from ui.components import decoders
from ui.components.shared import Component
from ui.shell import warm_up

sent = {{}}
def send(_, *, key, data, **options):
    sent[key] = data
mock.patch.object(Component, "__call__", send).start()
opening = import_module("ui.components.dial.opening")
page = AppTest.from_file({str(ROOT / "app.py")!r}, default_timeout=600)

def visit():
    sent.clear()
    page.run()
    assert not page.exception, page.exception

def visit_early():
    with mock.patch.multiple(warm_up, pending=lambda: True, wait=st.stop):
        visit()
"""


def unpacked(curves: dict[str, Any]) -> np.ndarray:
    return np.frombuffer(b64decode(curves["values"]), "<f4")


def check(code: str) -> None:
    """In a process of its own: here torch is there."""
    subprocess.run([sys.executable, "-c", VISITS + code], cwd=ROOT, check=True, timeout=600)


def test_what_is_kept_is_what_the_page_shows():
    """If this fails after a change that was meant: python scripts/keep_opening.py"""
    made = json.loads(json.dumps(opening_content()))
    kept, now = dict(KEPT["data"]), made.pop("data")
    for name in ("code", "variance"):
        one, other = kept.pop(name), now.pop(name)
        assert one["rows"] == other["rows"]
        np.testing.assert_allclose(unpacked(one), unpacked(other), atol=1e-5)
    np.testing.assert_allclose(kept.pop("own"), now.pop("own"), atol=1e-5)
    del kept["scene"], now["scene"]  # a digest of these numbers, which machines round differently
    assert kept == now
    assert {name: value for name, value in KEPT.items() if name != "data"} == made


def test_the_digit_is_shown_without_torch_and_again_with_it():
    check("""
visit_early()
late = {"torch", "scipy", "ui.catalog"} & set(sys.modules)
assert not late, late
assert set(sent) == {"rotate.dial"}, set(sent)
assert page.title[0].value == "Rotate a digit"
first = dict(sent)
weights = decoders.packed(first["rotate.dial"]["network"])
assert weights
visit()
assert "rotate.truth" in sent
assert decoders.packed(sent["rotate.dial"]["network"]) == weights
assert sent["rotate.dial"]["pose"] == first["rotate.dial"]["pose"]  # the dial stays where it is
""")


def test_what_may_be_another_digit_is_not_shown():
    check("""
kept = json.loads(opening.FILE.read_text())
others = mock.Mock(loads=lambda _: kept | {"digest": "of other weights"})
visit_early()
assert sent and page.title
for change in (
    mock.patch.object(opening, "FILE", opening.FILE.with_name("nothing.json")),
    mock.patch.object(opening, "MODELS", opening.MODELS / "nowhere"),
    mock.patch.object(opening, "json", others),
):
    with change:
        visit_early()
        assert not sent and not page.title, change
page.query_params["digit"] = "new-5-1"
visit_early()
assert not sent and not page.title
""")


TOPS = """node => {
  node.opened = true;
  node.tops = [];
  const frame = () => {
    node.tops.push(node.getBoundingClientRect().top);
    requestAnimationFrame(frame);
  };
  frame();
}"""


@pytest.mark.parametrize("width", [1360, 1000])  # menus side by side, and one below the other
def test_on_a_cold_server_the_dial_that_was_opened_stays(browser: Browser, tmp_path, width):
    with serve("app.py", FGPVAE_RUNS=str(tmp_path)) as address:
        page = browser.new_page(viewport={"width": width, "height": 900})
        watch = Watch(page)
        page.goto(address)
        page.wait_for_selector("[data-ready=yes]")
        grab = page.get_by_role("slider", name="Angle of the digit in degrees")
        grab.press("ArrowRight")
        expect(grab).to_have_attribute("aria-valuenow", "359")  # with the next frame
        grab.evaluate(TOPS)
        expect(page.get_by_text("Against the truth")).to_be_visible()
        settle(page)
        assert grab.evaluate("node => node.opened")
        first, *others = grab.evaluate("node => node.tops")
        assert others == pytest.approx([first] * len(others), abs=3)  # in every frame
        assert grab.get_attribute("aria-valuenow") == "359"
        assert not watch.errors
        page.close()
