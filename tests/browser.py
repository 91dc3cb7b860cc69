"""A real Streamlit server and a real Chromium, for the tests that need both."""

import os
import re
import shutil
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal
from urllib.parse import parse_qs, urlparse

import numpy as np
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from tests import waiting
from tests.waiting import at_rest, eventually

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
PATIENCE = 1000 * waiting.PATIENCE  # milliseconds
expect.set_options(timeout=PATIENCE)
LIMITS = {  # of a server: one short run at a time
    "FGPVAE_RUNS_AT_ONCE": "1",
    "FGPVAE_RUNS_EPOCHS": "110",
    "FGPVAE_RUNS_KEPT": "12",
    "FGPVAE_RUNS_NICE": "19",
}
STILL = "() => document.getAnimations().every((each) => !(each instanceof CSSTransition))"
IDLE = "[data-testid=stApp][data-test-script-state=notRunning]"


@contextmanager
def serve(
    script: str | Path,
    module: str = "streamlit",
    root: Path = ROOT,
    log: str | Path = os.devnull,
    **environment: str,
) -> Iterator[str]:
    """Run a Streamlit script, with the sources in `root`, on a free port; gives its address.

    What the server prints goes to the file `log`.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", module, "run", str(script), "--server.port", str(port)]
    command += ["--server.headless", "true"]
    paths = [str(root), os.environ.get("PYTHONPATH", "")]
    with open(log, "wb") as output:
        server = subprocess.Popen(
            command,
            cwd=root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), **environment},
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    path = environment.get("STREAMLIT_SERVER_BASE_URL_PATH", "")
    address = f"http://localhost:{port}/{path}".rstrip("/")
    try:
        eventually(lambda: answered(f"{address}/_stcore/health", server))
        yield address
    finally:
        server.terminate()
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def answered(url: str, server: subprocess.Popen) -> bool:
    """Whether a server answers; an error if it has ended instead."""
    if server.poll() is not None:
        raise RuntimeError(f"the server ended with code {server.returncode}")
    try:
        with urllib.request.urlopen(url, timeout=1):
            return True
    except OSError:
        return False


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
            page = new_page(self.browser, **device)
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


def new_page(browser: Browser, **device: Any) -> Page:
    """A window of its own, as patient as all others; closing its context closes it."""
    page = browser.new_context(**device).new_page()
    page.set_default_timeout(PATIENCE)
    return page


def executable_path() -> str | None:
    """None lets playwright take its own."""
    return os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM)), None)


def settle(page: Page, timeout: float = PATIENCE) -> None:
    """Wait until the script of the page has run to its end."""
    page.wait_for_selector(IDLE, timeout=timeout)


def ready(page: Page) -> None:
    """Wait for the picture of the dial."""
    page.wait_for_selector("[data-ready=yes]")
    settle(page)


def box(element: Locator) -> dict[str, float]:
    """Where an element is on the screen, once it has stopped moving."""
    return at_rest(element.bounding_box)


def place(area: dict, x: float, y: float) -> tuple[float, float]:
    """A point of an element on the screen, from shares of its sides."""
    return area["x"] + x * area["width"], area["y"] + y * area["height"]


def draw(paper: Locator, points: list[tuple[float, float]]) -> None:
    """Draw with a mouse, at shares of the sides of a canvas."""
    paper.scroll_into_view_if_needed()
    area, mouse = box(paper), paper.page.mouse
    mouse.move(*place(area, *points[0]))
    mouse.down()
    for point in points[1:]:
        mouse.move(*place(area, *point), steps=5)
    mouse.up()


def heading(page: Page) -> Locator:
    return page.locator(".st-key-shell-heading")


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


def linked(page: Page, name: str) -> str:
    """A value of the address."""
    return parse_qs(urlparse(page.url).query).get(name, [""])[0]


def in_link(page: Page, text: str) -> None:
    """Wait until the address has this: the server knows it."""
    expect(page).to_have_url(re.compile(text))
    settle(page)


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


_PLACE = """([key, subject]) => {
  const chart = document.querySelector(`.st-key-${key} .js-plotly-plot`);
  if (!chart?.calcdata) return null;
  const { xaxis, yaxis } = chart._fullLayout;
  const at = chart._fullData[0].customdata.findIndex((each) => each === subject);
  const box = chart.getBoundingClientRect();
  const { x, y } = chart.calcdata[0][at];
  return [box.x + xaxis._offset + xaxis.l2p(x), box.y + yaxis._offset + yaxis.l2p(y)];
}"""


def click_point(page: Page, key: str, subject: int) -> None:
    """Click a point of a subject in a chart; of points that coincide it may be any."""
    x, y = at_rest(lambda: page.evaluate(_PLACE, [key, subject]))
    page.mouse.move(x + 3, y + 2)
    page.mouse.move(x, y, steps=3)
    page.mouse.click(x, y)


class Visit:
    """A tab with a page of the app, and all that goes wrong in it."""

    def __init__(self, tabs: Tabs, address: str, width: int = 1360, **options: Any) -> None:
        self.tabs, self.address = tabs, address
        self.page = tabs.open(width, **options)
        self.watch = Watch(self.page)
        self.refused: list[str] = []
        self.page.on("response", self._answer)

    def _answer(self, response) -> None:
        # Streamlit asks for these below the page's address first, and then where they are
        if response.status >= 400 and "/_stcore/" not in response.url:
            self.refused.append(response.url)

    def open(self, path: str = "/", ready: bool = True) -> Page:
        """Open a path of the app; with `ready`, wait for the picture of the dial."""
        self.page.goto(self.address + path)
        self.page.wait_for_selector("[data-ready=yes]" if ready else "h1")
        settle(self.page)
        self.page.evaluate("document.fonts.ready.then(() => true)")  # text may move with them
        return self.page

    def close(self) -> None:
        """Leave the page, which had no error and no exception; what leaving breaks off is none."""
        settle(self.page)
        errors = [text for text in self.watch.errors if "Failed to load resource" not in text]
        found = errors + self.refused
        found += self.page.locator("[data-testid=stException]").all_inner_texts()
        self.page.remove_listener("response", self._answer)
        self.tabs.close(self.page)
        assert not found, found


_PIXELS = """canvas => {
  const side = 8, { width, height } = canvas;
  const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
  const mean = (x, y) => {
    let sum = 0;
    for (let k = 0; k < side * side; k++) {
      sum += data[4 * ((y * side + Math.floor(k / side)) * width + x * side + (k % side))];
    }
    return sum / (255 * side * side);
  };
  return Array.from({ length: height / side }, (_, y) =>
    Array.from({ length: width / side }, (_, x) => mean(x, y)));
}"""


def picture(page: Page, canvas: str = "canvas.digit") -> np.ndarray:
    """What the dial shows, [H, W] from 0 to 1: its canvas is eight times as large, and smooth."""
    return np.array(page.locator(canvas).evaluate(_PIXELS))


def angle(page: Page) -> float:
    """Where the dial says that it is."""
    return float(page.locator(".grab").get_attribute("aria-valuenow") or "nan")


def turned_to(page: Page, degrees: float, within: float = 1.0) -> None:
    """Wait until the dial says that it is there: it is drawn with the next frame."""
    page.wait_for_function(
        "([grab, to, within]) => Math.abs("
        "((Number(grab.ariaValueNow) - to + 540) % 360) - 180) <= within",
        arg=[page.locator(".grab").element_handle(), degrees, within],
    )


def point(page: Page, degrees: float, radius: float = 0.43) -> tuple[float, float]:
    """Where on the screen an angle of the dial is."""
    stage = page.locator(".stage").bounding_box()
    assert stage is not None
    w = np.deg2rad(degrees)
    x = stage["x"] + stage["width"] * (0.5 - radius * np.sin(w))
    y = stage["y"] + stage["height"] * (0.5 - radius * np.cos(w))
    return float(x), float(y)


def drag(page: Page, start: float, end: float, radius: float = 0.43) -> None:
    """From one angle of the ring to another, without letting go."""
    page.locator(".stage").scroll_into_view_if_needed()
    box(page.locator(".stage"))
    page.mouse.move(*point(page, start, radius))
    page.mouse.down()
    for degrees in np.linspace(start, end, 12):
        page.mouse.move(*point(page, degrees, radius))
