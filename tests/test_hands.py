"""Extrapolate under the hand, in a real browser: drawing, choosing, cropping, every way in."""

import base64
import io
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, TimeoutError, expect

from fgpvae import data
from fgpvae.images import Options, digit_boxes, normalise
from tests.browser import FLAGS, PATIENCE, Tabs, executable_path, settle
from tests.photographs import pens, scenes
from tests.test_extrapolate import drawing
from tests.test_pages_browser import Visit, drag, heading, picture, pose, uploaded

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
THREE = [(0.3, 0.2), (0.65, 0.2), (0.45, 0.45), (0.65, 0.6), (0.6, 0.8), (0.3, 0.8)]
BROKEN = b"\x89PNG\r\n\x1a\n" + b"junk" * 40


def several() -> bytes:
    """A photograph of a three, a five and an eight on one sheet."""
    digits = data.unseen()
    found = [np.flatnonzero(digits.labels == label)[1] for label in (3, 5, 8)]
    scene = replace(
        scenes.draw_scene(np.random.default_rng(7)),
        size=(1280, 960),
        digit=0.3,
        at=(0.5, 0.5),
        turn=4,
        tilt=(0.03, 0.03),
        ink=(0.85, 0.75, 0.35),
        pen=0.08,
        shadow="hand",
        shade=0.7,
    )
    return scenes.take_row([pens.written(digits.images[index]) for index in found], scene)


def ready(page: Page) -> None:
    page.wait_for_selector("[data-ready=yes]")
    settle(page)


def unfold(page: Page) -> Locator:
    """The last of the seven steps, opened if it is folded away."""
    step = page.get_by_role("img", name="Digit", exact=True)
    if not step.is_visible():
        page.get_by_text("Seven steps from your picture", exact=False).click()
    expect(step).to_be_visible()
    return step


def given_digit(page: Page) -> np.ndarray:
    """The digit [28, 28] that the model gets, as the page shows it."""
    step = unfold(page).get_attribute("src")
    shown = Image.open(io.BytesIO(base64.b64decode(step.split(",")[1])))
    return np.asarray(shown.convert("L").resize((28, 28), Image.Resampling.NEAREST)) / 255


def expect_digit(page: Page, expected: np.ndarray) -> None:
    for _ in range(200):  # it may still be on its way
        if np.abs(given_digit(page) - expected).max() < 1 / 255:
            return
        page.wait_for_timeout(300)
    np.testing.assert_allclose(given_digit(page), expected, atol=1 / 255)


def place(box: dict, x: float, y: float) -> tuple[float, float]:
    """A point of an element on the screen, from shares of its sides."""
    return box["x"] + x * box["width"], box["y"] + y * box["height"]


# --- drawing ---


def finger(page: Page, points: list[tuple[float, float]]) -> None:
    """Draw with a finger."""
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *at: tuple[float, float]) -> None:
        points = [{"x": x, "y": y} for x, y in at]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", points[0])
    for start, end in pairwise(points):
        for share in np.linspace(0.2, 1, 5):
            touch("touchMove", tuple((1 - share) * np.array(start) + share * np.array(end)))
    touch("touchEnd")


def turn_to(page: Page, name: str) -> None:
    """Another page by the menu, which covers a narrow screen while it is open."""
    menu = page.get_by_test_id("stSidebar")
    if menu.get_attribute("data-collapsed") == "true":
        page.get_by_test_id("stExpandSidebarButton").click()
    page.get_by_role("link", name=name, exact=True).click()
    expect(page).to_have_title(f"{name} · fgpvae")
    settle(page)
    if menu.get_attribute("data-collapsed") == "false":
        menu.hover()  # its button appears
        page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()
        expect(menu).to_have_attribute("data-collapsed", "true")


