"""Rotate and Extrapolate in a real browser, as a person uses them."""

import base64
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Browser, Locator, Page, expect

from fgpvae import load_pretrained
from fgpvae.data import ANGLES
from fgpvae.digit_view import turn, verdict
from fgpvae.style_directions import PROPERTIES
from tests.browser import PATIENCE, Tabs, Watch, settle
from tests.test_dial import point
from ui.catalog import digits, models
from ui.inference import context_views, style_names


class Visit:
    """A tab, and all that goes wrong in it."""

    def __init__(self, tabs: Tabs, address: str, width: int = 1360, **options) -> None:
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
        self.page.goto(self.address + path)
        if ready:
            self.page.wait_for_selector("[data-ready=yes]")
        else:
            self.page.wait_for_selector("h1")
        settle(self.page, PATIENCE)
        return self.page

    def close(self) -> None:
        boxes = self.page.locator("[data-testid=stException]").count()
        self.page.remove_listener("response", self._answer)
        self.tabs.close(self.page)
        errors = [text for text in self.watch.errors if "Failed to load resource" not in text]
        assert errors == []
        assert self.refused == []
        assert boxes == 0


@pytest.fixture
def visit(tabs: Tabs, address: str) -> Iterator[Visit]:
    visit = Visit(tabs, address)
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
    return page.get_by_role("group", name="16 angles", exact=True)


def uploaded(name: str, content: bytes) -> dict:
    return {"name": name, "mimeType": "image/png", "buffer": content}


# --- Rotate ---


def test_a_shared_link_opens_the_same_picture(visit: Visit, tabs: Tabs, address: str):
    page = visit.open("/?digit=7-12&views=0_3_9")
    drag(page, 0, 120)
    page.mouse.up()
    expect(page).to_have_url(re.compile("angle=1"))
    page.get_by_role("button", name="Random style", exact=True).click()
    expect(page).to_have_url(re.compile("style="))
    expect(heading(page)).to_contain_text("nobody has written")
    settle(page, PATIENCE)
    mine, other = picture(page), Visit(tabs, address)
    again = other.open(page.url.removeprefix(address))
    np.testing.assert_allclose(picture(again), mine, atol=0.01)
    assert pose(again)["angle"] == pytest.approx(pose(page)["angle"], abs=0.01)
    other.close()


def test_digits_strip_views_and_morph(visit: Visit):
    page = visit.open()
    gallery = page.get_by_role("group", name="Digits to pick from", exact=True)
    first = picture(page)
    drag(page, 0, 90)
    assert np.abs(picture(page) - first).max() > 0.2
    page.mouse.up()
    expect(page).to_have_url(re.compile("angle=90"))
    expect(strip(page).locator("[aria-pressed=true]")).to_have_attribute(
        "aria-label", re.compile("^90 degrees")
    )
    settle(page, PATIENCE)
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


# the size of a film, once the browser can show its pictures
FILM = """async (text) => {
  const film = document.createElement("video");
  film.src = URL.createObjectURL(new Blob([Uint8Array.from(atob(text), (each) => each.charCodeAt(0))]));
  await new Promise((resolve, reject) => Object.assign(film, { onloadeddata: resolve, onerror: reject }));
  return [film.videoWidth, film.videoHeight];
}"""  # noqa: E501


def turns_offline(browser: Browser, content: bytes, file: Path) -> None:
    """A dial from a file, without network on a phone: it turns and draws what the model draws."""
    file.write_bytes(content)
    context = browser.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, offline=True
    )
    context.set_default_timeout(PATIENCE)
    page, asked = context.new_page(), []
    watch = Watch(page)
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.wait_for_selector("[data-ready=yes]")
    assert pose(page)["angle"] == 45
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    digit = digits.parse("new-3-2")
    shown = turn(
        load_pretrained("best"), digit.views(), ANGLES, context_views.mask(range(0, 16, 2))
    )
    np.testing.assert_allclose(picture(page), shown.images([np.pi / 4])[0].ravel(), atol=1e-2)
    page.get_by_role("slider", name="Angle of the digit in degrees", exact=True).press("Home")
    slider = page.get_by_role("slider", name="Angle slider", exact=True)
    expect(slider).to_have_value("0")  # it follows with the next frame
    slider.press("ArrowRight")
    assert pose(page)["angle"] == 0.5
    drag(page, 0.5, 90)
    page.mouse.up()
    assert pose(page)["angle"] == pytest.approx(90, abs=1)
    page.get_by_label("slant").press("End")
    style = pose(page)["style"]
    expected = shown.images([np.deg2rad(pose(page)["angle"])], style)[0]
    np.testing.assert_allclose(picture(page), expected.ravel(), atol=1e-2)
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert watch.errors == []
    context.close()


