"""Layout shift of the first load of every page, beyond that of Streamlit's own frame."""

from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Browser

from tests.browser import ROOT, chromium, serve, settle
from tests.stress.table import Row
from ui.shell.frame import PAGES

SIZES = ((1360, 900), (390, 844))
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
FRAME = """import streamlit as st

st.set_page_config(layout="wide", initial_sidebar_state=232)
st.sidebar.markdown("**fgpvae**")
st.sidebar.caption("Gaussian process autoencoders, by hand")
for name in {names!r}:
    st.sidebar.write(name)
st.title("Title")
"""


def shifts(browser: Browser, url: str, size: tuple[int, int]) -> tuple[float, str]:
    """The shift of a first load, and what moved most."""
    context = browser.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.add_init_script(OBSERVE)
    page.goto(url)
    page.wait_for_selector("h1")
    settle(page)
    page.wait_for_timeout(CALM)
    found: list[tuple[float, list[str]]] = page.evaluate("shifts")
    context.close()
    value, names = max(found, default=(0.0, []))
    return sum(each for each, _ in found), f"{value:.3f} of {', '.join(names)}"


def rows() -> list[Row]:
    """One row a page and size; the frame's own shift is measured with a page of a title alone."""
    found = []
    with TemporaryDirectory() as folder, chromium() as browser:
        script = Path(folder) / "frame.py"
        script.write_text(FRAME.format(names=[title for _, title in PAGES]))
        with serve(script) as plain, serve(ROOT / "app.py", FGPVAE_RUNS=folder) as app:
            for name, _ in PAGES:
                shifts(browser, f"{app}/{name}", SIZES[0])  # a server that is warm
            for size in SIZES:
                own, _ = shifts(browser, plain, size)
                for name, _ in PAGES:
                    value, moved = shifts(browser, f"{app}/{name}", size)
                    beyond = max(value - own, 0.0)
                    said = f"{beyond:.3f} ({value:.3f}; the frame {own:.3f}); most: {moved}"
                    what = f"shift of {name} at {size[0]} x {size[1]}"
                    met = beyond <= MOST
                    found.append(Row("layout", what, "1", said, f"at most {MOST}", met))
    return found