def test_a_finger_draws_and_the_drawing_stays(tabs: Tabs, address: str):
    visit = Visit(tabs, address, **PHONE)
    page = visit.open("/extrapolate?extrapolate.source=Draw", ready=False)
    paper = page.locator("canvas.paper")
    undo, clear = (page.get_by_role("button", name=name, exact=True) for name in ("Undo", "Clear"))
    expect(paper).to_be_visible()
    paper.scroll_into_view_if_needed()
    box = paper.bounding_box()
    for button in (undo, clear):
        expect(button).to_be_visible()
        around = button.bounding_box()
        assert min(around["width"], around["height"]) >= 44
        assert around["x"] >= box["x"] + box["width"]
        assert around["x"] + around["width"] <= PHONE["width"]

    # a tap in a corner draws, and never wipes
    corners = [(0.03, 0.03), (0.97, 0.03), (0.03, 0.97), (0.97, 0.97)]
    for count, corner in enumerate(corners, start=1):
        page.touchscreen.tap(*place(box, *corner))
        expect(paper).to_have_accessible_name(f"Your drawing, strokes: {count}")
    undo.tap()
    expect(paper).to_have_accessible_name("Your drawing, strokes: 3")
    undo.focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # Clear comes after Undo
    expect(paper).to_have_accessible_name("Draw a digit here")
    expect(undo).to_be_disabled()
    settle(page)

    scrolled = page.locator("[data-testid=stMain]").evaluate("main => main.scrollTop")
    finger(page, [place(box, x, y) for x, y in THREE])
    expect(paper).to_have_accessible_name("Your drawing, strokes: 1")
    assert page.locator("[data-testid=stMain]").evaluate("main => main.scrollTop") == scrolled
    ready(page)
    expect(heading(page)).to_contain_text("From one picture of your digit")

    # the result comes before the steps, which are folded away
    steps = page.get_by_text("Seven steps from your picture", exact=False)
    assert page.locator(".stage").bounding_box()["y"] < steps.bounding_box()["y"]
    expect(page.get_by_text("Even light", exact=True)).to_be_hidden()
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]

    # another source, another page, and back
    ink = paper.evaluate("paper => paper.toDataURL()")
    page.get_by_text("Example", exact=True).click()
    expect(paper).to_have_count(0)
    ready(page)
    turn_to(page, "How it works")
    turn_to(page, "Extrapolate")
    ready(page)
    page.get_by_text("Draw", exact=True).click()
    expect(paper).to_have_accessible_name("Your drawing, strokes: 1")
    assert paper.evaluate("paper => paper.toDataURL()") == ink
    expect(heading(page)).to_contain_text("From one picture of your digit")
    visit.close()


# --- the picture ---

EDGES = """({ style }) => {
  const names = ["left", "top", "width", "height"];
  const [x, y, width, height] = names.map((name) => parseFloat(style[name]));
  return [x, y, x + width, y + height].map((edge) => Number((edge / 100).toFixed(4)));
}"""


def test_one_of_several_digits_is_chosen_and_cropped_on_the_picture(tabs: Tabs, address: str):
    photograph = several()
    boxes = [tuple(round(edge, 4) for edge in box) for box in digit_boxes(photograph)]
    visit = Visit(tabs, address)
    page = visit.open("/extrapolate?extrapolate.source=Upload", ready=False)
    page.set_input_files("input[type=file]", uploaded("page.jpg", photograph))
    expect(page.get_by_role("heading", name="Which one?", exact=True)).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    choices = page.get_by_role("button", name=re.compile(r"^Digit \d"))
    expect(choices).to_have_count(3)

    choices.nth(1).click()
    ready(page)
    expect_digit(page, normalise(photograph, Options(crop=boxes[1])).digit)
    expect(choices.nth(1)).to_have_attribute("aria-pressed", "true")

    # large, and beside the result
    seen = page.locator("img.picture").bounding_box()
    stage = page.locator(".stage").bounding_box()
    assert seen["width"] > 380
    assert seen["x"] + seen["width"] < stage["x"]
    assert min(seen["y"] + seen["height"], stage["y"] + stage["height"]) > max(
        seen["y"], stage["y"]
    )

    choices.nth(1).focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(choices.nth(2)).to_have_attribute("aria-pressed", "true")
    expect_digit(page, normalise(photograph, Options(crop=boxes[2])).digit)

    # a frame drawn around the first digit, and its corner moved
    left, top, right, bottom = boxes[0]
    page.locator("img.picture").scroll_into_view_if_needed()
    seen = page.locator("img.picture").bounding_box()
    page.mouse.move(*place(seen, left + 0.01, top + 0.01))
    page.mouse.down()
    page.mouse.move(*place(seen, right - 0.05, bottom - 0.1), steps=4)
    page.mouse.up()
    corner = page.get_by_role("button", name="Corner right bottom", exact=True)
    around = corner.bounding_box()
    assert min(around["width"], around["height"]) >= 44
    x, y = place(around, 0.5, 0.5)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 0.04 * seen["width"], y + 0.09 * seen["height"], steps=4)
    page.mouse.up()
    corner.press("ArrowDown")
    edges = page.locator(".frame").evaluate(EDGES)
    np.testing.assert_allclose(
        edges, (left + 0.01, top + 0.01, right - 0.01, bottom), atol=4 / seen["width"]
    )
    expect_digit(page, normalise(photograph, Options(crop=tuple(edges))).digit)

    page.get_by_role("button", name="Whole picture", exact=True).click()
    expect(page.get_by_role("heading", name="Which one?", exact=True)).to_be_visible()
    visit.close()


