"""Rotate and Play under the hand, in a real browser."""

import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import Browser, Page, expect

from fgpvae import imagine, load_pretrained, models
from fgpvae.data import object_files
from fgpvae.data.collections import Digits, Films, Own
from fgpvae.runs import checkpoints
from fgpvae.training import presets
from scripts.make_sprites import make
from tests.browser import (
    Tabs,
    Visit,
    Watch,
    angle,
    box,
    button,
    drag,
    heading,
    in_link,
    linked,
    new_page,
    picture,
    point,
    ready,
    settle,
    turned_to,
)
from tests.waiting import at_rest, eventually

CLOSE = 0.03  # mean distance of a canvas from the picture that it shows enlarged


def shows(page: Page, expected: np.ndarray) -> None:
    """Wait until the dial has this picture [H, W]: it is drawn with the next frame."""
    assert np.ptp(expected) > 0.3
    eventually(lambda: np.abs(picture(page) - expected.clip(0, 1)).mean() < CLOSE)


def moved(page: Page, before: np.ndarray) -> None:
    """Wait until the dial shows another picture."""
    eventually(lambda: np.abs(picture(page) - before).max() > 0.2)


def same(page: Page, before: np.ndarray) -> None:
    """Wait until the dial shows this picture of its own again."""
    eventually(lambda: np.abs(picture(page) - before).max() < 0.02)


def test_a_drag_turns_digit_and_truth_and_only_letting_go_tells_the_server(visit: Visit):
    page = visit.open()
    hint = page.locator(".card > .hint")
    expect(hint).to_be_visible()
    before, sent = picture(page), len(visit.watch.sent)
    drag(page, 0, 100)
    turned_to(page, 100)
    moved(page, before)
    three = imagine(load_pretrained("best"), Digits().find("new-3-2"), range(0, 16, 2))
    w = np.deg2rad([97.5])  # the nearest of 48 places
    error = float(((three.images(w) - three.subject.truth_at(w)) ** 2).mean())
    truth = page.locator(".st-key-shell-card-inference-truth")
    expect(truth.locator("dd").first).to_have_text(f"{error:.4f}")
    assert len(visit.watch.sent) == sent
    page.mouse.up()
    in_link(page, "angle=(99|100)")
    assert len(visit.watch.sent) > sent
    expect(hint).to_be_hidden()
    start = angle(page)
    drag(page, 200, 230, radius=0.2)  # the digit itself
    turned_to(page, start + 30)
    page.mouse.up()
    in_link(page, "angle=1[23]")
    page.get_by_label("Angle in degrees", exact=True).fill("-20")
    page.get_by_label("Angle in degrees", exact=True).press("Enter")
    turned_to(page, 340, 0)
    in_link(page, "angle=340")
    # there is no truth for a style that is not its own
    silent = truth.locator(".silent")
    expect(silent).to_be_hidden()
    button(page, "Random style").click()
    expect(silent).to_be_visible()
    in_link(page, "style=")
    button(page, "Undo").click()
    expect(silent).to_be_hidden()
    expect(page).not_to_have_url(re.compile("style="))
    expect(button(page, "Undo")).to_be_disabled()


def test_keys_turn_it_and_give_and_take_views(visit: Visit):
    page = visit.open("/?views=0_4_8_12")
    ring = page.locator(".grab")
    for key, degrees in [
        ("ArrowRight", 1),
        ("ArrowLeft", 0),
        ("Shift+ArrowRight", 22.5),
        ("PageUp", 45),
        ("ArrowDown", 44),
        ("End", 337.5),
        ("Home", 0),
        ("ArrowLeft", 359),
    ]:
        ring.press(key)
        turned_to(page, degrees, 0)
    slide = page.get_by_role("slider", name="Angle slider")  # the same way by the same step
    page.set_viewport_size({"width": 1024, "height": 768})  # of a projector
    expect(slide).to_be_in_viewport(ratio=1)
    for key, degrees in (("ArrowLeft", 358), ("Shift+ArrowLeft", 335.5), ("PageUp", 358)):
        slide.press(key)
        turned_to(page, degrees, 0)
    slide.press("ArrowUp")
    turned_to(page, 359, 0)
    in_link(page, "angle=359")
    ring.press(" ")  # turns by itself, until it is stopped
    expect(ring).not_to_have_attribute("aria-valuenow", "359")
    ring.press(" ")
    ring.press("End")
    ring.press("Enter")
    in_link(page, "views=0_4_8_12_15")
    expect(page.locator(".view[aria-pressed=true]")).to_have_count(5)
    ring.press("Enter")
    in_link(page, "views=0_4_8_12&")


