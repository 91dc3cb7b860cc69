"""The README's moving picture, taken from the app.

The dial turns under the pointer, then a style slider moves and the angle stays.

    python scripts/moving_picture.py [directory] [--url http://...] [--frames 96]

Starts the app unless --url names a running one. Writes rotate-light.webp and rotate-dark.webp; it
is an error if one is larger than LARGEST.
"""

import argparse
import io
import math
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, FloatRect, Locator, Page

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.browser import chromium, serve, settle  # noqa: E402

PATIENCE = 120_000  # milliseconds
FRAME = 60  # milliseconds
WIDTH = 760  # of the picture, pixels
LARGEST = 600_000  # bytes
MARGIN = 10  # around the cards, pixels
SHARE = 0.72  # share of the frames for the turn; the others are for the slider
SLIDER = "width"
CARDS = "section.card:has(.stage)", "section.card:has(.sliders)"  # in the picture

# headless Chromium draws no pointer, so the page gets an arrow with its tip at (0, 0)
POINTER = """() => {
  const arrow = document.createElement("div");
  arrow.style.cssText = "position:fixed;left:0;top:0;z-index:999999;pointer-events:none";
  arrow.innerHTML = `<svg width="22" height="30" viewBox="0 0 22 30"><path fill="#111"
    stroke="#fff" stroke-width="1.6" d="M1 1v21l5-4.6 3.6 8.4 4-1.7-3.6-8.2h7z"/></svg>`;
  document.body.append(arrow);
  addEventListener("pointermove", (event) => {
    arrow.style.transform = `translate(${event.clientX}px, ${event.clientY}px)`;
  }, { capture: true });
}"""
# Streamlit fades what it computes again, which frames would show on a busy machine
UNFADED = "[data-stale=true] { opacity: 1 !important; transition: none !important }"
# after two frames the effect of the pointer is on the screen
PAINTED = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


def take(browser: Browser, address: str, scheme: str, frames: int) -> Iterator[Image.Image]:
    """Record a full turn, then a style slider that moves and returns."""
    context = browser.new_context(
        viewport={"width": 1400, "height": 1200}, color_scheme=scheme, reduced_motion="reduce"
    )
    page = context.new_page()
    page.goto(f"{address}/?subject=new-3-1")
    page.wait_for_selector("[data-ready=yes]", timeout=PATIENCE)
    settle(page, PATIENCE)
    page.add_style_tag(content=UNFADED)
    page.evaluate(POINTER)
    clip, turning = _around_all(page), round(SHARE * frames)
    yield from _drag(page, clip, _around(_box(page, ".stage"), turning))
    settle(page, PATIENCE)
    row = page.locator(".sliders label").filter(has_text=SLIDER).first
    yield from _drag(page, clip, _there_and_back(row.locator("input"), frames - turning))
    context.close()


def _drag(page: Page, clip: FloatRect, path: list[tuple[float, float]]) -> Iterator[Image.Image]:
    """Press the button at the start of a path, and photograph every point of it."""
    page.mouse.move(*path[0])
    page.mouse.down()
    for point in path:
        page.mouse.move(*point)
        yield _photograph(page, clip)
    page.mouse.up()


def _around(stage: FloatRect, count: int) -> list[tuple[float, float]]:
    """Counter-clockwise around the ring, slow at the start and the end."""
    x, y = stage["x"] + stage["width"] / 2, stage["y"] + stage["height"] / 2
    radius = 0.43 * stage["width"]
    turns = [2 * math.pi * k / max(count - 1, 1) for k in range(count)]
    turns = [w - 0.7 * math.sin(w) for w in turns]  # slow at both ends
    return [(x - radius * math.sin(w), y - radius * math.cos(w)) for w in turns]


def _there_and_back(slider: Locator, count: int) -> list[tuple[float, float]]:
    """From where the slider stands to both sides of it, and home."""
    box = slider.bounding_box()
    assert box is not None
    y = box["y"] + box["height"] / 2
    home = slider.evaluate("input => (input.value - input.min) / (input.max - input.min)")
    swings = [home - 0.36 * math.sin(2 * math.pi * k / max(count - 1, 1)) for k in range(count)]
    return [(box["x"] + min(max(share, 0.02), 0.98) * box["width"], y) for share in swings]


def _box(page: Page, selector: str) -> FloatRect:
    box = page.locator(selector).first.bounding_box()
    assert box is not None
    return box


def _around_all(page: Page) -> FloatRect:
    """The part of the page with the cards, and a margin."""
    boxes = [_box(page, card) for card in CARDS]
    left, top = (min(box[side] for box in boxes) - MARGIN for side in ("x", "y"))
    right = max(box["x"] + box["width"] for box in boxes) + MARGIN
    bottom = max(box["y"] + box["height"] for box in boxes) + MARGIN
    return {"x": left, "y": top, "width": right - left, "height": bottom - top}


def _photograph(page: Page, clip: FloatRect) -> Image.Image:
    page.evaluate(PAINTED)
    picture = Image.open(io.BytesIO(page.screenshot(clip=clip))).convert("RGB")
    height = round(picture.height * WIDTH / picture.width)
    return picture.resize((WIDTH, height), Image.Resampling.LANCZOS)


def animation(pictures: list[Image.Image]) -> bytes:
    buffer = io.BytesIO()
    pictures[0].save(
        buffer,
        "WEBP",
        save_all=True,
        append_images=pictures[1:],
        duration=FRAME,
        loop=0,
        quality=80,
        method=4,
        minimize_size=True,
    )
    return buffer.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("directory", nargs="?", default=ROOT / "docs", type=Path)
    parser.add_argument("--frames", default=96, type=int)
    parser.add_argument("--url", help="of an app that runs already")
    options = parser.parse_args()
    app = nullcontext(options.url) if options.url else serve(ROOT / "app.py")
    with app as address, chromium() as browser:
        for scheme in ("light", "dark"):
            file = options.directory / f"rotate-{scheme}.webp"
            content = animation(list(take(browser, address, scheme, options.frames)))
            if len(content) > LARGEST:
                sys.exit(f"{file.name} has {len(content):,} bytes, more than {LARGEST:,}")
            file.write_bytes(content)
            print(file, f"{len(content):,} bytes")


if __name__ == "__main__":
    main()