# --- the angle ---


def rim(box: dict, degrees: float) -> tuple[float, float]:
    """A point beside the centre of a picture, clockwise from its top."""
    w = np.deg2rad(degrees)
    return place(box, 0.5 + 0.3 * np.sin(w), 0.5 - 0.3 * np.cos(w))


def said(page: Page) -> float | None:
    """The angle that the address says was said."""
    found = re.search(r"said=([\d.]+)", page.url)
    return None if found is None else float(found[1])


def expect_said(page: Page, degrees: float) -> None:
    """The person's angle is in the address, and in the number beside the picture."""
    expect(page).to_have_url(re.compile(rf"said={degrees:g}(&|$)"))
    expect(page.get_by_label("Angle of your picture in degrees")).to_have_value(f"{degrees:g}")
    ready(page)


def test_the_picture_is_turned_upright_by_mouse_keys_and_number(tabs: Tabs, address: str):
    visit = Visit(tabs, address)
    page = visit.open("/extrapolate?digit=new-3-2&shown=45")
    own = page.get_by_role("slider", name="Your picture: turn it until it is upright")
    leave = page.get_by_role("button", name="Leave it to the model", exact=True)
    expect(leave).to_be_hidden()
    expect(own).to_have_attribute("aria-valuetext", re.compile("as the model finds"))
    found = float(own.get_attribute("aria-valuenow"))

    # while it is dragged it turns with the pointer, also when the page runs in between
    own.scroll_into_view_if_needed()
    box = own.bounding_box()
    page.mouse.move(*rim(box, 90))
    page.mouse.down()
    sent = len(visit.watch.sent)
    page.mouse.move(*rim(box, 105), steps=3)
    expect(own).to_have_attribute("aria-valuetext", re.compile("as you say"))
    assert len(visit.watch.sent) == sent
    digits = page.get_by_label("Digits to pick from").get_by_role("button")
    shown = digits.count()
    page.get_by_role("switch", name="More").evaluate("toggle => toggle.click()")
    expect(digits).not_to_have_count(shown)
    settle(page)
    assert float(own.get_attribute("aria-valuenow")) == pytest.approx(found + 15, abs=1)
    own.scroll_into_view_if_needed()  # there are more digits above it
    page.mouse.move(*rim(own.bounding_box(), 130), steps=3)
    page.mouse.up()
    expect(page).to_have_url(re.compile("said="))
    assert said(page) == pytest.approx(found + 40, abs=1)
    turned = page.locator(".turned").evaluate("each => each.style.transform")
    assert float(turned[7:-4]) == pytest.approx(said(page), abs=0.1)

    # keys, and a number
    before = said(page)
    own.press("ArrowRight")
    own.press("ArrowRight")
    own.press("Shift+ArrowLeft")
    expect_said(page, before - 13)
    page.get_by_label("Angle of your picture in degrees").fill("45")
    page.keyboard.press("Enter")
    expect_said(page, 45)
    page.reload()
    ready(page)
    expect_said(page, 45)
    expect(own).to_have_attribute("aria-valuenow", "45")

    # an angle that the model finds is chosen by a click on the picture as it would stand then
    found_ones = page.get_by_label("Angles that the model suggests").get_by_role("button")
    other = found_ones.and_(page.locator("[aria-pressed=false]")).last
    text = other.inner_text()
    other.click()
    expect_said(page, float(text.split("°")[0]))
    expect(found_ones.filter(has_text=text)).to_have_attribute("aria-pressed", "true")

    leave.click()
    expect(page).not_to_have_url(re.compile("said="))
    expect(own).to_have_attribute("aria-valuenow", f"{found:g}")
    expect(leave).to_be_hidden()
    visit.close()


