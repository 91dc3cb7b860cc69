"""Extrapolate under the hand, in a real browser: drawing, turning, building, every way in."""

import base64
import io
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import Browser, Page, TimeoutError, expect

from fgpvae import load_pretrained, orientation
from fgpvae.images import normalise
from fgpvae.orientation import novelty, picture_scores
from fgpvae.orientation.novelty import Novelty
from tests.browser import (
    FLAGS,
    PATIENCE,
    Tabs,
    Visit,
    box,
    button,
    draw,
    executable_path,
    heading,
    in_link,
    picture,
    place,
    ready,
    settle,
)
from tests.test_extrapolate import THREE, circle, drawing, pair
from tests.waiting import at_rest, eventually

PHONE = {"width": 390, "height": 844, "has_touch": True, "is_mobile": True}
BROKEN = b"\x89PNG\r\n\x1a\n" + b"junk" * 40


def given_digit(page: Page) -> np.ndarray:
    """The digit [28, 28] that the model gets, as the last of the seven steps shows it."""
    step = page.get_by_role("img", name="Digit", exact=True)

    def source() -> str | None:
        if not step.count():
            page.get_by_role("button", name="Correct it").click()
        try:
            return step.get_attribute("src", timeout=5000)
        except TimeoutError:  # the steps were on their way, and the click has folded them
            return None

    content = base64.b64decode(eventually(source).split(",")[1])
    shown = Image.open(io.BytesIO(content)).convert("L")
    return np.asarray(shown.resize((28, 28), Image.Resampling.NEAREST)) / 255


def expect_digit(page: Page, expected: np.ndarray) -> None:
    eventually(lambda: np.abs(given_digit(page) - expected).max() < 1 / 255)


def test_ctrl_z_takes_back_a_stroke_or_clear_and_another_view_is_added(visit: Visit):
    page = visit.open("/extrapolate?extrapolate.source=Draw", ready=False)
    paper = page.locator("svg.paper")
    before = box(paper)
    draw(paper, THREE)
    expect(paper).to_have_accessible_name("Your digit, strokes: 1")
    for key in ("Space", "ArrowRight", "ArrowDown", "Space"):  # the pen of the keyboard
        paper.press(key)
    expect(paper).to_have_accessible_name("Your digit, strokes: 2")
    page.keyboard.press("Control+z")
    expect(paper).to_have_accessible_name("Your digit, strokes: 1")
    button(page, "Clear").click()
    expect(paper).to_have_accessible_name("Draw a digit here")
    page.keyboard.press("Control+z")
    expect(paper).to_have_accessible_name("Your digit, strokes: 1")
    ready(page)
    assert box(paper) == before  # it does not move while one draws
    button(page, "Random style").click()
    page.keyboard.press("Control+z")  # undoes the style alone
    expect(page.locator(".undo").last).to_be_disabled()
    expect(paper).to_have_accessible_name("Your digit, strokes: 1")
    page.get_by_role("button", name="Add another view of this digit").click()
    expect(paper).to_have_accessible_name("Draw a digit here")
    button(page, "Cancel").click()
    expect(paper).to_have_accessible_name("Your digit, strokes: 1")
    page.get_by_role("button", name="Add another view of this digit").click()
    expect(paper).to_have_accessible_name("Draw a digit here")
    settle(page)
    draw(paper, [(1 - y, x) for x, y in THREE])  # lying on its side
    expect(page.get_by_text("View", exact=True)).to_be_visible()
    expect(heading(page)).to_contain_text("two ringed angles")
    page.get_by_role("radio", name="1", exact=True).click()
    settle(page)
    draw(paper, [(0.3, 0.5), (0.7, 0.5)])  # into the chosen view
    expect(paper).to_have_accessible_name("Your digit, strokes: 2")
    settle(page)
    page.get_by_role("radio", name="2", exact=True).click()
    expect(paper).to_have_accessible_name("Your digit, strokes: 1")


def rim(area: dict, degrees: float) -> tuple[float, float]:
    """A point beside the centre of a picture, clockwise from its top."""
    w = np.deg2rad(degrees)
    return place(area, 0.5 + 0.3 * np.sin(w), 0.5 - 0.3 * np.cos(w))


def stated(page: Page) -> float:
    """The angle that the address states."""
    expect(page).to_have_url(re.compile("stated="))
    return float(re.search(r"stated=([\d.]+)", page.url)[1])


