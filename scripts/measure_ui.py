"""How quickly the app answers a slider, idle and while a run trains: python scripts/measure_ui.py

Moves the slider of Compare in a real browser and waits until the page has followed. Prints one JSON
object: median milliseconds of both, and their ratio, which should be at most 1.3.
"""

import json
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from playwright.sync_api import Page  # noqa: E402

from fgpvae import background, presets, runs  # noqa: E402
from tests import browser  # noqa: E402

MOVES = 20
PATIENCE = 300_000  # milliseconds


# a script that is quick ends before the browser has marked the page as running: its errors tell
ERRORS = "document.querySelector('.st-key-shell-card-compare-pictures .matrix').textContent"


def move(page: Page, key: str) -> float:
    """Milliseconds from the key that moves the slider until the errors below it are others."""
    before = page.evaluate(ERRORS)
    began = time.perf_counter()
    page.keyboard.press(key)
    page.wait_for_function(f"before => {ERRORS} !== before", arg=before, timeout=PATIENCE)
    return 1000 * (time.perf_counter() - began)


def measure(page: Page) -> float:
    page.get_by_role("slider", name="Views given").focus()
    times = []
    for _ in range(MOVES // 4):
        times += [move(page, key) for key in ("ArrowLeft", "ArrowLeft", "ArrowRight", "ArrowRight")]
    return median(times)


def wait_for_training(run: Path) -> None:
    while (now := runs.open_run(run)).epoch == 0:
        if not now.active:
            raise SystemExit(f"training did not start: {(run / runs.LOG).read_text()[-500:]}")
        time.sleep(0.2)


def main() -> None:
    with (
        tempfile.TemporaryDirectory() as folder,
        browser.serve(ROOT / "app.py", FGPVAE_RUNS=folder) as address,
        browser.chromium() as chrome,
    ):
        page = chrome.new_page()
        page.goto(f"{address}/compare")
        page.get_by_role("slider", name="Views given").wait_for(timeout=PATIENCE)
        browser.settle(page)
        page.locator(".st-key-shell-card-compare-pictures .matrix").wait_for(timeout=PATIENCE)
        measure(page)  # every answer once, so that none is computed below
        idle = measure(page)
        run = background.start(Path(folder), "load", presets.preset("quick"))
        wait_for_training(run.path)
        training = measure(page)
        background.stop(run)
        while runs.open_run(run.path).active:
            time.sleep(0.2)
    figures = {"idle_ms": round(idle, 1), "training_ms": round(training, 1)}
    print(json.dumps(figures | {"ratio": round(training / idle, 2), "moves": MOVES}))


if __name__ == "__main__":
    main()
