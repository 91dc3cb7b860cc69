"""How long from the pointer to the pixels while the dial is dragged, and what the server hears.

Starts the app and Chromium, drags the dial round, and takes for each pointer event the time from
its creation until the canvas holds the new picture (pixels) and until the frame that shows it has
been painted (paint), which includes the wait for the next of the screen's 60 frames a second. Also
how long the first digit takes: cold from the start of the server, warm from opening the page.

    python scripts/measure_drag.py [--script app.py] [--seconds 6] [--json]
"""

import argparse
import json
import math
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.browser import Watch, chromium, serve, settle

# A message posted in a frame's callback is delivered after that frame has been painted.
PROBE = """() => {
  const times = (window.dragTimes = { drawn: [], painted: [] });
  const after = new MessageChannel();
  let drawing = [];
  let painting = [];
  after.port1.onmessage = () => {
    for (const start of painting) times.painted.push(performance.now() - start);
    painting = [];
  };
  const put = CanvasRenderingContext2D.prototype.putImageData;
  CanvasRenderingContext2D.prototype.putImageData = function (...all) {
    put.apply(this, all);
    for (const start of drawing) times.drawn.push(performance.now() - start);
    drawing = [];
  };
  let last = 0;
  const note = (event) => {
    if (!event.buttons || event.timeStamp === last) return;
    last = event.timeStamp;
    drawing.push(last);
    painting.push(last);
    if (painting.length === 1) requestAnimationFrame(() => after.port2.postMessage(0));
  };
  addEventListener("pointerrawupdate", note, { capture: true });
  addEventListener("pointermove", note, { capture: true });
}"""
DECODE = """stage => {
  const { decode } = stage.getRootNode().host.fgpvae;
  const start = performance.now();
  for (let k = 0; k < 200; k++) decode(1.8 * k);
  return (performance.now() - start) / 200;
}"""


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def first_digit(browser: Browser, url: str) -> float:
    """Seconds from opening a page with nothing cached until a digit is there."""
    context = browser.new_context(viewport={"width": 1360, "height": 900})
    page, began = context.new_page(), time.monotonic()
    page.goto(url)
    page.wait_for_selector("[data-ready=yes]", timeout=120_000)
    seconds = time.monotonic() - began
    context.close()
    return seconds


def measure(script: str, path: str, seconds: float, rate: float) -> dict[str, float]:
    with ExitStack() as stack:
        browser = stack.enter_context(chromium())
        began = time.monotonic()
        address = stack.enter_context(serve(script))
        page = browser.new_page(viewport={"width": 1360, "height": 900})
        watch = Watch(page)
        page.goto(address + path)
        page.wait_for_selector("[data-ready=yes]", timeout=120_000)
        cold = time.monotonic() - began
        settle(page)
        warm = median(first_digit(browser, address + path) for _ in range(5))
        page.wait_for_timeout(500)
        page.evaluate(PROBE)
        box = page.locator(".stage").bounding_box()
        assert box is not None
        centre = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        radius = 0.43 * box["width"]

        def go(w: float) -> None:
            page.mouse.move(centre[0] - radius * math.sin(w), centre[1] - radius * math.cos(w))

        go(math.pi / 2)
        page.mouse.down()
        go(math.pi / 2 + 0.1)
        page.wait_for_timeout(200)
        page.evaluate("() => { dragTimes.drawn.length = dragTimes.painted.length = 0 }")
        sent, start = len(watch.sent), time.monotonic()
        for step in range(int(seconds * rate)):
            go(math.pi / 2 + 0.1 + 0.03 * step)
            time.sleep(max(0.0, start + step / rate - time.monotonic()))
        page.wait_for_timeout(100)
        while_dragging = len(watch.sent) - sent
        times = page.evaluate("() => dragTimes")
        page.mouse.up()
        settle(page)
        page.wait_for_timeout(500)
        return {
            "first_digit_s_cold": cold,
            "first_digit_s_warm": warm,
            "pointer_to_pixels_ms_median": percentile(times["drawn"], 0.5),
            "pointer_to_pixels_ms_p95": percentile(times["drawn"], 0.95),
            "pointer_to_paint_ms_median": percentile(times["painted"], 0.5),
            "pointer_to_paint_ms_p95": percentile(times["painted"], 0.95),
            "decode_ms": page.locator(".stage").evaluate(DECODE),
            "events": len(times["drawn"]),
            "messages_while_dragging": while_dragging,
            "messages_on_release": len(watch.sent) - sent - while_dragging,
            "errors": len(watch.errors),
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--script", default="app.py")
    parser.add_argument("--path", default="/", help="page of the app, with its query")
    parser.add_argument("--seconds", type=float, default=6)
    parser.add_argument("--rate", type=float, default=60, help="pointer events a second")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    result = measure(options.script, options.path, options.seconds, options.rate)
    if options.json:
        print(json.dumps(result))
        return
    for name, value in result.items():
        print(f"{name.replace('_', ' '):32} {value:.4g}")


if __name__ == "__main__":
    main()
