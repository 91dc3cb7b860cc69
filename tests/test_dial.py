"""The live component: what is sent, what the browser makes of it, and how it behaves."""

import io
import re
from collections.abc import Iterator

import numpy as np
import pytest
import torch
from PIL import Image
from playwright.sync_api import Locator, Page, expect
from streamlit.testing.v1 import AppTest
from torch import nn

from fgpvae import scenes
from fgpvae.data import ANGLES, Views
from fgpvae.errors import UserError
from fgpvae.models import FGPVAE, FGPVAEConfig, Model, build
from tests.apps import dial_app
from tests.browser import ROOT, Tabs, Watch, serve, settle
from tests.configs import model_config
from ui.shell import palette

APP = ROOT / "tests" / "apps" / "dial_app.py"
NAMES = list(dial_app.CONFIGS)


# --- colours ---


def linear(colour: str) -> np.ndarray:
    value = np.array([int(colour[k : k + 2], 16) for k in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb: np.ndarray) -> np.ndarray:
    """CIELAB (D65) of linear sRGB [..., 3]."""
    matrix = np.array(
        [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    )
    t = rgb @ matrix.T / matrix.sum(1)
    f = np.where(t > (6 / 29) ** 3, np.cbrt(t), t / (3 * (6 / 29) ** 2) + 4 / 29)
    x, y, z = np.moveaxis(f, -1, 0)
    return np.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], -1)


# Machado, Oliveira and Fernandes (2009), full severity
BLINDNESS = {
    "none": np.eye(3),
    "protan": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],  # noqa: E501
    "deutan": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],  # noqa: E501
    "tritan": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],  # noqa: E501
}  # fmt: skip


def test_angle_colours_have_one_lightness_and_no_jump():
    fine = np.linspace(0, 2 * np.pi, 360, endpoint=False)
    values = lab(np.array([linear(colour) for colour in palette.angle_colours(fine)]))
    assert np.ptp(values[:, 0]) < 2
    steps = np.linalg.norm(np.roll(values, -1, 0) - values, axis=-1)
    assert steps.max() < 2.5  # one degree is never a visible edge, at 359 neither
    assert palette.angle_colour(0) == palette.angle_colour(2 * np.pi) == palette.CYCLE[0]


@pytest.mark.parametrize("kind", BLINDNESS)
def test_angle_colours_differ_for_everyone(kind: str):
    rgb = np.array([linear(colour) for colour in palette.angle_colours(ANGLES)])
    seen = lab((rgb @ np.array(BLINDNESS[kind]).T).clip(0, 1))
    difference = np.linalg.norm(seen[:, None] - seen, axis=-1)
    index = np.arange(16)
    apart = np.minimum((index[:, None] - index) % 16, (index - index[:, None]) % 16)
    assert difference[apart >= 3].min() > 6  # above what can be told apart side by side
    assert difference[apart == 8].min() > 6  # opposite angles


# --- what is sent ---


@pytest.mark.parametrize("name", NAMES)
def test_the_series_is_the_posterior(name: str):
    model = dial_app.build(name)
    scene = dial_app.scene(model, 361, [1, 5, 6])
    w = torch.linspace(-3, 9, 50, dtype=torch.float64)
    images = torch.as_tensor(dial_app.views(361))[None]
    observed = torch.as_tensor(scene.observed)[None]
    posterior = model.infer(images, torch.as_tensor(ANGLES)[None], observed)
    with torch.no_grad():
        expected = posterior.mean(w[None])[0].numpy()
        variance = posterior.unknown(w[None])[0].numpy()
    np.testing.assert_allclose(scene.at(w.numpy()), expected, atol=1e-5)
    np.testing.assert_allclose(scene.unknown(w.numpy()), variance, atol=1e-5)
    np.testing.assert_allclose(scene.own, posterior.style()[0][0].numpy(), atol=1e-6)
    assert scene.at(0.3, style=np.arange(len(scene.own)))[scene.styles].tolist() == list(
        range(len(scene.own))
    )


