"""The browser's modules by themselves, in Chromium: decoder, series, geometry, tiles, charts."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.ndimage
import torch
from playwright.sync_api import Browser, Page, Route

from fgpvae import scenes
from fgpvae.data import unseen
from tests.apps import dial_app
from ui.components.shared import packed

COMPONENTS = Path(__file__).parent.parent / "ui" / "components"
ORIGIN = "http://components.test"


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """An empty page that can import the modules."""
    page = browser.new_page()

    def serve(route: Route) -> None:
        file = COMPONENTS / route.request.url.removeprefix(f"{ORIGIN}/")
        if file.suffix == ".js" and not file.exists():
            route.fulfill(status=404)
        elif file.suffix == ".js":
            route.fulfill(body=file.read_text(), content_type="text/javascript")
        else:
            route.fulfill(body="<!doctype html>", content_type="text/html")

    page.route(f"{ORIGIN}/**", serve)
    page.goto(f"{ORIGIN}/")
    yield page
    page.close()


def call(page: Page, module: str, code: str, argument: object = None) -> object:
    """The value of an expression in which `m` is the module and `a` the argument."""
    return page.evaluate(
        f"async (a) => {{ const m = await import('{ORIGIN}/{module}'); return {code}; }}", argument
    )


def test_every_module_loads_by_itself(page: Page):
    for file in sorted(COMPONENTS.rglob("*.js")):
        name = file.relative_to(COMPONENTS).as_posix()
        assert call(page, name, "Object.keys(m).length"), name


@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("name", dial_app.CONFIGS)
def test_the_decoder_is_that_of_torch(page: Page, name: str, half: bool):
    model = dial_app.build(name)
    if half:  # as most that are shipped
        model.decoder.half().float()
    codes = np.random.default_rng(0).normal(size=(3, model.config.latents))
    with torch.no_grad():
        expected = model.decoder(torch.as_tensor(codes, dtype=torch.float32))
    network = scenes.network(model)
    assert (b'"half":true' in network.blob) == (half and name != "paper")  # sums there are not
    run = """(() => {
      const decoder = new m.Decoder(globalThis.unpacked);
      return a.map((code) => Array.from(decoder.run(Float64Array.from(code))));
    })()"""
    unpack = "(globalThis.unpacked = m.unpack(Uint8Array.from(a).buffer)).header.id"
    assert call(page, "decoders/decoders.js", unpack, list(network.blob)) == network.id
    made = call(page, "dial/decoder.js", run, codes.tolist())
    assert np.allclose(made, expected.flatten(1).numpy(), atol=1e-4)


def test_numbers_arrive_as_they_were_packed(page: Page):
    values = np.random.default_rng(3).normal(size=(3, 5)).astype(np.float32)
    made = call(page, "shared/packed.js", "Array.from(m.unpacked(a))", packed(values))
    assert made == values.ravel().tolist()


def test_a_series_is_a_sum_of_waves(page: Page):
    coefficients = np.random.default_rng(1).normal(size=(3, 9))  # 1, four cosines, four sines
    w = np.linspace(-7, 7, 23)
    expected = coefficients[:, :1] + sum(
        coefficients[:, [k]] * np.cos(k * w) + coefficients[:, [4 + k]] * np.sin(k * w)
        for k in range(1, 5)
    )
    made = call(
        page,
        "dial/series.js",
        "a.w.map((w) => Array.from(new m.Series(a.series).at(w)))",
        {"w": w.tolist(), "series": {"rows": 3, "values": coefficients.ravel().tolist()}},
    )
    assert np.allclose(made, expected.T, atol=1e-12)


def test_a_table_has_straight_lines_and_stays_within_its_ends(page: Page):
    values = np.random.default_rng(2).normal(size=(2, 5))
    w = np.array([-3.0, -1.0, -0.9, 0.0, 0.24, 0.99, 1.0, 8.0])
    expected = np.stack([np.interp(w, np.linspace(-1, 1, 5), row) for row in values], 1)
    made = call(
        page,
        "dial/series.js",
        "a.w.map((w) => Array.from(new m.Table(a.table).at(w)))",
        {"w": w.tolist(), "table": {"rows": 2, "values": values.ravel().tolist()}},
    )
    assert np.allclose(made, expected, atol=1e-12)


def test_pictures_turn_as_those_of_the_package(page: Page):
    image = unseen((4,)).images[0].astype(float)
    degrees = [0, 90, 157.5, 201.3, -45]
    made = call(
        page,
        "shared/rotation.js",
        "a.degrees.map((w) => Array.from(m.rotated(m.coefficients(a.image, 28), 28, w)))",
        {"degrees": degrees, "image": image.ravel().tolist()},
    )
    expected = [scipy.ndimage.rotate(image, w, reshape=False).ravel() for w in degrees]
    assert np.allclose(made, expected, atol=1e-6)


def test_values_all_round_have_straight_lines_between_them(page: Page):
    made = call(
        page, "truth/truth.js", "a.map((w) => m.around([1, 2, 4, 8], w))", [0, 45, 315, 360]
    )
    assert np.allclose(made, [1, 1.5, 4.5, 1])


def test_half_precision(page: Page):
    values = np.array([0, -1.5, 0.1, 6e-8, 3e-5, 65504, -2e-7, np.inf], "<f2")
    halves = values.view("<u2").tolist()
    made = call(page, "decoders/half.js", "Array.from(m.floats(a))", halves)
    assert made == values.astype(float).tolist()


def test_angles_are_apart_the_shorter_way_round(page: Page):
    pairs = [(0, 0), (10, 350), (350, 10), (0, 180), (90, 271), (-30, 30), (725, 0), (0, -1085)]
    made = call(page, "shared/geometry.js", "a.map(([x, y]) => m.apart(x, y))", pairs)
    unit = np.exp(1j * np.deg2rad(np.array(pairs, dtype=float)))
    expected = np.rad2deg(np.abs(np.angle(unit[:, 0] / unit[:, 1])))
    assert np.allclose(made, expected, atol=1e-9)


def test_angles_turn_round(page: Page):
    angles = [-720.5, -1, 0, 359.5, 360, 1000]
    made = call(page, "shared/geometry.js", "a.map(m.turned)", angles)
    assert np.allclose(made, np.array(angles) % 360)
    assert call(page, "shared/geometry.js", "m.radians(180)") == pytest.approx(np.pi)
    assert call(page, "shared/geometry.js", "[m.clamp(5, 0, 2), m.clamp(-5, 0, 2)]") == [2, 0]


MOUNTED = """(async () => {
  const made = [], ended = [];
  const show = m.mount((_, first) => {
    const destroy = () => ended.push(first);
    const view = { first, update: (data) => { view.last = data; }, destroy };
    made.push(view);
    return view;
  });
  const parentElement = document.createElement("div").attachShadow({ mode: "open" });
  document.body.append(parentElement.host);
  const overtaken = show({ data: [1], parentElement });
  const newest = show({ data: [2], parentElement });
  overtaken(); // as Streamlit does when the second came before the first was there
  show({ data: [3], parentElement });
  const before = ended.length;
  parentElement.host.remove();
  newest();
  newest();
  return { made: made.map(({ first, last }) => [first, last]), before, ended };
})()"""


def test_a_view_stays_as_long_as_its_element(page: Page):
    found = call(page, "shared/mount.js", f"await {MOUNTED}")
    assert found == {"made": [[1, 3]], "before": 0, "ended": [1]}


TILES = """(() => {
  const root = document.createElement("div");
  root.innerHTML = '<div class="tiles"></div>';
  document.body.append(root);
  const sent = [];
  const tile = (name) => ({ name, hint: name, image: "data:,", selected: name === "b" });
  const data = { layout: "strip", label: "Tiles", single: true, tiles: [..."abcd"].map(tile) };
  m.default({ data: [data], parentElement: root, setTriggerValue: (_, name) => sent.push(name) });
  window.tiles = { root, sent };
  return true;
})()"""
STATE = """() => {
  const buttons = [...tiles.root.querySelectorAll("button")];
  const named = (test) => buttons.filter(test).map((button) => button.dataset.name).join("");
  return {
    focus: document.activeElement.dataset.name,
    reached: named((button) => button.tabIndex === 0),
    pressed: named((button) => button.ariaPressed === "true"),
    sent: tiles.sent.join(""),
  };
}"""


def test_arrows_lead_through_tiles_and_enter_and_space_choose(page: Page):
    call(page, "tiles/tiles.js", TILES)
    page.keyboard.press("Tab")
    assert page.evaluate(STATE) == {"focus": "b", "reached": "b", "pressed": "b", "sent": ""}
    for key, at in (
        ("ArrowRight", "c"),
        ("ArrowDown", "d"),
        ("ArrowRight", "d"),  # not beyond the last
        ("Home", "a"),
        ("ArrowLeft", "a"),
        ("End", "d"),
        ("ArrowUp", "c"),
    ):
        page.keyboard.press(key)
        found = page.evaluate(STATE)
        assert (found["focus"], found["reached"]) == (at, at), key
        assert (found["pressed"], found["sent"]) == ("b", "")  # to look is not to choose
    page.keyboard.press("Enter")
    assert page.evaluate(STATE) == {"focus": "c", "reached": "c", "pressed": "c", "sent": "c"}
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("Space")
    assert page.evaluate(STATE) == {"focus": "b", "reached": "b", "pressed": "b", "sent": "cb"}
    page.evaluate("tiles.root.remove()")


UPRIGHT = """(() => {
  const root = document.createElement("div"), sent = [];
  root.innerHTML = a.html;
  document.body.append(root);
  const show = (data) => m.default({
    data: [{ drawing: "", cycle: ["red"], said: true, answered: null, ...data }],
    parentElement: root, setStateValue: null, setTriggerValue: (_, value) => sent.push(value),
  });
  const typed = root.querySelector(".typed");
  const type = (number) => {
    typed.value = number;
    typed.dispatchEvent(new Event("input"));
    typed.dispatchEvent(new Event("change"));
  };
  const shown = () => Number(root.querySelector(".hold").getAttribute("aria-valuenow"));
  show({ angle: 40 });
  const found = [shown()];
  for (const step of a.steps) {
    if ("typed" in step) type(step.typed);
    const answered = step.answers ? sent.at(-1).sent : null;
    if ("angle" in step) show({ angle: step.angle, answered });
    found.push(shown());
  }
  root.remove();
  return { found, sent: sent.map(({ angle }) => Math.round(10 * angle) / 10) };
})()"""


def test_a_picture_turned_by_hand_stays_until_it_is_answered_and_then_follows(page: Page):
    steps = [
        {"typed": -33.3},
        {"angle": 40},  # from a run that was under way
        {"angle": 120, "answers": True},  # another angle was clicked before this was answered
        {"angle": 90},
        {"typed": 45},
        {"angle": 45, "answers": True},
    ]
    html = (COMPONENTS / "upright" / "upright.html").read_text()
    made = call(page, "upright/upright.js", UPRIGHT, {"html": html, "steps": steps})
    assert made == {"found": [40, 326.7, 326.7, 120, 90, 45, 45], "sent": [326.7, 45]}


def test_an_axis_that_was_moved_by_hand_stays_and_others_go_along(page: Page):
    axis = {"range": [0, 1]}
    a = {
        "old": {
            "template": "dark",
            "width": 500,
            "xaxis": {"range": [0.2, 0.4]},  # moved
            "yaxis": {"range": [0, 2]},  # the newest
            "xaxis2": axis,  # put back to the first
            "yaxis2": {"range": [3, 4], "autorange": True},  # by Plotly
        },
        "next": {
            "template": "light",
            "xaxis": {"range": [0, 3], "title": "new"},
            "yaxis": {"range": [0, 3]},
            "xaxis2": {"range": [0, 3]},
            "yaxis2": {"range": [0, 3]},
            "xaxis3": {"range": [0, 3]},  # was not there
        },
        "first": {"xaxis": [0, 1], "yaxis": [0, 1], "xaxis2": [0, 1], "yaxis2": [0, 1]},
        "newest": {"xaxis": [0, 2], "yaxis": [0, 2], "xaxis2": [0, 2], "yaxis2": [0, 2]},
    }
    code = "m.merged(a.old, a.next, a.first, a.newest)"
    made = call(page, "plot_tools/live.js", code, a)
    assert (made["template"], made["width"]) == ("dark", 500)
    assert made["xaxis"] | {"autorange": None} == {
        "range": [0.2, 0.4],
        "title": "new",
        "autorange": None,
    }
    assert all(made[name]["range"] == [0, 3] for name in ("yaxis", "xaxis2", "yaxis2", "xaxis3"))