def test_a_finger_turns_the_dial_and_not_the_page(tabs: Tabs, address: str):
    visit = Visit(tabs, address, 390, height=844, has_touch=True)
    page = visit.open("/?views=0_4_8_12")
    eventually(lambda: page.evaluate("document.documentElement.scrollWidth") <= 390)
    stage = page.locator(".stage")
    stage.scroll_into_view_if_needed()
    place = box(stage)
    assert place["x"] >= 0
    assert 280 < place["width"] <= 390 - place["x"]
    fingers = page.context.new_cdp_session(page)

    def touch(kind: str, *at: float) -> None:
        points = [{"x": at[0], "y": at[1]}] if at else []
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", *point(page, 0))
    for degrees in range(0, 91, 10):
        touch("touchMove", *point(page, degrees))
    turned_to(page, 90)
    assert box(stage) == place  # it was not scrolled
    touch("touchEnd")
    in_link(page, "angle=90")
    box(stage)  # the page is at rest again
    page.touchscreen.tap(*point(page, 214))  # between two dots
    turned_to(page, 214)
    in_link(page, "angle=21[345]")
    box(stage)
    page.touchscreen.tap(*point(page, 49))
    in_link(page, "views=0_2_4_8_12")
    # while the last of the sliders is moved, a small digit is in sight
    page.locator(".sliders .row").nth(7).scroll_into_view_if_needed()
    expect(page.locator("canvas.small")).to_be_in_viewport(ratio=0.9)
    visit.close()


def test_sliders_change_the_picture_and_weights_come_once(visit: Visit):
    with visit.page.expect_response("**/weights/*") as loaded:
        page = visit.open()
    assert "immutable" in loaded.value.headers["cache-control"]
    assert page.request.get(f"{visit.address}/weights/none").status == 404
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    own, sent = picture(page), len(visit.watch.sent)
    slant = page.locator(".sliders input").first
    slant.evaluate("input => { input.value = input.max; input.dispatchEvent(new Event('input')) }")
    expect(button(page, "Undo")).to_be_disabled()  # it has not been let go
    moved(page, own)
    assert len(visit.watch.sent) == sent
    slanted = at_rest(lambda: picture(page))
    slant.dispatch_event("change")
    in_link(page, "style=")
    slant.dblclick()
    expect(page).not_to_have_url(re.compile("style="))
    same(page, own)
    for name in ("Random style", "From the paper's prior"):
        before = page.url
        button(page, name).click()
        expect(page).not_to_have_url(before)  # what is not committed cannot be taken back
        in_link(page, "style=")
        moved(page, own)
    for _ in range(3):  # both styles and the double click
        button(page, "Undo").click()
    same(page, slanted)
    expect(page).to_have_url(re.compile("style="))
    button(page, "Its own style").click()
    expect(page).not_to_have_url(re.compile("style="))
    settle(page)
    count = page.locator(".sliders input:visible").count()
    page.locator(".more summary").click()
    assert page.locator(".sliders input:visible").count() > count
    assert not [url for url in asked if "/weights/" in url]
    page.evaluate("fgpvae.networks.clear()")
    page.get_by_role("group", name="Digits to pick from").locator("[data-name=new-3-6]").click()
    in_link(page, "subject=new-3-6")
    page.wait_for_function("fgpvae.networks.size === 1")  # asked for again where it is lost


def test_a_shared_link_opens_the_same_picture(visit: Visit, tabs: Tabs, address: str):
    page = visit.open("/?subject=7-12&views=0_3_9")
    drag(page, 0, 120)
    page.mouse.up()
    in_link(page, "angle=1")
    button(page, "Random style").click()
    in_link(page, "style=")
    mine, other = at_rest(lambda: picture(page)), Visit(tabs, address)
    again = other.open(page.url.removeprefix(address))
    same(again, mine)
    assert (angle(again), linked(again, "subject")) == (angle(page), "7-12")
    other.close()


