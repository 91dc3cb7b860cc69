"""An automatic audit of every page in both themes, with axe."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from tests import small_runs
from tests.browser import PATIENCE, serve, settle
from ui.shell import frame

# What Streamlit draws itself and offers no option for, with the rule that it breaks.
STREAMLIT = {
    "aria-allowed-attr": "st.slider and st.select_slider: aria attributes on a plain element",
    "scrollable-region-focusable": "st.latex: a formula that is wider than its card scrolls",
}
PAGES = [name for name, _ in frame.PAGES]


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("runs")
    small_runs.make(root, "turning")
    with serve("app.py", FGPVAE_RUNS=str(root)) as address:
        yield address


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing(browser: Browser, address: str, name: str, scheme: str):
    page = browser.new_page(color_scheme=scheme, viewport={"width": 1280, "height": 900})
    page.set_default_timeout(PATIENCE)
    page.goto(f"{address}/{name}?model=runs%2Fturning")
    expect(page.locator("h1")).to_be_visible()
    settle(page)
    page.wait_for_timeout(1000)  # transitions of the theme
    # contrast has a test of its own (test_pages_browser), which waits for what is faded in
    found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]})
    page.close()
    told = [
        f"{each['id']} ({each['impact']}): {node['target']} {node['html'][:160]} "
        f"{node['any'][0]['message'] if node['any'] else ''}"
        for each in found.response["violations"]
        if each["id"] not in (*STREAMLIT, "color-contrast")
        for node in each["nodes"]
    ]
    assert not told, "\n".join(told)


def test_each_page_has_a_tab_title_of_its_own(browser: Browser, address: str):
    page = browser.new_page()
    for name, title in frame.PAGES:
        page.goto(f"{address}/{name}")
        expect(page).to_have_title(f"{title} · fgpvae")
    page.close()