# what can be tapped and is narrower or lower than 44 px: kind, name, width, height. A switch is
# tapped by its label; of the folded menu nothing is on the screen
TOO_SMALL = """() => {
  const tapped =
    "a[href], button, input, select, summary, [role=button], [role=radio], label:has(input)";
  const found = [];
  const look = (root) => root.querySelectorAll("*").forEach((each) => {
    if (each.shadowRoot) look(each.shadowRoot);
    if (!each.matches(tapped) || each.matches("label input") || each.disabled) return;
    const { width, height, right } = each.getBoundingClientRect();
    if (!each.checkVisibility({ visibilityProperty: true }) || width < 2 || right <= 0) return;
    const name = each.getAttribute("aria-label") || each.innerText;
    if (Math.min(width, height) < 43.9) found.push([each.tagName, name, width, height]);
  });
  look(document);
  return found;
}"""


def fits_a_finger(page: Page) -> None:
    """Whatever can be tapped is large enough, and none of it beside the screen."""
    assert page.evaluate(TOO_SMALL) == []
    width = PHONE["width"]
    board = page.locator(".st-key-extrapolate-board")
    for each in board.get_by_test_id("stButtonGroup").get_by_role("radio").all():
        around = each.bounding_box()
        assert around["x"] + around["width"] <= width
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# what a source shows once it is there
SHOWN = {
    "Draw": "canvas.paper",
    "Upload": "[data-testid=stFileUploader]",
    "Random": "[data-ready=yes]",
}


def test_a_finger_turns_the_picture_and_not_the_page_and_finds_all_it_taps(
    tabs: Tabs, address: str
):
    visit = Visit(tabs, address, **PHONE)
    page = visit.open("/extrapolate?digit=new-3-2&shown=45")
    fits_a_finger(page)
    own = page.get_by_role("slider", name="Your picture: turn it until it is upright")
    number = page.get_by_label("Angle of your picture in degrees")
    own.evaluate("each => each.scrollIntoView({ block: 'center' })")
    box = own.bounding_box()
    for target in (box, number.bounding_box()):
        assert min(target["width"], target["height"]) >= 44
    found = float(own.get_attribute("aria-valuenow"))
    scrolled = page.locator("[data-testid=stMain]").evaluate("main => main.scrollTop")
    finger(page, [rim(box, degrees) for degrees in (0, 10, 20, 30)])
    assert page.locator("[data-testid=stMain]").evaluate("main => main.scrollTop") == scrolled
    expect(page).to_have_url(re.compile("said="))
    assert said(page) == pytest.approx(found + 30, abs=1.5)
    leave = page.get_by_role("button", name="Leave it to the model", exact=True)
    expect(leave).to_be_visible()
    assert leave.bounding_box()["height"] >= 44
    settle(page)

    for source, part in SHOWN.items():
        page.get_by_test_id("stButtonGroup").get_by_text(source, exact=True).tap()
        expect(page).to_have_url(re.compile(f"extrapolate.source={source}"))
        expect(page.locator(part)).to_be_visible()
        settle(page)
        fits_a_finger(page)
    visit.close()


# --- every way in ---

GIVE = """([way, type, content]) => {
  const given = new DataTransfer();
  const bytes = typeof content === "number"  // so many zeros
    ? new Uint8Array(content)
    : Uint8Array.from(atob(content), (letter) => letter.charCodeAt(0));
  given.items.add(new File([bytes], "three.png", { type }));
  const options = { bubbles: true, cancelable: true, composed: true };
  if (way === "paste") {
    document.body.dispatchEvent(new ClipboardEvent("paste", { clipboardData: given, ...options }));
  } else {
    const zone = document.querySelector("[data-testid=stFileUploaderDropzone]");
    zone.dispatchEvent(new DragEvent("drop", { dataTransfer: given, ...options }));
  }
}"""
COPY = """async (text) => {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const blob = new Blob([bytes], { type: "image/png" });
  await navigator.clipboard.write([new ClipboardItem({ "image/png": blob })]);
}"""


def give(page: Page, way: str, content: bytes) -> None:
    text = base64.b64encode(content).decode()
    if way == "choose":
        page.set_input_files("input[type=file]", uploaded("three.png", content))
    elif way == "clipboard":
        page.evaluate(COPY, text)
        page.keyboard.press("Control+V")
    elif way == "button":
        page.evaluate(COPY, text)
        page.get_by_role("button", name="Paste a picture", exact=True).click()
    else:
        page.evaluate(GIVE, [way, "image/png", text])


