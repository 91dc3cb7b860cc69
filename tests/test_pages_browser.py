"""Rotate and Extrapolate in a real browser, as a person uses them."""

import io
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect

from tests.browser import FLAGS, PATIENCE, ROOT, Watch, executable_path, serve, settle
from tests.test_extrapolate import drawing
from ui.shell import frame


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(ROOT / "app.py", FGPVAE_RUNS=str(tmp_path_factory.mktemp("runs"))) as address:
        yield address


class Visit:
    """A tab, and all that goes wrong in it."""

    def __init__(self, browser: Browser, address: str, **options) -> None:
        options = {"viewport": {"width": 1360, "height": 900}, **options}
        self.context = browser.new_context(**options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(PATIENCE)
        self.address = address
        self.watch = Watch(self.page)
        self.refused: list[str] = []
        self.page.on("response", self._answer)

    def _answer(self, response) -> None:
        # Streamlit asks for these below the page's address first, and then where they are
        if response.status >= 400 and "/_stcore/" not in response.url:
            self.refused.append(response.url)

    def open(self, path: str = "/", ready: bool = True) -> Page:
        self.page.goto(self.address + path)
        if ready:
            self.page.wait_for_selector("[data-ready=yes]")
        else:
            self.page.wait_for_selector("h1")
        settle(self.page, PATIENCE)
        return self.page

    def close(self) -> None:
        boxes = self.page.locator("[data-testid=stException]").count()
        self.context.close()
        errors = [text for text in self.watch.errors if "Failed to load resource" not in text]
        assert errors == []
        assert self.refused == []
        assert boxes == 0


@pytest.fixture
def visit(browser: Browser, address: str) -> Iterator[Visit]:
    visit = Visit(browser, address)
    yield visit
    visit.close()


def pose(page: Page) -> dict:
    return page.locator(".stage").evaluate("stage => stage.getRootNode().host.fgpvae.pose()")


def picture(page: Page) -> np.ndarray:
    """The digit that the dial shows, as the browser's decoder makes it."""
    values = page.locator(".stage").evaluate(
        """stage => {
          const { pose, decode } = stage.getRootNode().host.fgpvae;
          const { angle, style } = pose();
          return decode(angle, style ?? undefined);
        }"""
    )
    return np.array(values)


def point(page: Page, degrees: float, radius: float = 0.43) -> tuple[float, float]:
    """Where on the screen an angle of the dial is."""
    box = page.locator(".stage").bounding_box()
    w = np.deg2rad(degrees)
    x = box["x"] + box["width"] * (0.5 - radius * np.sin(w))
    y = box["y"] + box["height"] * (0.5 - radius * np.cos(w))
    return float(x), float(y)


def drag(page: Page, start: float, end: float) -> None:
    """From one angle of the ring to another, without letting go."""
    page.locator(".stage").scroll_into_view_if_needed()
    page.mouse.move(*point(page, start))
    page.mouse.down()
    for degrees in np.linspace(start, end, 12):
        page.mouse.move(*point(page, degrees))


def linked(page: Page, name: str) -> str:
    return parse_qs(urlparse(page.url).query).get(name, [""])[0]


def heading(page: Page) -> Locator:
    return page.locator(".st-key-shell-heading")


def strip(page: Page) -> Locator:
    return page.get_by_role("group", name="The digit at sixteen angles", exact=True)


def uploaded(name: str, content: bytes) -> dict:
    return {"name": name, "mimeType": "image/png", "buffer": content}


# --- the first one is the first to ask the server for anything ---


def test_a_deep_link_on_a_fresh_server(visit: Visit):
    page = visit.open("/extrapolate?extrapolate.source=Example&digit=new-3-6&shown=90&angle=30")
    expect(page.get_by_role("heading", name="Turn a digit of your own", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="How it works", exact=True)).to_be_visible()
    assert pose(page)["angle"] == 30


# --- Rotate ---


def test_dragging_turns_the_digit_and_sends_nothing_until_release(visit: Visit):
    page = visit.open()
    before, sent = picture(page), len(visit.watch.sent)
    drag(page, 0, 90)
    assert pose(page)["angle"] == pytest.approx(90, abs=1)
    assert np.abs(picture(page) - before).max() > 0.2
    page.wait_for_timeout(400)  # long enough for a message, had one been sent
    assert len(visit.watch.sent) == sent
    page.mouse.up()
    expect(page).to_have_url(re.compile("angle=90"))
    assert len(visit.watch.sent) > sent
    expect(strip(page).get_by_role("button", name=re.compile("^90 degrees"))).to_be_visible()
    expect(strip(page).locator("[aria-pressed=true]")).to_have_attribute(
        "aria-label", re.compile("^90 degrees")
    )


def test_the_keyboard_turns_the_digit(visit: Visit):
    page = visit.open()
    ring = page.get_by_role("slider", name="Angle of the digit in degrees", exact=True)
    ring.focus()
    for _ in range(3):
        page.keyboard.press("PageUp")
    page.keyboard.press("ArrowLeft")
    assert pose(page)["angle"] == pytest.approx(68.5)
    expect(page).to_have_url(re.compile("angle=68.5"))


def test_a_shared_link_opens_the_same_picture(visit: Visit, browser: Browser, address: str):
    page = visit.open("/?digit=7-12&views=0_3_9")
    drag(page, 0, 120)
    page.mouse.up()
    expect(page).to_have_url(re.compile("angle=1"))
    page.get_by_role("button", name="Random style", exact=True).click()
    expect(page).to_have_url(re.compile("style="))
    expect(heading(page)).to_contain_text("nobody has written")
    settle(page, PATIENCE)
    mine, other = picture(page), Visit(browser, address)
    again = other.open(page.url.removeprefix(address))
    np.testing.assert_allclose(picture(again), mine, atol=0.01)
    assert pose(again)["angle"] == pytest.approx(pose(page)["angle"], abs=0.01)
    other.close()


def test_digits_strip_views_and_morph(visit: Visit):
    page = visit.open()
    gallery = page.get_by_role("group", name="Digits to pick from", exact=True)
    first = picture(page)
    gallery.get_by_role("button", name="Three, new digit 7", exact=True).click()
    expect(page).to_have_url(re.compile("digit=new-3-6"))
    expect(heading(page)).to_contain_text("three")
    settle(page, PATIENCE)
    assert np.abs(picture(page) - first).max() > 0.2
    strip(page).get_by_role("button", name=re.compile("^157.5 degrees")).click()
    expect(page).to_have_url(re.compile("angle=157.5"))
    page.get_by_role("button", name=re.compile("^View at 0 degrees")).click()
    expect(heading(page)).to_contain_text("seven dotted angles")
    between = page.get_by_role("group", name="Styles between A and B", exact=True)
    between.get_by_role("button", name="Style B", exact=True).click()
    expect(page).to_have_url(re.compile("style="))
    expect(page.locator(".morph output")).to_have_text("100%")
    page.get_by_role("button", name="Its own style", exact=True).click()
    expect(page).not_to_have_url(re.compile("style="))


def test_everything_can_be_taken_along(visit: Visit):
    page = visit.open("/?angle=45")
    found = {}
    for label in ("Picture", "Full turn", "Latents, JSON", "Latents, CSV"):
        with page.expect_download() as download:
            page.get_by_role("button", name=label, exact=True).click()
        found[label] = Path(download.value.path()).read_bytes()
    assert Image.open(io.BytesIO(found["Picture"])).size == (224, 224)
    assert Image.open(io.BytesIO(found["Full turn"])).n_frames > 20
    assert json.loads(found["Latents, JSON"])["angle_degrees"] == 45
    assert found["Latents, CSV"].startswith(b"channel,kind,mean,sd\n1,local,")


# --- Extrapolate ---


def test_a_drawn_picture_is_uploaded_and_turns(visit: Visit):
    page = visit.open("/extrapolate?extrapolate.source=Upload", ready=False)
    expect(page.get_by_text("No digit yet")).to_be_visible()
    page.set_input_files("input[type=file]", uploaded("three.png", drawing()))
    page.wait_for_selector("[data-ready=yes]")
    settle(page, PATIENCE)
    expect(page.get_by_text("Even light")).to_be_visible()
    before = picture(page)
    drag(page, pose(page)["angle"], pose(page)["angle"] + 120)
    page.mouse.up()
    assert np.abs(picture(page) - before).max() > 0.2
    expect(page.get_by_text("not turned")).to_be_visible()


def test_an_unreadable_file_is_one_sentence_and_the_page_goes_on(visit: Visit):
    page = visit.open("/extrapolate?extrapolate.source=Upload", ready=False)
    broken = b"\x89PNG\r\n\x1a\n" + b"junk" * 40
    page.set_input_files("input[type=file]", uploaded("broken.png", broken))
    alert = page.get_by_role("alert").filter(has_text="damaged or incomplete")
    expect(alert).to_be_visible()
    assert alert.inner_text().count(".") == 1
    page.get_by_role("button", name="Remove broken.png", exact=True).click()
    expect(alert).to_have_count(0)
    settle(page, PATIENCE)
    page.set_input_files("input[type=file]", uploaded("three.png", drawing(30)))
    page.wait_for_selector("[data-ready=yes]")
    settle(page, PATIENCE)
    expect(alert).to_have_count(0)


def test_a_drawing_turns_and_its_angle_can_be_chosen(visit: Visit):
    page = visit.open("/extrapolate?extrapolate.source=Draw", ready=False)
    canvas = page.locator("canvas.upper-canvas")
    expect(canvas).to_be_visible()
    box = canvas.bounding_box()
    shape = [(0.3, 0.2), (0.65, 0.2), (0.45, 0.45), (0.65, 0.6), (0.6, 0.8), (0.3, 0.8)]
    points = [(box["x"] + x * box["width"], box["y"] + y * box["height"]) for x, y in shape]
    page.mouse.move(*points[0])
    page.mouse.down()
    for x, y in points[1:]:
        page.mouse.move(x, y, steps=5)
    page.mouse.up()
    page.wait_for_selector("[data-ready=yes]")
    settle(page, PATIENCE)
    expect(heading(page)).to_contain_text("From one picture of your digit")
    choices = page.get_by_role("button", name=re.compile(r"^\d+° · "))
    if choices.count() > 1:  # a model that cannot tell angles offers none
        choices.nth(1).click()
        settle(page, PATIENCE)
        expect(choices.nth(1)).to_have_attribute("kind", "primary")


def film(picture: bytes) -> bytes:
    """A second of video (YUV4MPEG2) of a sheet of paper with a picture on it."""
    sheet = Image.new("L", (640, 480), 225)
    paper = Image.open(io.BytesIO(picture)).convert("L").point(lambda value: value * 225 // 255)
    sheet.paste(paper, (170, 70))
    grain = np.random.default_rng(0).integers(-4, 5, (10, 480, 640))
    frames = np.clip(np.asarray(sheet) + grain, 0, 255).astype(np.uint8)
    grey = bytes([128]) * (2 * 320 * 240)  # no colour
    each = b"".join(b"FRAME\n" + frame.tobytes() + grey for frame in frames)
    return b"YUV4MPEG2 W640 H480 F10:1 Ip A1:1 C420jpeg\n" + each


def take_photographs(page: Page, most: int = 12) -> None:
    """One after the other until one has a digit: a camera that has just started may see none."""
    shutter = page.get_by_role("button", name="Take Photo", exact=True)
    again = page.get_by_role("button", name="Clear photo", exact=True)
    for _ in range(most):
        expect(shutter.or_(again)).to_be_enabled()
        (again if again.is_visible() else shutter).click()
        settle(page, PATIENCE)
        try:
            page.wait_for_selector("[data-ready=yes]", timeout=PATIENCE / most)
        except TimeoutError:
            continue
        return
    raise AssertionError("no photograph had a digit")


def test_a_photograph_turns(browser: Browser, address: str, tmp_path: Path):
    (tmp_path / "paper.y4m").write_bytes(film(drawing()))
    camera = [
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-video-capture={tmp_path / 'paper.y4m'}",
    ]
    filming = browser.browser_type.launch(executable_path=executable_path(), args=FLAGS + camera)
    try:
        visit = Visit(filming, address, permissions=["camera"])
        page = visit.open("/extrapolate?extrapolate.source=Camera", ready=False)
        take_photographs(page)
        settle(page, PATIENCE)
        expect(heading(page)).to_contain_text("From one picture of your digit")
        before, angle = picture(page), pose(page)["angle"]
        drag(page, angle, angle + 120)
        page.mouse.up()
        assert pose(page)["angle"] == pytest.approx((angle + 120) % 360, abs=2)
        assert np.abs(picture(page) - before).max() > 0.2
        visit.close()
    finally:
        filming.close()


# --- both, and all others ---

UNREADABLE = """(least) => {
  const parse = (text) => {
    const all = text.match(/[\\d.]+/g).map(Number);
    const scale = text.startsWith("color(") ? 255 : 1;
    return { rgb: all.slice(0, 3).map((v) => v * scale), alpha: all[3] ?? 1 };
  };
  const up = (node) => node.assignedSlot ?? node.parentElement ?? node.getRootNode().host ?? null;
  const over = (top, alpha, below) => top.map((v, k) => alpha * v + (1 - alpha) * below[k]);
  const ground = (node) => {
    const layers = [];
    const { x, y, width, height } = node.getBoundingClientRect();
    for (let at = node; at; at = up(at)) {
      const box = at.getBoundingClientRect();
      const inside = (a, from, size) => a >= from - 1 && a <= from + size + 1;
      const behind = inside(x + width / 2, box.x, box.width) && inside(y + height / 2, box.y, box.height);
      if (!behind) continue;
      const { rgb, alpha } = parse(getComputedStyle(at).backgroundColor);
      if (alpha > 0) layers.push([rgb, alpha]);
      if (alpha === 1) break;
    }
    const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
    return layers.reverse().reduce((c, [rgb, a]) => over(rgb, a, c), dark ? [15, 18, 24] : [255, 255, 255]);
  };
  const light = (rgb) => {
    const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const found = [];
  const look = (root) => {
    for (const node of root.querySelectorAll("*")) {
      if (node.shadowRoot) look(node.shadowRoot);
      const text = [...node.childNodes].filter((n) => n.nodeType === 3).map((n) => n.data.trim()).join("");
      const box = node.getBoundingClientRect();
      if (!text || !box.width || !box.height || node.closest("style, script, svg, :disabled, canvas")) continue;
      let opacity = 1;
      for (let at = node; at; at = up(at)) opacity *= Number(getComputedStyle(at).opacity);
      if (getComputedStyle(node).visibility !== "visible" || opacity < 0.05) continue;
      const behind = ground(node);
      const { rgb, alpha } = parse(getComputedStyle(node).color);
      const pair = [light(over(rgb, alpha * opacity, behind)), light(behind)].sort((a, b) => b - a);
      const contrast = (pair[0] + 0.05) / (pair[1] + 0.05);
      if (contrast < least) found.push(`${contrast.toFixed(2)} ${text.slice(0, 40)}`);
    }
  };
  look(document);
  return found;
}"""  # noqa: E501


@pytest.mark.parametrize(
    ("name", "scheme"),
    [("", "light"), ("", "dark"), *((name, "dark") for name, _ in frame.PAGES[1:])],
)
def test_pages_open_without_an_exception_and_all_text_can_be_read(
    browser: Browser, address: str, name: str, scheme: str
):
    visit = Visit(browser, address, color_scheme=scheme)
    page = visit.open(f"/{name}", ready=False)
    settle(page, PATIENCE)
    light = page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(250, 250, 247)"
    assert light == (scheme == "light")
    with suppress(TimeoutError):  # what has just arrived fades in
        page.wait_for_function(f"!({UNREADABLE})(3).length", timeout=10_000)
    assert page.evaluate(UNREADABLE, 3) == []
    visit.close()


@pytest.mark.parametrize("path", ["/", "/extrapolate"])
def test_a_narrow_screen_has_the_dial_first_and_no_sideways_scrolling(
    browser: Browser, address: str, path: str
):
    visit = Visit(browser, address, viewport={"width": 380, "height": 800}, has_touch=True)
    page = visit.open(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    stage = page.locator(".stage").bounding_box()
    style = page.get_by_role("heading", name="Style", exact=True).bounding_box()
    assert stage["x"] >= 0
    assert stage["x"] + stage["width"] <= 380
    assert style["y"] > stage["y"] + stage["height"]
    visit.close()
