"""A chart of the charting layer in a real browser: new figures in place, and files of it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, TimeoutError, expect

from tests.browser import ROOT, Tabs, Watch, box, serve, settle
from tests.waiting import eventually

CHART = ".st-key-train-curves .js-plotly-plot"


@pytest.fixture(scope="module")
def page(tabs: Tabs) -> Iterator[Page]:
    with serve(ROOT / "tests" / "apps" / "curves_app.py") as address:
        page = tabs.open(1100, scheme="dark")
        watch = Watch(page)
        page.goto(address)
        expect(page.get_by_role("button", name="Save as SVG", exact=True)).to_have_count(1)
        settle(page)
        yield page
        tabs.close(page)
    assert [each for each in watch.errors if "Failed to load resource" not in each] == []


def asked(page: Page, code: str) -> object:
    """An expression in which `chart` is the chart."""
    return page.evaluate(f"(chart => {code})(document.querySelector('{CHART}'))")


def next_epoch(page: Page) -> int:
    """How many epochs the first curve shows after one more."""
    before = asked(page, "chart._fullData[0].x.length")
    page.get_by_role("button", name="Next epoch", exact=True).click()
    page.wait_for_function(
        f"document.querySelector('{CHART}')._fullData[0].x.length === {before} + 1"
    )
    settle(page)
    return asked(page, "chart._fullData[0].x.length")


def test_new_epochs_come_into_the_chart_that_is_there_and_it_keeps_its_zoom(page: Page):
    asked(page, "chart.mine = true")
    assert next_epoch(page) == 4
    at = box(page.locator(f"{CHART} .draglayer .xy .nsewdrag"))
    page.mouse.move(at["x"] + 20, at["y"] + 20)
    page.mouse.down()
    page.mouse.move(at["x"] + 120, at["y"] + 70, steps=5)
    page.mouse.up()
    page.wait_for_function(f"document.querySelector('{CHART}').layout.xaxis.range[0] > 0")
    zoomed = asked(page, "[chart.layout.xaxis.range, chart.layout.yaxis.range]")
    page.locator(f"{CHART} .legend .legendtoggle").nth(1).click()
    page.wait_for_function(f"document.querySelector('{CHART}').data[1].visible === 'legendonly'")
    assert next_epoch(page) == 5
    assert asked(page, "[chart.layout.xaxis.range, chart.layout.yaxis.range]") == zoomed
    assert asked(page, "chart.data[1].visible") == "legendonly"

    def restored() -> bool:
        """A busy browser may take the two clicks of one try for single ones."""
        page.mouse.dblclick(at["x"] + 60, at["y"] + 40)
        try:
            page.wait_for_function(
                f"document.querySelector('{CHART}').layout.xaxis.range[0] === 0", timeout=5000
            )
        except TimeoutError:
            return False
        return True

    eventually(restored)
    assert next_epoch(page) == 6
    assert asked(page, "chart.mine")  # never another element


@pytest.mark.parametrize("kind", ["PNG", "SVG"])
def test_a_saved_chart_has_the_ground_that_its_text_was_made_for(page: Page, kind: str):
    button = page.get_by_role("button", name=f"Save as {kind}", exact=True)
    button.focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == f"fgpvae-train-curves.{kind.lower()}"
    content = Path(download.value.path()).read_bytes()
    if kind == "PNG":
        assert content.startswith(b"\x89PNG")
        return
    text = content.decode()
    assert text.startswith("<svg")
    assert "rgb(23, 27, 36)" in text.partition("</rect>")[0]  # the first rectangle: of a card