def remove(page: Page) -> None:
    page.get_by_role("button", name="Remove ", exact=False).click()
    expect(page.get_by_text("No digit yet")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)
    settle(page)


def test_every_way_in_gives_the_same(tabs: Tabs, address: str):
    visit = Visit(tabs, address, permissions=["clipboard-read", "clipboard-write"])
    page = visit.open("/extrapolate?extrapolate.source=Upload", ready=False)
    expect(page.get_by_text("No digit yet")).to_be_visible()
    expected = normalise(drawing()).digit
    for way in ("choose", "drop", "clipboard", "button"):
        give(page, way, drawing())
        ready(page)
        expect_digit(page, expected)
        remove(page)

    # what is no picture ends in one sentence, whichever way it came
    empty, broken = (b"", "The file is empty."), (BROKEN, "The PNG picture is damaged")
    for way, (content, says) in (("choose", empty), ("drop", broken), ("paste", broken)):
        give(page, way, content)
        alert = page.get_by_role("alert")
        expect(alert).to_have_count(1)
        expect(alert).to_contain_text(says)
        assert alert.inner_text().count(".") == 1
        remove(page)
    page.evaluate(GIVE, ["paste", "image/png", 20_000_001 + 1_000_000])
    expect(page.get_by_text("File must be 20.0MB or smaller.")).to_be_visible()
    page.get_by_role("button", name="Remove ", exact=False).click()
    page.evaluate("navigator.clipboard.writeText('three')")
    page.keyboard.press("Control+V")
    expect(page.get_by_text("The clipboard holds no picture.")).to_be_visible()

    give(page, "choose", drawing())
    ready(page)
    before = picture(page)
    drag(page, pose(page)["angle"], pose(page)["angle"] + 120)
    page.mouse.up()
    assert np.abs(picture(page) - before).max() > 0.2
    expect(page.get_by_text("not turned")).to_be_visible()
    visit.close()


def film(content: bytes) -> bytes:
    """A second of video (YUV4MPEG2) of a sheet of paper with a picture on it."""
    sheet = Image.new("L", (640, 480), 225)
    paper = Image.open(io.BytesIO(content)).convert("L").point(lambda value: value * 225 // 255)
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
    answer = page.locator("[data-ready=yes], .notice.problem")
    page.wait_for_function("document.querySelector('video')?.readyState >= 2")  # it has a frame
    for _ in range(most):
        expect(shutter).to_be_enabled()
        shutter.click()
        try:
            again.wait_for(timeout=PATIENCE / most)
        except TimeoutError:
            continue
        expect(answer.first).to_be_visible()
        settle(page)
        if page.locator("[data-ready=yes]").count():
            return
        again.click()
        expect(answer).to_have_count(0)
    raise AssertionError("no photograph had a digit")


def test_a_photograph_is_the_same_digit_and_turns(browser: Browser, address: str, tmp_path: Path):
    (tmp_path / "paper.y4m").write_bytes(film(drawing()))
    camera = [
        "--use-fake-ui-for-media-stream",
        "--use-fake-device-for-media-stream",
        f"--use-file-for-fake-video-capture={tmp_path / 'paper.y4m'}",
    ]
    filming = browser.browser_type.launch(executable_path=executable_path(), args=FLAGS + camera)
    try:
        visit = Visit(Tabs(filming), address, permissions=["camera"])
        page = visit.open("/extrapolate?extrapolate.source=Camera", ready=False)
        take_photographs(page)
        settle(page)
        expect(heading(page)).to_contain_text("From one picture of your digit")
        # grain moves the centre by part of a pixel, which rounds to another whole one at most
        found, expected = given_digit(page), normalise(drawing()).digit
        shifts = [(down, across) for down in (-1, 0, 1) for across in (-1, 0, 1)]
        assert (
            min(np.abs(np.roll(found, shift, (0, 1)) - expected).mean() for shift in shifts) < 0.03
        )
        before, angle = picture(page), pose(page)["angle"]
        drag(page, angle, angle + 120)
        page.mouse.up()
        assert pose(page)["angle"] == pytest.approx((angle + 120) % 360, abs=2)
        assert np.abs(picture(page) - before).max() > 0.2
        visit.close()
    finally:
        filming.close()