def tiny(name: str) -> Model:
    """A small model that has seen six digits at the sixteen angles."""
    torch.manual_seed(0)
    model = build(model_config(name=name, latents=6, local=3, digit_rank=2)).eval()
    digits = np.stack([dial_app.views(digit) for digit in range(6)])
    known = Views(
        images=torch.as_tensor(digits),
        angles=torch.as_tensor(ANGLES).repeat(6, 1),
        observed=torch.ones(6, 16, dtype=torch.bool),
        ids=torch.arange(6),
        labels=torch.full((6,), 3),
    )
    model.prepare(lambda: known)
    model.condition(lambda: known)
    return model.eval()


@pytest.mark.parametrize("name", ["fgpvae", "cvae", "gpvae", "gpvae-amortised"])
def test_every_model_that_turns_draws_what_it_generates(name: str):
    model = tiny(name)
    views, ids = torch.as_tensor(dial_app.views(4)), torch.tensor([4])
    observed = torch.arange(16) % 3 == 0
    scene = scenes.scene(model, views, ANGLES, observed, ids)
    at = torch.tensor([[0.0, 0.3, 2.7, 5.0]], dtype=torch.float64)
    w = torch.as_tensor(ANGLES)[None]
    expected = model.generate(views[None], w, at, observed[None], ids=ids)[0]
    with torch.no_grad():
        drawn = model.decode(torch.as_tensor(scene.at(at[0].numpy())))
    np.testing.assert_allclose(drawn, expected, atol=1e-5)


def test_a_model_without_angles_has_no_scene():
    with pytest.raises(UserError, match="VAE"):
        scenes.scene(tiny("vae"), dial_app.views(0), ANGLES)


def test_a_model_without_local_channels_has_no_uncertainty():
    model = FGPVAE(FGPVAEConfig(latents=4, local=0)).eval()
    assert scenes.scene(model, dial_app.views(0), ANGLES).variance is None


def test_weights_that_are_not_finite_are_an_error():
    model = dial_app.build("paper")
    with torch.no_grad():
        model.encoder.layers[-1].bias.fill_(torch.nan)
    with pytest.raises(UserError, match="finite"):
        scenes.scene(model, dial_app.views(0), ANGLES)


def test_another_period_keeps_its_frequency():
    torch.manual_seed(0)
    model = FGPVAE(FGPVAEConfig(latents=6, local=4, period=np.pi, length_scale=0.7)).eval()
    scene = scenes.scene(model, dial_app.views(3), ANGLES)
    np.testing.assert_allclose(scene.at(0.4), scene.at(0.4 + np.pi), atol=1e-6)
    posterior = model.infer(
        torch.as_tensor(dial_app.views(3))[None],
        torch.as_tensor(ANGLES)[None],
        torch.ones(1, 16, dtype=torch.bool),
    )
    at = torch.tensor([[0.4, 2.0]], dtype=torch.float64)
    np.testing.assert_allclose(
        scene.at(at[0].numpy()), posterior.mean(at)[0].detach().numpy(), atol=1e-5
    )


def test_weights_are_packed_once_and_again_when_they_change():
    model = dial_app.build("wide")
    first = scenes.network(model)
    assert scenes.network(model) is first
    with torch.no_grad():
        model.decoder.layers[0].bias.add_(1)
    second = scenes.network(model)
    assert second.id != first.id
    assert len(second.blob) == len(first.blob)


def test_scenes_are_kept_until_the_weights_change():
    model, views = dial_app.build("wide"), dial_app.views(3)
    first = scenes.scene(model, views, ANGLES)
    assert scenes.scene(model, views.copy(), ANGLES) is first
    fewer = scenes.scene(model, views, ANGLES, ANGLES < 2)
    assert not np.allclose(fewer.own, first.own)
    for other in range(scenes.MOST_SCENES):
        scenes.scene(model, views * (0.5 + other / 100), ANGLES)
    again = scenes.scene(model, views, ANGLES)
    assert again is not first
    assert np.array_equal(again.code, first.code)
    with torch.no_grad():
        next(model.encoder.parameters()).add_(1)
    assert not np.allclose(scenes.scene(model, views, ANGLES).own, first.own)


