"""An automatic audit of every page in both themes, with axe."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests import small_runs
from tests.browser import Tabs, Watch, serve, settle
from ui.shell import frame

RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
PAGES = [name for name, _ in frame.PAGES]
WITH_CHARTS = {"train", "compare", "latents", "how"}
OF_FIGURES = ["rotate", "extrapolate", "latents"]  # they look different for figures of cubes
# axe leaves out text in SVG: labels of charts whose colour has less than 4.5:1 on what is behind
PALE_LABELS = """() => {
  const parts = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => rgb
    .map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, k) => sum + [0.2126, 0.7152, 0.0722][k] * v, 0);
  const behind = (node) => {
    for (let at = node; at; at = at.parentElement) {
      const [r, g, b, alpha = 1] = parts(getComputedStyle(at).backgroundColor);
      if (alpha === 1) return [r, g, b];
    }
  };
  return [...document.querySelectorAll(".js-plotly-plot")].flatMap((chart) => {
    const ground = light(behind(chart));
    return [...chart.querySelectorAll("text")].flatMap((text) => {
      const ink = light(parts(getComputedStyle(text).fill).slice(0, 3));
      const [low, high] = [ink, ground].sort((a, b) => a - b);
      const contrast = (high + 0.05) / (low + 0.05);
      return contrast < 4.5 ? [`${contrast.toFixed(2)} ${text.textContent}`] : [];
    });
  });
}"""


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("runs")
    small_runs.make(root, "turning")
    with serve("app.py", FGPVAE_RUNS=str(root)) as address:
        yield address


def complaints(page: Page) -> list[str]:
    """What axe finds, and labels that it leaves out."""
    found = Axe().run(page, options={"runOnly": RULES})
    told = [
        f"{each['id']} ({each['impact']}): {node['target']} {node['html'][:160]} "
        f"{node['any'][0]['message'] if node['any'] else ''}"
        for each in found.response["violations"]
        for node in each["nodes"]
    ]
    return told + page.evaluate(PALE_LABELS)


@pytest.mark.parametrize(
    ("name", "model"),
    [*((name, "runs%2Fturning") for name in PAGES), *((name, "cubes") for name in OF_FIGURES)],
)
def test_axe_finds_nothing(tabs: Tabs, address: str, name: str, model: str):
    page = tabs.open()
    watch = Watch(page)
    page.goto(f"{address}/{name}?model={model}&screen=2")  # of How it works: charts
    expect(page.locator("h1")).to_be_visible()
    settle(page)
    if name in WITH_CHARTS:  # they come last
        page.locator(".js-plotly-plot .xtick text").first.wait_for(state="attached")
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        expect(page.locator(".stApp")).to_have_css("color-scheme", scheme)
        for _ in range(20):  # colours change in transitions, and those of charts afterwards
            page.wait_for_timeout(1000)
            if not (told := complaints(page)):
                break
        assert not told, "\n".join([scheme, *told])
    assert [text for text in watch.errors if "Failed to load resource" not in text] == []
    tabs.close(page)


def test_each_page_has_a_tab_title_of_its_own(tabs: Tabs, address: str):
    page = tabs.open()
    for name, title in frame.PAGES:
        page.goto(f"{address}/{name}")
        expect(page).to_have_title(f"{title} · fgpvae")
    tabs.close(page)
