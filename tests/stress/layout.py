"""Layout shift of the first load of every page on a phone."""

from collections.abc import Iterator
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser

from tests.browser import ROOT, chromium, new_page, serve, settle
from tests.stress.table import Row
from ui.shell.frame import PAGES

PHONE = {"width": 390, "height": 844}  # Streamlit's own frame does not shift here
MOST = 0.1
CALM = 1500  # milliseconds after the script has ended, in which charts come
OBSERVE = """window.shifts = [];
const name = (node) => {
  const element = node?.nodeType === 3 ? node.parentElement : node;
  const box = element?.closest?.("[class*=st-key-]") ?? element;
  return [...(box?.classList ?? [])].find((each) => each.startsWith("st-key-")) ??
    element?.dataset?.testid ?? element?.localName ?? "gone";
};
new PerformanceObserver((list) => {
  for (const { value, sources } of list.getEntries()) {
    shifts.push([value, [...new Set(sources.map(({ node }) => name(node)))]]);
  }
}).observe({ type: "layout-shift", buffered: true });"""


def shifts(browser: Browser, url: str) -> tuple[float, str]:
    """The shift of a first load, and what moved most."""
    page = new_page(browser, viewport=PHONE)
    page.add_init_script(OBSERVE)
    page.goto(url)
    page.wait_for_selector("h1")
    settle(page)
    page.wait_for_timeout(CALM)
    found: list[tuple[float, list[str]]] = page.evaluate("shifts")
    page.context.close()
    value, names = max(found, default=(0.0, []))
    return sum(each for each, _ in found), f"{value:.3f} of {', '.join(names)}"


def rows() -> Iterator[Row]:
    """One row a page."""
    with (
        TemporaryDirectory() as folder,
        chromium() as browser,
        serve(ROOT / "app.py", FGPVAE_RUNS=folder) as address,
    ):
        for name, _ in PAGES * 2:  # the first time the server is not warm
            value, moved = shifts(browser, f"{address}/{name}")
            said, met = f"{value:.3f}; most: {moved}", value <= MOST
            yield Row("layout", f"shift of {name}", "1", said, f"at most {MOST}", met)