def expect_stated(page: Page, degrees: float) -> None:
    """The person's angle is in the address, and in the number beside the picture."""
    expect(page).to_have_url(re.compile(rf"stated={degrees:g}(&|$)"))
    expect(page.get_by_label("Angle of your picture in degrees")).to_have_value(f"{degrees:g}")
    ready(page)


def test_the_picture_is_turned_upright_by_mouse_keys_and_number(visit: Visit):
    page = visit.open("/extrapolate?subject=new-3-2&shown=45")
    own = page.get_by_role("slider", name="Your picture: turn it until it is upright")
    leave = button(page, "Leave it to the model")
    expect(leave).to_be_hidden()
    expect(own).to_have_attribute("aria-valuetext", re.compile("the model finds"))
    found = float(own.get_attribute("aria-valuenow"))
    own.scroll_into_view_if_needed()
    area, sent = box(own), len(visit.watch.sent)
    page.mouse.move(*rim(area, 90))
    page.mouse.down()
    page.mouse.move(*rim(area, 130), steps=3)
    expect(own).to_have_attribute("aria-valuetext", re.compile("as you say"))
    assert len(visit.watch.sent) == sent  # while it is dragged nothing goes to the server
    page.mouse.up()
    assert stated(page) == pytest.approx(found + 40, abs=1)

    before = stated(page)
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowLeft"):
        own.press(key)
    expect_stated(page, before - 13)
    page.get_by_label("Angle of your picture in degrees").fill("45")
    page.keyboard.press("Enter")
    expect_stated(page, 45)
    page.reload()
    ready(page)
    expect_stated(page, 45)

    # an angle that the model suggests is chosen by a click on the picture as it would stand then
    offered = page.get_by_label("Angles that the model suggests").get_by_role("button")
    other = offered.and_(page.locator("[aria-pressed=false]")).last
    text = other.inner_text()
    other.click()
    expect_stated(page, float(text.split("°")[0]))
    leave.click()
    expect(page).not_to_have_url(re.compile("stated="))
    expect(own).to_have_attribute("aria-valuenow", f"{found:g}")


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
        page.set_input_files("input[type=file]", file(content))
    elif way == "clipboard":
        page.evaluate(COPY, text)
        page.keyboard.press("Control+V")
    elif way == "button":
        page.evaluate(COPY, text)
        button(page, "Paste a picture").click()
    else:
        page.evaluate(GIVE, [way, "image/png", text])


def file(content: bytes) -> dict:
    return {"name": "three.png", "mimeType": "image/png", "buffer": content}


def test_every_way_in_gives_the_same_and_a_new_picture_replaces_the_old(tabs: Tabs, address: str):
    visit = Visit(tabs, address, permissions=["clipboard-read", "clipboard-write"])
    page = visit.open("/extrapolate?extrapolate.source=Upload", ready=False)
    again = button(page, "Start again")
    expected, round_one = normalise(drawing()).digit, normalise(circle()).digit
    for way in ("choose", "drop", "clipboard", "button"):
        give(page, way, circle())
        ready(page)
        expect_digit(page, round_one)
        page.keyboard.press("Escape")
        give(page, "choose", drawing())  # not a view of the circle
        expect_digit(page, expected)
        page.keyboard.press("Escape")
        expect(heading(page)).to_contain_text("one ringed angle")
        if way == "button":
            button(page, "Copy link").click()
            left_out = page.get_by_role("status").filter(has_text="leaves out your pictures")
            expect(left_out).to_be_visible()
        again.click()
        expect(page.get_by_text("No digit yet")).to_be_visible()
        settle(page)

    # what is no picture ends in one sentence, whichever way it came
    empty, broken = (b"", "The file is empty."), (BROKEN, "The PNG picture is damaged")
    for way, (content, says) in (("choose", empty), ("drop", broken), ("paste", broken)):
        give(page, way, content)
        expect(page.get_by_role("alert")).to_contain_text(says)
        again.click()
        expect(page.get_by_role("alert")).to_have_count(0)
        settle(page)
    page.evaluate("navigator.clipboard.writeText('three')")
    page.keyboard.press("Control+V")
    expect(page.get_by_text("The clipboard holds no picture.")).to_be_visible()
    page.evaluate(GIVE, ["paste", "image/png", 20_000_001 + 1_000_000])
    expect(page.get_by_text("File must be 20.0MB or smaller.")).to_be_visible()
    visit.close()