def test_unknown_layers_are_named():
    with pytest.raises(UserError, match="GELU"):
        scenes.pack(nn.Sequential(nn.Linear(3, 4), nn.GELU()), (1, 2, 2))


# --- the page's side ---


def texts(app: AppTest) -> dict[str, str]:
    return dict(text.value.split(" ", 1) for text in app.text)


def test_a_page_can_move_the_dial_and_the_link_says_where_it_starts():
    app = AppTest.from_file(str(APP), default_timeout=60)
    app.query_params["angle"] = "45"
    app.run()
    assert not app.exception
    assert texts(app)["angle"] == "45"
    app.button[0].click().run()
    assert texts(app)["angle"] == "90"
    app.number_input[0].set_value(5).run()  # another digit keeps the angle
    assert texts(app)["angle"] == "90"
    app.query_params["angle"] = "10"
    app.run()
    assert texts(app)["angle"] == "10"


# --- in a real browser ---


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with serve(APP) as address:
        yield address


@pytest.fixture
def page(tabs: Tabs) -> Iterator[Page]:
    page = tabs.open()
    yield page
    tabs.close(page)


def show(page: Page, url: str) -> Watch:
    watch = Watch(page)
    page.goto(url)
    page.wait_for_selector("[data-ready=yes]")
    settle(page)
    return watch


def hook(page: Page, call: str, argument: object = None) -> object:
    """Call something of the dial's hook for tests."""
    return page.locator(".stage").evaluate(
        f"(stage, argument) => stage.getRootNode().host.fgpvae.{call}", argument
    )


def point(page: Page, degrees: float, radius: float = 0.43) -> tuple[float, float]:
    """Where on the screen an angle of the dial is."""
    box = page.locator(".stage").bounding_box()
    w = np.deg2rad(degrees)
    x = box["x"] + box["width"] * (0.5 - radius * np.sin(w))
    y = box["y"] + box["height"] * (0.5 - radius * np.cos(w))
    return float(x), float(y)


def angle(page: Page) -> float:
    return hook(page, "pose()")["angle"]