def figures(page: Page) -> dict[str, str] | None:
    """What the card says against the truth, null if it is silent."""
    return page.locator("section.truth").evaluate(
        "section => section.getRootNode().host.fgpvae.figures()"
    )


def beside_at(page: Page, angle: float) -> np.ndarray:
    """What the second model draws at an angle in degrees, in the style that it has now."""
    pixels = page.locator(".stage").evaluate(
        "(stage, angle) => stage.getRootNode().host.fgpvae.decodeBeside(angle)", angle
    )
    return np.array(pixels)


def following(moved: np.ndarray, own: np.ndarray) -> np.ndarray:
    """The style of `paper` when that of `best` has moved: as far in each property of both."""
    first, second = (
        {style.name: style for style in style_names.names(models.find(name), 3)}
        for name in ("best", "paper")
    )
    named = [name for name in PROPERTIES if name in first and name in second]
    return own + sum((moved @ first[name].reading) * second[name].direction for name in named)


def uncovered(page: Page, hint: Locator) -> bool:
    """The hint lies outside the circle around the ring."""
    box, stage = hint.bounding_box(), page.locator(".stage").bounding_box()
    x = stage["x"] + stage["width"] / 2 - (box["x"] + box["width"])
    y = stage["y"] + stage["height"] / 2 - (box["y"] + box["height"])
    return min(x, y) > 0 and np.hypot(x, y) >= 0.47 * stage["width"]


