"""Words and pictures of a page do not wait for its charts and tables."""

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Request, Route

from tests.browser import ROOT, Tabs, serve, settle

TOLD = re.compile(r"/painted/[\w-]+$")
LATE = re.compile(r"/(PlotlyChart|DataFrame)\.[\w-]+\.js$")
CHART = ".st-key-compare-chart-table .js-plotly-plot"
# The time of the first frame after one in which a digit was there.
PROBE = """
const frame = () => {
  const digit = document.querySelector("[data-testid=stHtml] img");
  if (digit?.complete) requestAnimationFrame(() => (window.painted = performance.now()));
  else requestAnimationFrame(frame);
};
requestAnimationFrame(frame);
"""
ASKED = """() => performance.getEntriesByType("resource")
  .find(({ name }) => /PlotlyChart/.test(name)).startTime"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    runs = str(tmp_path_factory.mktemp("runs"))
    with serve(ROOT / "app.py", FGPVAE_RUNS=runs, FGPVAE_CHARTS_WAIT="240") as address:
        yield address


class Late:
    """What a tab asks for of charts and tables, and how much of it before it has told."""

    def __init__(self, page: Page, hold: bool = False) -> None:
        self.asked: list[str] = []
        self.before: list[str] = []
        self.hold = hold  # the server is not told
        page.on("request", self._request)
        page.route(TOLD, self._told)

    def _request(self, request: Request) -> None:
        if LATE.search(request.url):
            self.asked.append(request.url)

    def _told(self, route: Route) -> None:
        self.before = [*self.asked]
        if not self.hold:
            route.continue_()


def test_charts_and_tables_are_asked_for_when_the_pictures_are_painted(tabs: Tabs, address: str):
    page = tabs.open(1360)
    page.add_init_script(PROBE)
    late = Late(page)
    with page.expect_request(TOLD):
        page.goto(f"{address}/compare")
    page.wait_for_selector(CHART)
    settle(page)
    assert late.asked
    assert not late.before
    assert page.evaluate("painted") < page.evaluate(ASKED)
    tabs.close(page)


def test_whoever_goes_to_another_page_meanwhile_does_not_wait(tabs: Tabs, address: str):
    page = tabs.open(1360)
    late = Late(page, hold=True)
    with page.expect_request(TOLD):
        page.goto(f"{address}/compare")
    page.get_by_role("link", name="Train", exact=True).click()
    page.get_by_role("heading", name="Train", exact=True).wait_for()
    settle(page)
    assert not late.asked
    tabs.close(page)


def test_charts_come_in_a_tab_that_nobody_looks_at(tabs: Tabs, address: str):
    page = tabs.open(1360)
    page.add_init_script(
        "Object.defineProperty(document, 'hidden', { get: () => true });"
        "window.requestAnimationFrame = () => 0;"
    )
    with page.expect_request(TOLD):
        page.goto(f"{address}/compare")
    page.wait_for_selector("[class*=st-key-compare-chart] [data-testid=stPlotlyChart]")
    tabs.close(page)
