"""A real Streamlit server and a real Chromium, for the tests that need both."""

import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).parent.parent
CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # a page lives for seconds here: machine code for later takes longer than it saves
    "--js-flags=--no-opt --no-maglev",
    # Takes the place of Playwright's own list, of which the first line is left. The second is what
    # every window loads for an address bar that nobody sees: half as much work as a page.
    "--disable-features=HttpsUpgrades,MediaRouter,OptimizationHints,PaintHolding,"
    "WebUIOmniboxPopup,WebUIOmniboxAimPopup",
]
PATIENCE = 240_000  # milliseconds: a busy machine is not a failure
expect.set_options(timeout=PATIENCE)
IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"


@contextmanager
def serve(
    script: str | Path, module: str = "streamlit", root: Path = ROOT, **environment: str
) -> Iterator[str]:
    """Run a Streamlit script, with the sources in `root`, on a free port; gives its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", module, "run", str(script), "--server.port", str(port)]
    command += ["--server.headless", "true"]
    paths = [str(root), os.environ.get("PYTHONPATH", "")]
    # tests see the script run to its end at once; test_painted sees charts wait for pictures
    environment = {"FGPVAE_CHARTS_WAIT": "0"} | environment
    server = subprocess.Popen(
        command,
        cwd=root,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://localhost:{port}"
    try:
        answered(f"{address}/_stcore/health", server)
        yield address
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def answered(url: str, server: subprocess.Popen, seconds: float = PATIENCE / 1000) -> None:
    """Wait until a server answers; an error if it ends instead."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended with code {server.returncode}")
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.1)
    raise TimeoutError(f"no answer from {url}")


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable_path(), args=FLAGS)
        try:
            yield browser
        finally:
            browser.close()


class Tabs:
    """Tabs of a browser, lent to one test after the other: a new window costs more than a page."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.devices: dict[Page, dict[str, Any]] = {}
        self.idle: list[Page] = []

    def open(
        self,
        width: int = 1280,
        height: int = 900,
        scheme: Literal["light", "dark"] = "light",
        permissions: Sequence[str] = (),
        **device: Any,
    ) -> Page:
        """An empty tab. Those of another device, such as one with `has_touch`, are others."""
        page = next((each for each in self.idle if self.devices[each] == device), None)
        if page is None:
            page = self.browser.new_context(**device).new_page()
            page.set_default_timeout(PATIENCE)
            self.devices[page] = device
        else:
            self.idle.remove(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion="no-preference")
        page.context.grant_permissions(permissions)
        return page

    def close(self, page: Page) -> None:
        """Leave nothing of what was done in a tab, for the next test that opens it."""
        for other in page.context.pages:
            if other is not page:
                other.close()
        page.mouse.up()
        page.unroute_all()
        if page.url.startswith("http"):
            page.evaluate("localStorage.clear(); sessionStorage.clear()")
        page.goto("about:blank")
        page.context.clear_cookies()
        page.context.clear_permissions()
        self.idle.append(page)


def executable_path() -> str | None:
    """None lets playwright take its own."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)


def settle(page: Page, timeout: float = PATIENCE) -> None:
    """Wait until the script of the page has run to its end."""
    page.wait_for_selector(IDLE, timeout=timeout)


class Watch:
    """What goes wrong in a page, and what it says to the server."""

    def __init__(self, page: Page) -> None:
        self.errors: list[str] = []
        self.sent: list[int] = []  # bytes of each message to the server
        self.received: list[int] = []
        page.on("pageerror", lambda error: self.errors.append(str(error)))
        page.on("console", self._console)
        page.on("websocket", self._websocket)

    def _console(self, message) -> None:
        if message.type == "error":
            self.errors.append(message.text)

    def _websocket(self, socket) -> None:
        socket.on("framesent", lambda frame: self.sent.append(len(frame)))
        socket.on("framereceived", lambda frame: self.received.append(len(frame)))


_PLACE = """([key, wanted]) => {
  const chart = document.querySelector(`.st-key-${key} .js-plotly-plot`);
  const { xaxis, yaxis } = chart._fullLayout;
  const pairs = chart._fullData[0].customdata;
  const at = pairs.findIndex((pair) => pair[0] === wanted[0] && pair[1] === wanted[1]);
  const box = chart.getBoundingClientRect();
  const { x, y } = chart.calcdata[0][at];
  return [box.x + xaxis._offset + xaxis.l2p(x), box.y + yaxis._offset + yaxis.l2p(y)];
}"""


def place_of(page: Page, key: str, *wanted: int) -> tuple[float, float]:
    """Where on the screen a point of a chart is, by its customdata."""
    x, y = page.evaluate(_PLACE, [key, list(wanted)])
    return x, y


def click_point(page: Page, key: str, *wanted: int) -> None:
    """Click a point of a chart as a hand does; of points that coincide it may be any."""
    x, y = place_of(page, key, *wanted)
    page.mouse.move(x + 3, y + 2)
    page.mouse.move(x, y, steps=3)
    page.mouse.click(x, y)
