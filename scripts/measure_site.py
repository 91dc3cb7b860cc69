"""Measure the page of `python -m fgpvae site --out DIR` in Chromium, opened as a file.

Prints milliseconds to the first digit, and of a frame of both dials: medians of five visits.
"""

import json
import sys
from pathlib import Path
from statistics import median

from playwright.sync_api import sync_playwright

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.browser import executable_path

FIRST = """() => new Promise((done) => {
  const look = () => document.querySelector("#dial")?.shadowRoot?.querySelector("[data-ready=yes]")
    ? requestAnimationFrame(() => done(performance.now())) : setTimeout(look, 2);
  look();
})"""
FRAMES = """() => ["rotate", "films"].map((key) => {
  const live = fgpvae.poses.get(key), start = performance.now();
  for (let k = 0; k < 300; k++) live.picture.draw(k % 100, live.values());
  return (performance.now() - start) / 300;
})"""

with sync_playwright() as playwright:
    browser = playwright.chromium.launch(executable_path=executable_path(), args=["--no-sandbox"])
    visits = []
    for page in (browser.new_page() for _ in range(5)):
        page.set_default_timeout(240_000)  # a busy machine is not a failure
        page.goto((Path(sys.argv[1]).resolve() / "index.html").as_uri(), wait_until="commit")
        first = page.evaluate(FIRST)
        page.wait_for_selector("body[data-ready=yes]")
        visits.append([first, *page.evaluate(FRAMES)])
    browser.close()
columns = [round(median(each), 2) for each in zip(*visits, strict=True)]
print(json.dumps(dict(zip(("first digit", "digit", "film"), columns, strict=True))))
