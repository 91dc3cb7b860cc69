"""An audit of every page: with axe in both themes, its title, and in narrow windows."""

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.browser import STILL, Tabs, Visit
from tests.waiting import eventually
from ui.shell import frame

RULES = {
    "light": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
    # of these what the other theme can change
    "dark": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]},
}
TITLES = dict(frame.PAGES)
WITH_CHARTS = {"compare", "latents", "how"}
OTHERS = [("rotate", "films"), ("extrapolate", "films")]  # a track, a path to draw
# thousands of points and lines, named by the chart that holds them
WITHOUT_DRAWINGS = {"exclude": [[".js-plotly-plot .main-svg"]]}
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

TOO_WIDE = """() => ["[data-testid=stMain]", ".stMainBlockContainer"].some(
  (part) => document.querySelector(part).scrollWidth > window.innerWidth
)"""


def complaints(page: Page, scheme: str) -> list[str]:
    """Labels that axe leaves out, which are the last to change; then what it finds."""
    if pale := page.evaluate(PALE_LABELS):
        return pale
    found = Axe().run(page, context=WITHOUT_DRAWINGS, options={"runOnly": RULES[scheme]})
    return [
        f"{each['id']} ({each['impact']}): {node['target']} {node['html'][:160]} "
        f"{node['any'][0]['message'] if node['any'] else ''}"
        for each in found.response["violations"]
        for node in each["nodes"]
    ]


@pytest.mark.parametrize(
    ("name", "model"), [*((name, "runs%2Fturning") for name in TITLES), *OTHERS]
)
def test_a_page_is_for_everyone_and_fits_on_a_phone(
    tabs: Tabs, address: str, name: str, model: str
):
    visit = Visit(tabs, address, 1000)
    page = visit.open(f"/{name}?model={model}&screen=3", ready=False)  # How it works: charts
    expect(page).to_have_title(f"{TITLES[name]} · fgpvae")
    if name in WITH_CHARTS:  # they come last
        page.locator(".js-plotly-plot .xtick text").first.wait_for(state="attached")
    app = page.locator(".stApp")
    light = app.evaluate("each => getComputedStyle(each).backgroundColor")
    for scheme in RULES:
        page.emulate_media(color_scheme=scheme)
        expect(app).to_have_css("color-scheme", scheme)
        if scheme == "dark":
            expect(app).not_to_have_css("background-color", light)
        page.wait_for_function(STILL)
        eventually(  # the colours of charts change afterwards
            lambda each=scheme: not complaints(page, each),
            lambda each=scheme: "\n".join([each, *complaints(page, each)]),
        )
    page.set_viewport_size({"width": 390, "height": 844})
    eventually(lambda: not page.evaluate(TOO_WIDE))  # charts are made smaller one after the other
    visit.close()