def test_the_truth_follows_the_finger_until_the_style_is_another(visit: Visit):
    page = visit.open("/?rotate.beside=paper")
    hint = page.get_by_text("Drag the ring to turn it.")
    expect(hint).to_be_visible()
    assert uncovered(page, hint)
    sent = len(visit.watch.sent)
    drag(page, 0, 100)
    page.wait_for_timeout(200)  # a frame, on a busy machine
    w, digit = np.deg2rad(pose(page)["angle"]), digits.parse("new-3-2")
    assert len(visit.watch.sent) == sent
    seen, true = context_views.mask(range(0, 16, 2)), digit.at(w)
    best, paper = (
        turn(load_pretrained(name), digit.views(), ANGLES, seen) for name in ("best", "paper")
    )
    told = verdict(best, w, true, mean=digits.mean_image(3, w))
    found = {name: float(text.strip("± ")) for name, text in figures(page).items()}
    assert found.pop("pixel sd") == pytest.approx(told.pixel_sd, abs=6e-4)  # three decimals
    assert found == pytest.approx(
        {
            "MSE here": told.mse,
            "paper": verdict(paper, w, true).mse,
            "geometric rotation": told.geometric,
            "mean image": told.mean_image,
        },
        abs=6e-5,
    )
    page.mouse.up()
    expect(hint).to_be_hidden()
    expect(page).to_have_url(re.compile("angle=1?[0-9]"))
    assert len(visit.watch.sent) > sent
    settle(page, PATIENCE)
    undo = page.get_by_role("button", name="Undo", exact=True)
    expect(undo).to_be_disabled()
    page.get_by_role("button", name="Random style", exact=True).click()
    expect(page).to_have_url(re.compile("style="))
    assert figures(page) is None
    expect(page.get_by_text("there is no true picture")).to_be_visible()
    undo.click()
    expect(page).not_to_have_url(re.compile("style="))
    expect(undo).to_be_disabled()
    assert figures(page)["MSE here"] == f"{told.mse:.4f}"

    # the second model follows in the properties that both have a direction for
    expect(page.get_by_text(re.compile("paper follows best in .*stroke weight"))).to_be_visible()
    before = beside_at(page, 0)
    for name in ("stroke weight", "style 1"):
        page.locator(".row", has_text=name).get_by_role("slider").press("End")
        moved = np.array(pose(page)["style"]) - best.own
        expected = paper.images(np.zeros(1), following(moved, paper.own))[0]
        np.testing.assert_allclose(beside_at(page, 0), expected.ravel(), atol=2e-3)
    assert np.abs(beside_at(page, 0) - before).max() > 0.2
    expect(page).to_have_url(re.compile("style="))  # the server has the moves of both sliders
    settle(page)
    page.get_by_role("button", name="Its own style", exact=True).click()
    expect(page).not_to_have_url(re.compile("style="))
    settle(page)

    page.evaluate(
        """() => {
          navigator.clipboard.writeText = () => Promise.reject(new Error("forbidden"));
          document.execCommand = () => false;
        }"""
    )
    page.get_by_role("button", name="Copy link", exact=True).click()
    link = page.get_by_label("The address of this page", exact=True)
    expect(link).to_have_value(page.url)
    assert link.evaluate("input => input.selectionEnd - input.selectionStart") == len(page.url)
    expect(page.get_by_role("button", name="Copy link", exact=True)).to_be_visible()
    page.reload()
    page.wait_for_selector("[data-ready=yes]")
    expect(hint).to_be_hidden()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy link", exact=True).click()
    expect(page.get_by_role("button", name="Copied", exact=True)).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_everything_can_be_taken_along(visit: Visit, tmp_path: Path):
    page = visit.open("/?angle=45")
    found = {}
    for label in ("Picture", "Full turn", "Film", "Dial", "Latents, JSON", "Latents, CSV"):
        with page.expect_download() as download:
            page.get_by_role("button", name=label, exact=True).click()
        found[label] = Path(download.value.path()).read_bytes()
    assert Image.open(io.BytesIO(found["Picture"])).size == (1024, 1024)
    assert Image.open(io.BytesIO(found["Full turn"])).n_frames > 20
    assert json.loads(found["Latents, JSON"])["angle_degrees"] == 45
    assert found["Latents, CSV"].startswith(b"channel,kind,mean,sd\n1,local,")
    assert page.evaluate(FILM, base64.b64encode(found["Film"]).decode()) == [728, 728]
    turns_offline(visit.tabs.browser, found["Dial"], tmp_path / "dial.html")


# --- both ---


def assert_room_of_the_dial(page: Page) -> None:
    """What is kept free for it before its script has come is what it takes then."""
    kept, taken = page.evaluate(
        """() => {
          const ring = document.querySelector(".st-key-rotate-ring, .st-key-extrapolate-ring");
          const { height } = ring.querySelector("[class*=-dial]").getBoundingClientRect();
          return [parseFloat(getComputedStyle(ring, "::before").paddingTop), height];
        }"""
    )
    assert kept == pytest.approx(taken, abs=3)


@pytest.mark.parametrize("width", [1000, 1280, 1360, 1600])
def test_cards_below_the_dial_stay_when_its_script_comes(tabs: Tabs, address: str, width: int):
    visit = Visit(tabs, address, width)
    assert_room_of_the_dial(visit.open())
    visit.close()


@pytest.mark.parametrize("path", ["/", "/extrapolate"])
def test_a_narrow_screen_has_the_dial_first_and_no_sideways_scrolling(
    tabs: Tabs, address: str, path: str
):
    visit = Visit(tabs, address, 380, height=800, has_touch=True)
    page = visit.open(path)
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    stage = page.locator(".stage").bounding_box()
    style = page.get_by_role("heading", name="Style", exact=True).bounding_box()
    assert stage["x"] >= 0
    assert stage["x"] + stage["width"] <= 380
    assert stage["width"] > 280
    assert style["y"] > stage["y"] + stage["height"]
    assert_room_of_the_dial(page)
    # while the last of the sliders is moved, a small digit is in sight
    page.locator(".sliders .row").nth(7).scroll_into_view_if_needed()
    page.wait_for_timeout(300)
    small = page.locator("canvas.small").bounding_box()
    header = page.get_by_test_id("stHeader").bounding_box()
    assert small["y"] >= header["y"] + header["height"] - 1
    assert small["y"] + small["height"] <= 800
    assert small["width"] >= 100
    visit.close()