def test_a_digit_of_a_sheet_with_several_is_clicked(visit: Visit):
    page = visit.open("/extrapolate?extrapolate.source=Upload", ready=False)
    give(page, "choose", pair())
    sheet = page.get_by_alt_text("Your picture three.png")
    expect(sheet).to_be_visible()
    settle(page)
    assert box(sheet)["width"] > 350  # it is not squeezed in beside the buttons
    button(page, "Digit 2").click()
    ready(page)
    expect_digit(page, normalise(drawing()).digit)


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
    shutter = button(page, "Take Photo")
    again = button(page, "Clear photo")
    answer = page.locator("[data-ready=yes], .notice.problem")
    page.wait_for_function("document.querySelector('video')?.readyState >= 2")  # it has a frame
    for _ in range(most):
        expect(shutter).to_be_enabled()
        shutter.click()
        try:
            again.or_(answer).first.wait_for(timeout=PATIENCE / most)  # the chooser folds then
        except TimeoutError:
            continue
        expect(answer.first).to_be_visible()
        settle(page)
        if page.locator("[data-ready=yes]").count():
            return
        again.click()
        expect(answer).to_have_count(0)
    raise AssertionError("no photograph had a digit")


def test_a_photograph_is_the_same_digit(browser: Browser, address: str, tmp_path: Path):
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
        # grain moves the centre by part of a pixel, which rounds to another whole one at most
        found, expected = given_digit(page), normalise(drawing()).digit
        shifts = [(down, across) for down in (-1, 0, 1) for across in (-1, 0, 1)]
        assert (
            min(np.abs(np.roll(found, shift, (0, 1)) - expected).mean() for shift in shifts) < 0.03
        )
        visit.close()
    finally:
        filming.close()


def test_a_cube_is_added_and_truth_and_possibilities_turn_with_the_dial(visit: Visit):
    page = visit.open("/extrapolate?model=cubes&subject=x3y2-z2x2&angle=90")
    tables = page.locator(".turntable")
    expect(tables).to_have_count(2)
    expect(page.locator(".turntable", has_text="possible 6").locator("canvas")).to_have_count(6)
    first = "table => table.querySelector('canvas').toDataURL()"
    before = [at_rest(lambda t=table: t.evaluate(first)) for table in tables.all()]
    page.locator(".grab").press("Home")
    in_link(page, "angle=0")
    for table, picture_before in zip(tables.all(), before, strict=True):
        eventually(lambda t=table, b=picture_before: t.evaluate(first) != b)
    count, paper = page.locator(".builder .count"), page.locator(".builder .paper")
    expect(count).to_contain_text("10")
    paper.press("ArrowUp")
    paper.press("Delete")
    expect(count).to_contain_text("9 of")
    settle(page)
    expect(page).not_to_have_url(re.compile("subject=x3y2-z2x2"))


def test_on_a_phone_the_dial_is_in_sight_and_a_random_digit_is_one(tabs: Tabs, address: str):
    visit = Visit(tabs, address, **PHONE)
    page = visit.open("/extrapolate")
    digit, source = page.locator("canvas.digit"), page.locator(".st-key-extrapolate-source")
    page.get_by_label("Examples").get_by_role("button").nth(2).tap()
    expect(digit).to_be_in_viewport(ratio=0.9)
    ready(page)
    source.get_by_text("Upload", exact=True).tap()
    expect(page.get_by_role("button", name="Paste a picture")).to_be_in_viewport()
    settle(page)
    page.set_input_files("input[type=file]", file(drawing()))
    expect(digit).to_be_in_viewport(ratio=0.9)
    expect(page.get_by_test_id("stFileUploader")).to_be_hidden()  # it is folded
    ready(page)
    page.set_input_files("input[type=file]", file(pair()))
    button(page, "Digit 2").tap()
    ready(page)  # by now what is above the dial has grown
    expect(digit).to_be_in_viewport(ratio=0.9)
    source.get_by_text("Draw", exact=True).tap()
    expect(page.locator(".st-key-extrapolate-canvas .paper")).to_be_in_viewport(ratio=0.9)
    settle(page)
    source.get_by_text("Random", exact=True).tap()
    expect(page.get_by_role("button", name="Another one")).to_be_visible()
    ready(page)
    expect(digit).to_be_in_viewport(ratio=0.9)
    model, drawn = load_pretrained("best"), picture(page)
    scores = picture_scores.score(model, drawn, torch.as_tensor(orientation.grid()))
    assert novelty.verdict(model, drawn, scores, 0.0) != Novelty.NO_DIGIT
    visit.close()