@pytest.mark.parametrize("name", ["paper", "product"])  # test_javascript has all decoders
def test_the_browsers_decoder_agrees_with_torch(page: Page, address: str, name: str):
    watch = show(page, f"{address}/?network={name}")
    model = dial_app.build(name)
    codes = torch.randn(8, model.config.latents, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        expected = model.decode(codes).flatten(1).numpy()
    images = [hook(page, "decodeCode(argument)", code) for code in codes.tolist()]
    assert np.abs(expected).max() > 0.05  # there is something to compare
    np.testing.assert_allclose(np.array(images), expected, atol=1e-4)

    scene = dial_app.scene(model, 361, dial_app.START)
    style = np.linspace(-1, 1, len(scene.own))
    for degrees in (0.0, 100.3, 359.0):
        with torch.no_grad():
            codes = torch.as_tensor(
                np.stack([scene.at(np.deg2rad(degrees)), scene.at(np.deg2rad(degrees), style)])
            )
            expected = model.decode(codes).flatten(1).numpy()
        np.testing.assert_allclose(hook(page, "decode(argument)", degrees), expected[0], atol=1e-4)
        np.testing.assert_allclose(
            hook(page, "decode(...argument)", [degrees, style.tolist()]), expected[1], atol=1e-4
        )
        assert hook(page, "unknown(argument)", degrees) == pytest.approx(
            float(scene.unknown(np.deg2rad(degrees))), abs=1e-4
        )
    assert watch.errors == []


def test_dragging_turns_the_digit_and_only_letting_go_tells_the_server(page: Page, address: str):
    watch = show(page, f"{address}/?network=wide")
    before = page.locator(".digit").evaluate("canvas => canvas.toDataURL()")
    sent = len(watch.sent)
    page.mouse.move(*point(page, 0))
    page.mouse.down()
    for degrees in range(0, 64, 3):
        page.mouse.move(*point(page, degrees))
    assert angle(page) == pytest.approx(63, abs=0.5)
    page.wait_for_timeout(400)  # long enough for a message, had one been sent
    assert len(watch.sent) == sent
    assert page.locator(".digit").evaluate("canvas => canvas.toDataURL()") != before
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.mouse.up()
    expect(page.get_by_text(re.compile(r"^angle 6[23]"))).to_be_visible()
    settle(page)
    assert len(watch.sent) == sent + 1
    assert not [url for url in asked if "/weights/" in url]  # they are here already
    assert watch.errors == []


def test_the_digit_itself_can_be_dragged(page: Page, address: str):
    show(page, address)
    page.mouse.move(*point(page, 200, radius=0.2))
    page.mouse.down()
    page.mouse.move(*point(page, 215, radius=0.2))
    page.mouse.move(*point(page, 230, radius=0.2))
    assert angle(page) == pytest.approx(30, abs=1)
    page.mouse.up()
    expect(page.get_by_text(re.compile(r"^angle (29|30)"))).to_be_visible()


def test_touch(tabs: Tabs, address: str):
    page = tabs.open(380, 800, has_touch=True)
    watch = show(page, address)
    page.locator(".stage").scroll_into_view_if_needed()
    fingers = page.context.new_cdp_session(page)

    def touch(kind: str, *at: float) -> None:
        points = [{"x": at[0], "y": at[1]}] if at else []
        fingers.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    before = page.evaluate("scrollY")
    touch("touchStart", *point(page, 0))
    for degrees in range(0, 91, 10):
        touch("touchMove", *point(page, degrees))
    assert angle(page) == pytest.approx(90, abs=1)
    assert page.evaluate("scrollY") == before  # the page does not scroll under the finger
    touch("touchEnd")
    expect(page.get_by_text(re.compile("^angle 90"))).to_be_visible()
    for degrees in (188, 214):  # at either end of the way from one dot to the next
        page.touchscreen.tap(*point(page, degrees))
        assert angle(page) == pytest.approx(degrees, abs=1)
    expect(page.get_by_text("context [0, 4, 8, 12]")).to_be_visible()
    page.touchscreen.tap(*point(page, 157.5))  # held out: there is nothing to add
    assert angle(page) == 157.5
    page.touchscreen.tap(*point(page, 49))
    expect(page.get_by_text("context [0, 2, 4, 8, 12]")).to_be_visible()
    assert angle(page) == 157.5
    assert watch.errors == []
    tabs.close(page)


def test_keys(page: Page, address: str):
    show(page, address)
    slider = page.get_by_role("slider", name="Angle of the digit in degrees", exact=True)
    slider.focus()
    expect(slider).to_have_accessible_description(re.compile("right clockwise.*Enter.*Space"))
    for key, expected in [
        ("ArrowLeft", 1),  # to the left is counter-clockwise, as angles run
        ("ArrowRight", 0),
        ("Shift+ArrowLeft", 22.5),
        ("PageUp", 45),
        ("ArrowDown", 44),
        ("End", 337.5),
        ("Home", 0),
        ("ArrowRight", 359),
    ]:
        slider.press(key)
        assert angle(page) == pytest.approx(expected)
    expect(slider).to_have_attribute("aria-valuetext", "359 degrees, imagined")
    expect(page.get_by_text("angle 359", exact=True)).to_be_visible()
    slider.press(" ")
    expect(page.get_by_role("button", name="stop", exact=True)).to_be_visible()
    expect(slider).not_to_have_attribute("aria-valuenow", "359")
    slider.press(" ")
    expect(page.get_by_role("button", name="turn", exact=True)).to_be_visible()


def test_the_angle_slider_and_the_number_follow_the_ring_and_lead_it(page: Page, address: str):
    watch = show(page, address)
    slide = page.get_by_role("slider", name="Angle slider", exact=True)
    typed = page.get_by_role("spinbutton", name="Angle in degrees", exact=True)
    sent = len(watch.sent)
    slide.evaluate(
        "input => { input.value = 40; input.dispatchEvent(new Event('input', {bubbles: true})) }"
    )
    assert angle(page) == 40
    expect(typed).to_have_value("40")
    assert len(watch.sent) == sent  # nothing goes to the server meanwhile
    slide.press("ArrowRight")
    assert angle(page) == 40.5
    expect(page.get_by_text("angle 40.5", exact=True)).to_be_visible()
    typed.fill("157.5")
    assert angle(page) == 157.5
    typed.press("Enter")
    expect(page.get_by_text("angle 157.5", exact=True)).to_be_visible()
    expect(slide).to_have_value("157.5")
    typed.fill("-20")  # what was typed stays until it is entered
    expect(typed).to_have_value("-20")
    typed.press("Enter")
    expect(typed).to_have_value("340")
    typed.fill("")
    typed.press("Enter")
    expect(typed).to_have_value("340")
    page.locator(".grab").press("Home")
    expect(typed).to_have_value("0")
    assert watch.errors == []


def test_clicking_a_dot_adds_and_removes_that_view(page: Page, address: str):
    watch = show(page, address)
    wide = hook(page, "unknown(45)")
    page.mouse.click(*point(page, 45))
    expect(page.get_by_text("context [0, 2, 4, 8, 12]")).to_be_visible()
    expect(page.locator(".view[data-index='2']")).to_have_attribute("aria-pressed", "true")
    assert hook(page, "unknown(45)") < wide
    assert angle(page) == 0  # a click on a view is no turn
    page.mouse.click(*point(page, 180))
    expect(page.get_by_text("context [0, 2, 4, 12]")).to_be_visible()
    page.mouse.click(*point(page, 157.5))  # held out: nobody may add it
    page.locator(".view[data-index='3']").press("Enter")  # as assistive technology does
    expect(page.get_by_text("context [0, 2, 3, 4, 12]")).to_be_visible()
    page.get_by_label("digit", exact=True).press("ArrowUp")  # the choice outlives a new digit
    settle(page)
    expect(page.get_by_text("context [0, 2, 3, 4, 12]")).to_be_visible()
    assert watch.errors == []


def test_the_last_view_stays(page: Page, address: str):
    show(page, address)
    for degrees in (90, 180, 270):
        page.mouse.click(*point(page, degrees))
    expect(page.get_by_text("context [0]")).to_be_visible()
    page.mouse.click(*point(page, 0))  # the handle lies on it
    expect(page.get_by_text("one view is needed")).to_be_visible()
    expect(page.get_by_text("context [0]")).to_be_visible()


def test_styles(page: Page, address: str):
    watch = show(page, address)
    sliders = page.get_by_role("group", name="Style of the digit", exact=True).get_by_role("slider")
    expect(sliders).to_have_count(8)
    own = hook(page, "decode(0)")
    first = sliders.first
    sent = len(watch.sent)
    first.evaluate(
        "input => { input.value = 1.5; input.dispatchEvent(new Event('input', {bubbles: true})) }"
    )
    assert hook(page, "pose()")["style"][0] == 1.5
    page.wait_for_timeout(200)
    assert len(watch.sent) == sent
    first.evaluate("input => input.dispatchEvent(new Event('change', {bubbles: true}))")
    expect(page.get_by_text(re.compile(r"^style \[1\.5, "))).to_be_visible()
    first.dblclick()
    expect(page.get_by_text("style None")).to_be_visible()
    assert hook(page, "pose()")["style"] is None

    # among styles of digits, which are all about 2 here; from the prior they are anywhere
    page.get_by_role("button", name="Random style", exact=True).click()
    expect(page.get_by_text(re.compile(r"^style \[[12]\."))).to_be_visible()
    drawn = np.array(hook(page, "pose()")["style"])
    assert drawn.shape == (8,)
    assert 0.001 < np.abs(drawn - 2).max() < 0.1
    told = page.get_by_text(re.compile(r"^style \["))
    before = told.inner_text()
    page.get_by_role("button", name="From the paper's prior", exact=True).click()
    expect(told).not_to_have_text(before)  # the glide has ended, and the server knows
    anywhere = np.array(hook(page, "pose()")["style"])
    assert np.ptp(anywhere) > 0.3
    page.get_by_role("button", name="Its own style", exact=True).click()
    expect(page.get_by_text("style None")).to_be_visible()
    assert hook(page, "decode(0)") == own

    morph = page.locator(".morph input")
    morph.evaluate(
        "input => { input.value = 1; for (const name of ['input', 'change'])"
        " input.dispatchEvent(new Event(name, {bubbles: true})) }"
    )
    expect(page.get_by_text(f"style {[0.0] * 8}")).to_be_visible()
    share = page.locator(".morph output")
    expect(share).to_have_text("100%")
    page.get_by_role("button", name="Random style", exact=True).click()
    expect(page.get_by_text(re.compile(r"^style \[[12]\."))).to_be_visible()
    expect(share).to_have_text("0%")  # this is not on the way
    page.get_by_role("button", name="Its own style", exact=True).click()
    expect(page.get_by_text("style None")).to_be_visible()
    expect(share).to_have_text("0%")
    assert watch.errors == []


def test_all_styles_are_there_on_demand(page: Page, address: str):
    show(page, f"{address}/?network=wide")
    sliders = page.get_by_role("group", name="Style of the digit", exact=True).get_by_role("slider")
    expect(sliders).to_have_count(8)
    page.get_by_role("button", name="Show all 16", exact=True).click()
    expect(sliders).to_have_count(16)


def hatched(slider: Locator) -> int:
    """How many pixels of a slider have the warm colour."""
    with Image.open(io.BytesIO(slider.screenshot())) as picture:
        red, _, blue = np.asarray(picture.convert("RGB"), int).transpose(2, 0, 1)
    return int((red > blue + 80).sum())


def test_a_slider_along_a_direction_ends_where_digits_end(page: Page, address: str):
    watch = show(page, f"{address}/?fitted=1")
    slant = page.get_by_label("slant", exact=False).first
    own = np.array(hook(page, "decode(0)"))
    assert float(slant.get_attribute("max")) == 2
    expect(page.get_by_text("beyond real digits", exact=True)).to_be_hidden()
    slant.press("End")
    style = hook(page, "pose()")["style"]
    assert 0.4 * style[0] - 0.8 * style[1] == pytest.approx(2, abs=1e-3)
    expect(page.get_by_text("+2.0", exact=True)).to_be_visible()
    expect(page.get_by_text(re.compile(r"^style \["))).to_be_visible()
    assert np.abs(np.array(hook(page, "decode(0, argument)", style)) - own).max() > 1e-4
    slant.dblclick()
    expect(page.get_by_text("style None")).to_be_visible()
    # draws of this app are about 2 in each channel, where the second slider has ended
    page.get_by_role("button", name="Random style", exact=True).click()
    expect(page.get_by_text("beyond real digits", exact=True)).to_be_visible()
    channel = page.get_by_label("style 1", exact=False).first
    expect(channel).to_have_attribute("aria-valuetext", "+2.0, beyond real digits")
    assert hatched(channel) > 20  # the mark is on the track, not under its coloured part
    expect(page.get_by_text(re.compile("that of one of .* training digits"))).to_be_visible()
    expect(page.get_by_text("in the pictures of 50 training digits")).to_be_visible()
    assert watch.errors == []


def test_the_page_can_turn_the_dial(page: Page, address: str):
    show(page, f"{address}/?angle=157.5")
    assert angle(page) == 157.5
    expect(page.get_by_text("never seen in training", exact=True)).to_be_visible()
    page.get_by_role("button", name="to 90 degrees", exact=True).click()
    expect(page.get_by_text("angle 90")).to_be_visible()
    expect(page.locator(".angle")).to_have_text("90.0°")
    assert angle(page) == 90


def test_a_reload_and_a_second_tab_get_the_weights(page: Page, address: str):
    with page.expect_response("**/weights/*") as loaded:
        show(page, address)
    assert "immutable" in loaded.value.headers["cache-control"]
    missing = page.request.get(f"{address}/weights/none")
    assert missing.status == 404
    page.reload()
    page.wait_for_selector("[data-ready=yes]")
    second = page.context.new_page()
    show(second, address)
    assert hook(second, "decode(30)") == hook(page, "decode(30)")


def test_a_browser_that_lost_the_weights_asks_for_them(page: Page, address: str):
    watch = show(page, address)
    slider = page.get_by_role("slider", name="Angle of the digit in degrees", exact=True)
    slider.press("ArrowLeft")  # from now on the server knows that they are here
    expect(page.get_by_text("angle 1", exact=True)).to_be_visible()
    page.evaluate("fgpvae.networks.clear()")
    page.get_by_label("digit", exact=True).press("ArrowUp")
    page.wait_for_function("fgpvae.networks.size === 1")
    settle(page)
    assert hook(page, "ready()")
    assert watch.errors == []


def contrast(page: Page, name: str) -> float:
    """Of the text of an element with the card it is on (WCAG)."""
    ink, paper = page.locator(name).first.evaluate(
        """element => {
          const pen = document.createElement("canvas").getContext("2d");
          return [getComputedStyle(element).color,
                  getComputedStyle(element.closest(".card")).backgroundColor].map(colour => {
            pen.fillStyle = colour;
            pen.fillRect(0, 0, 1, 1);
            return Array.from(pen.getImageData(0, 0, 1, 1).data.slice(0, 3));
          });
        }"""
    )
    a, b = (
        linear("#" + "".join(f"{value:02x}" for value in colour)) @ [0.2126, 0.7152, 0.0722]
        for colour in (ink, paper)
    )
    return (max(a, b) + 0.05) / (min(a, b) + 0.05)


def test_text_is_readable_in_light_and_dark(page: Page, address: str):
    watch = show(page, f"{address}/?angle=157.5")  # with the warm caption of a held-out view
    for scheme, paper in (("light", "rgb(255, 255, 255)"), ("dark", "rgb(23, 27, 36)")):
        page.emulate_media(color_scheme=scheme)  # the component follows without a reload
        for card in page.locator(".card").all():
            expect(card).to_have_css("background-color", paper)
        for name in (".angle", ".caption", "h3", ".lead", ".row .name", ".row output", ".play"):
            assert contrast(page, name) > 4.5, (scheme, name)
    assert watch.errors == []


def test_reduced_motion(page: Page, address: str):
    page.emulate_media(reduced_motion="reduce")
    show(page, address)
    page.get_by_role("button", name="Random style", exact=True).click()
    expect(page.get_by_text(re.compile(r"^style \["))).to_be_visible()
    page.get_by_role("button", name="turn", exact=True).click()
    slider = page.get_by_role("slider", name="Angle of the digit in degrees", exact=True)
    expect(slider).not_to_have_attribute("aria-valuenow", "0")
    page.get_by_role("button", name="stop", exact=True).click()
    assert angle(page) % 22.5 == 0  # steps, not a sweep