def turns_offline(browser: Browser, file: Path) -> None:
    """A dial from a file, without network on a phone: it turns and draws what the model draws."""
    phone = {"width": 390, "height": 844}
    page, asked = new_page(browser, viewport=phone, has_touch=True, offline=True), []
    watch = Watch(page)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("[data-ready=yes]")
    turned_to(page, 45, 0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    three = imagine(load_pretrained("best"), Digits().find("new-3-2"), range(0, 16, 2))
    shows(page, three.images([np.pi / 4])[0])
    drag(page, 45, 90)
    page.mouse.up()
    turned_to(page, 90)
    before = picture(page)
    page.locator(".sliders input").first.press("End")
    moved(page, before)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert watch.errors == []
    page.context.close()


def test_everything_can_be_taken_along(visit: Visit, tmp_path: Path):
    page, found = visit.open("/?angle=45"), {}
    for label in ("Picture", "GIF", "Video", "Dial", "Latents, JSON"):
        with page.expect_download() as download:
            button(page, label).click()
        found[label] = Path(download.value.path()).read_bytes()
    assert Image.open(io.BytesIO(found["Picture"])).size == (1024, 1024)
    assert Image.open(io.BytesIO(found["GIF"])).n_frames > 20
    assert json.loads(found["Latents, JSON"])["angle"] == 45
    assert len(found["Video"]) > 1000  # a busy browser records few frames
    (tmp_path / "dial.html").write_bytes(found["Dial"])
    turns_offline(visit.tabs.browser, tmp_path / "dial.html")


TRAILS = "lines => lines.map(line => line.getAttribute('points')).join()"


def plays(page: Page) -> None:
    """The dot of the mean path moves, the paths stay."""
    lines, dot = page.locator(".trails polyline"), page.locator(".trails circle.mean")
    expect(lines).to_have_count(13)
    paths, before = lines.evaluate_all(TRAILS), dot.get_attribute("cx")
    page.locator("button.play").click()
    expect(dot).not_to_have_attribute("cx", before)
    page.locator("button.play").click()
    assert lines.evaluate_all(TRAILS) == paths


def test_a_film_plays_also_from_a_file_and_a_frame_less_spreads_its_paths(
    visit: Visit, tmp_path: Path
):
    page, film = visit.open("/rotate?model=films&subject=12"), Films().find("12")
    with page.expect_download() as download:
        button(page, "Dial").click()
    download.value.save_as(tmp_path / "film.html")
    alone = new_page(visit.tabs.browser, offline=True)
    watch = Watch(alone)
    alone.goto((tmp_path / "film.html").as_uri())
    alone.wait_for_selector("[data-ready=yes]")
    for each in (alone, page):
        shows(each, imagine(load_pretrained("films"), film, film.first_views).images([0.0])[0])
        plays(each)
    assert watch.errors == []
    alone.context.close()
    in_link(page, "angle=")
    lines, seen = page.locator(".trails polyline"), page.locator(".view[aria-pressed=true]")
    paths = lines.evaluate_all(TRAILS)
    expect(seen).to_have_count(4)
    seen.nth(1).evaluate("button => button.click()")
    expect(seen).to_have_count(3)
    in_link(page, r"views=\d+_\d+_\d+(&|$)")
    eventually(lambda: lines.evaluate_all(TRAILS) != paths)
    truth = page.locator(".st-key-shell-card-inference-truth dd").first
    told = truth.inner_text()
    page.locator(".grab").press("Home")
    expect(truth).not_to_have_text(told)


@pytest.fixture
def own_objects(every_kind: Path) -> Iterator[Own]:
    """A run on coloured objects on a line, beside the others while a test uses it."""
    content, path = io.BytesIO(), every_kind / "line"
    np.savez(content, **make(objects=12, views=8, height=16, width=16))
    found = object_files.parse(content.getvalue(), "line")
    small = ["model.network.widths=[24]", "model.latents=8", "model.local=3", "model.amplitude=0.5"]
    kernel = "squared-exponential"
    config = presets.changed(presets.for_objects(found, "line", 0.0, kernel), small)
    torch.manual_seed(1)
    model = models.build(config.model).eval()
    with torch.no_grad():
        for parameter in model.decoder.parameters():
            parameter.mul_(1.5)
    path.mkdir()
    checkpoints.save_config(config, path)
    checkpoints.save_model(model, path / checkpoints.WEIGHTS)
    (path / checkpoints.OBJECTS_FILE).write_bytes(object_files.pack(found))
    run = checkpoints.load_config(path)
    yield Own(checkpoints.load_objects(path), run.data.track, run.seed)
    shutil.rmtree(path)


def test_an_object_of_ones_own_moves_along_a_line(visit: Visit, own_objects: Own):
    page = visit.open("/rotate?model=runs%2Fline")
    low, high = own_objects.track.ends
    reading = page.locator(".reading .angle")
    expect(reading).to_have_text(f"{(low + high) / 2:.2f}")
    before = page.locator("canvas.digit").evaluate("canvas => canvas.toDataURL()")
    rail = box(page.locator(".rail"))
    y = rail["y"] + rail["height"] / 2
    page.mouse.move(rail["x"] + rail["width"] / 2, y)
    page.mouse.down()
    for share in (0.6, 0.8, 1.3):  # beyond its end
        page.mouse.move(rail["x"] + share * rail["width"], y)
    expect(reading).to_have_text(f"{high:.2f}")
    page.mouse.up()
    in_link(page, "angle=100")
    assert page.locator("canvas.digit").evaluate("canvas => canvas.toDataURL()") != before
    page.get_by_role("radio", name="Training objects", exact=True).click()
    other = own_objects.subjects(False)[1]
    page.get_by_role("group", name="Objects to pick from").locator(
        f"[data-name='{other.id}']"
    ).click()
    in_link(page, f"subject={other.id}")
    given = other.first_views
    page.locator(".view[aria-pressed=true]").first.evaluate("button => button.click()")
    in_link(page, f"views={'_'.join(map(str, given[1:]))}(&|$)")


def test_the_guided_visit_asks_then_shows_and_is_remembered(visit: Visit):
    page = visit.open("/rotate")

    def press_button(name: str) -> None:
        page.get_by_role("button", name=name).click()
        settle(page)

    page.set_viewport_size({"width": 390, "height": 844})
    press_button("New here?")
    expect(page).to_have_url(re.compile("angle=0&.*views=0&"))  # one dot, as the question says
    header = page.get_by_test_id("stHeader").bounding_box()["height"]
    assert page.get_by_text("1 of 5: The model sees").bounding_box()["y"] >= header  # not below it
    press_button("Show me")
    expect(page).to_have_url(re.compile("angle=180.*views=0&"))
    turned_to(page, 180)
    expect(page.locator(".stage")).to_be_in_viewport(ratio=0.95)
    settle(page)
    page.locator(".view").nth(4).evaluate("button => button.click()")
    in_link(page, "views=0_4&")
    page.set_viewport_size({"width": 1360, "height": 900})
    press_button("Next")
    press_button("Show me")
    expect(page).to_have_url(re.compile("model=paper"))
    expect(heading(page)).to_contain_text("one ringed angle")
    press_button("Next")
    press_button("Show me")
    expect(page).to_have_url(re.compile("model=best.*style="))
    press_button("Next")
    press_button("Show me")
    expect(page).to_have_url(re.compile("views=0&"))  # the browser sends the click again
    page.locator(".st-key-shell-card-rotate-guide").get_by_role("link", name="Extrapolate").click()
    expect(page.locator("svg.paper")).to_be_visible()
    expect(page).to_have_url(re.compile("model=best"))  # which takes all ten digits
    settle(page)
    page.locator(".st-key-shell-menu").get_by_role("link", name="Rotate", exact=True).click()
    page.get_by_role("heading", level=1, name="Rotate").wait_for()
    settle(page)
    press_button("Next")
    press_button("Show me")
    expect(page).to_have_url(re.compile("model=films"))
    press_button("Done")
    page.wait_for_function("document.cookie.includes('fgpvae_guide')")
    page.reload()
    ready(page)
    expect(button(page, "Guided visit")).to_be_visible()
