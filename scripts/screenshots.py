"""Screenshots of every page, light and dark, wide and as narrow as a phone.

    python scripts/screenshots.py [directory] [--pages rotate how] [--full] [--url http://...]

Starts the app unless --url names a running one. Pictures are called page-light.png, page-dark.png,
page-light-narrow.png and page-dark-narrow.png; `--full` shows whole pages instead of what fits on a
screen.
"""

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from playwright.sync_api import Browser, Page

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser import chromium, serve, settle  # noqa: E402
from ui.shell.frame import PAGES  # noqa: E402

SIZES = {"": (1360, 900), "-narrow": (380, 820)}
# parts to scroll to, on pages that do not start with them
LINKS = {"rotate": "/?angle=157.5", "extrapolate": "/extrapolate?shown=60"}
PATIENCE = 120_000  # milliseconds
CALM = 1500  # milliseconds for pictures and curves to appear after the script run


def take(browser: Browser, url: str, file: Path, scheme: str, size: tuple[int, int], full: bool):
    width, height = size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme=scheme,
        device_scale_factor=2 if width < 600 else 1,
        reduced_motion="reduce",
    )
    page = context.new_page()
    page.goto(url)
    page.wait_for_selector("h1", timeout=PATIENCE)
    _wait(page)
    if full:
        tall = page.evaluate("document.querySelector('[data-testid=stMain]').scrollHeight")
        page.set_viewport_size({"width": width, "height": int(tall) + 8})
        _wait(page)
    page.screenshot(path=file)
    context.close()


def _wait(page: Page) -> None:
    settle(page, PATIENCE)
    page.wait_for_timeout(CALM)
    if page.locator("[data-ready]").count():
        page.wait_for_selector("[data-ready=yes]", timeout=PATIENCE)
    settle(page, PATIENCE)


def main() -> None:
    names = [name for name, _ in PAGES]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", nargs="?", default=ROOT / "docs" / "screenshots", type=Path)
    parser.add_argument("--pages", nargs="+", choices=names, default=names)
    parser.add_argument("--full", action="store_true", help="whole pages")
    parser.add_argument("--url", help="of an app that runs already")
    options = parser.parse_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    app = nullcontext(options.url) if options.url else serve(ROOT / "app.py")
    with app as address, chromium() as browser:
        for name in options.pages:
            for scheme in ("light", "dark"):
                for suffix, size in SIZES.items():
                    file = options.directory / f"{name}-{scheme}{suffix}.png"
                    url = address + LINKS.get(name, f"/{name}")
                    take(browser, url, file, scheme, size, options.full)
                    print(file)


if __name__ == "__main__":
    main()
