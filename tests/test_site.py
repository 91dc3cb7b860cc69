"""The laboratory in one HTML file, opened from disk: its numbers are those of the package."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect

from fgpvae import UserError
from fgpvae.browser import site
from fgpvae.browser.imagined import imagine
from fgpvae.data.collections import Digits, Films
from fgpvae.images import normalise
from fgpvae.models import Model
from fgpvae.orientation.picture_scores import as_seen
from fgpvae.runs.checkpoints import load_pretrained
from tests.browser import STILL, Watch, box, draw, new_page
from ui.components.canvas import to_png

THREE = [(0.3, 0.25), (0.5, 0.18), (0.68, 0.28), (0.48, 0.5), (0.7, 0.7), (0.52, 0.84), (0.3, 0.76)]
PAPER = "#canvas .paper"
DIAL = "(key) => fgpvae.poses.get(key)"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    page = Path(site.build(tmp_path_factory.mktemp("site") / "new", site.APP)["page"])
    assert page.stat().st_size < 6e6
    return page


@pytest.fixture
def page(browser: Browser, built: Path) -> Iterator[Page]:
    """The page from its file; it asks for nothing else and has no errors."""
    page = new_page(browser, viewport={"width": 1000, "height": 900})
    watch, asked = Watch(page), []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(built.as_uri())
    page.wait_for_selector("body[data-ready=yes]")
    yield page
    page.context.close()
    assert not watch.errors
    assert {url for url in asked if not url.startswith("data:")} == {built.as_uri()}


@pytest.fixture(scope="module")
def best() -> Model:
    return site.quantised(load_pretrained("best"))


def pixels(page: Page, key: str, degrees: float) -> np.ndarray:
    """What a dial draws at an angle, before it is enlarged."""
    code = f"([key, at]) => {{ const live = ({DIAL})(key); return [...live.picture.decode("
    return np.array(page.evaluate(f"{code}at, live.values())]; }}", [key, degrees]))


def given(page: Page, key: str) -> list[dict]:
    """The views that the posterior of a dial was given."""
    return page.evaluate(
        f"(key) => ({DIAL})(key).picture.scene.code.views.map((view) => "
        "({ w: view.w, image: [...(view.image ?? [])] }))",
        key,
    )


def test_drawings_are_views_that_are_turned_as_the_package_turns_them(page: Page, best: Model):
    draw(page.locator(PAPER), THREE)
    dial = page.locator("#drawn")
    expect(dial.locator("[data-ready=yes]")).to_be_visible()
    (view,) = given(page, "draw")
    image = np.array(view["image"], dtype=np.float32).reshape(28, 28)
    app = as_seen(normalise(to_png((tuple(THREE),))).digit, 0.0)
    assert np.abs(image - app).mean() < 0.03  # ink is 0.13 of a picture
    dial.locator(".slide").fill("60")
    expect(dial.locator(".grab")).to_have_attribute("aria-valuenow", "60")
    at = torch.tensor([[np.pi / 3]])
    expected = best.generate(torch.tensor(image)[None, None], torch.zeros(1, 1), at)[0, 0]
    np.testing.assert_allclose(pixels(page, "draw", 60), expected.ravel(), atol=1e-3)

    page.locator("#add").click()
    expect(page.locator("#turned")).to_have_value("90")
    draw(page.locator(PAPER), [(y, 1 - x) for x, y in THREE])  # a quarter turn, counter-clockwise
    expect(page.locator("#views")).to_contain_text("Views: 2")
    views = given(page, "draw")
    images = torch.tensor([view["image"] for view in views]).view(1, 2, 28, 28)
    assert float((images[0, 0].rot90() - images[0, 1]).abs().mean()) < 0.02
    w = torch.tensor([[view["w"] for view in views]])
    expected = best.generate(images, w, torch.tensor([[2.0]]))[0, 0]
    drawn = pixels(page, "draw", float(np.rad2deg(2.0)))
    np.testing.assert_allclose(drawn, expected.ravel(), atol=1e-3)
    page.locator("#again").click()
    expect(page.locator("#drawn")).to_be_hidden()


def test_a_digit_of_the_gallery_turns_morphs_and_swaps(page: Page, best: Model):
    a, b = (Digits().subjects(True, label)[1] for label in (3, 5))
    seen, other = (imagine(best, each, [0]) for each in (a, b))
    expected = seen.images([np.pi / 2])[0]
    np.testing.assert_allclose(pixels(page, "rotate", 90), expected.ravel(), atol=5e-3)  # float16
    page.locator("#pick-b").click()
    page.locator("#gallery button").nth(5 * site.DIGITS + 1).click()
    expect(page.locator("#swap")).to_be_visible()
    page.locator("#sliders .morph input").fill("1")
    style = page.evaluate(f"[...({DIAL})('rotate').values()]")
    np.testing.assert_allclose(style, other.own, atol=5e-3)


def test_the_trail_of_a_film_follows_its_frames(page: Page):
    page.locator("#reel button").nth(5).click()
    dots = page.locator("#track .view")
    for index in (12, 20):
        dots.nth(index).dispatch_event("click")  # as from the keyboard
        expect(dots.nth(index)).to_have_attribute("aria-pressed", "true")
    film = Films().subjects(True)[5]
    views = sorted([*film.first_views, 12, 20])
    model = site.quantised(load_pretrained("films"), site.FEW)
    trails = imagine(model, film, views).trails(np.linspace(-1, 1, 47), 1)
    assert trails is not None
    text = page.locator("#track polyline.mean").get_attribute("points") or ""
    shown = np.array([[float(v) for v in pair.split(",")] for pair in text.split()])
    np.testing.assert_allclose(shown, trails[0], atol=1e-3)


def test_the_page_is_for_everyone_and_fits_on_a_phone(page: Page):
    draw(page.locator(PAPER), THREE)
    expect(page.locator("#drawn")).to_be_visible()
    page.locator("#pick-b").click()
    page.locator("#gallery button").nth(4).click()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(STILL)
        found = Axe().run(page, options={"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]})
        assert not found.response["violations"]
    page.set_viewport_size({"width": 380, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 380
    dot = page.locator("#track .view").nth(6)  # close to the handle, which is at the next dot
    dot.scroll_into_view_if_needed()
    area = box(dot)
    page.mouse.click(area["x"] + area["width"] / 2, area["y"] + area["height"] / 2)
    expect(dot).to_have_attribute("aria-pressed", "true")


def test_without_the_components_there_is_no_site(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setattr(site, "COMPONENTS", tmp_path)
    with pytest.raises(UserError, match="repository"):
        site.build(tmp_path, site.APP)
