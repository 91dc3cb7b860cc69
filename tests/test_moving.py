"""Runs on one's own objects, on the pages: on a line and on a circle, in grey and in colour."""

import io
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from playwright.sync_api import Page, expect

from fgpvae import latents, models, presets, scenes
from fgpvae.checkpoints import (
    OBJECTS_FILE,
    WEIGHTS,
    load_config,
    load_objects,
    load_pretrained,
    save_config,
    save_model,
)
from fgpvae.data import object_files, objects
from scripts.make_sprites import make
from tests.browser import PATIENCE, ROOT, Tabs, Watch, click_point, serve, settle
from tests.pages import open_page
from ui.catalog.objects import ObjectSet
from ui.components.pictures import address as png

RUNS = {
    "line-colour": {"kernel": "squared-exponential", "grey": False, "height": 10, "width": 16},
    "line-grey": {"kernel": "matern32", "grey": True, "height": 12, "width": 12},
    "circle-colour": {
        "circle": True,
        "grey": False,
        "height": 12,
        "width": 16,
        "kind": "convolutional",
    },
    "circle-grey": {"circle": True, "grey": True, "height": 16, "width": 10},
}


def write(root: Path, name: str, local: int = 3, as_name: str = "", called: str = "") -> None:
    """A run with fresh weights, and a decoder that draws something; names begin as `called`."""
    options = dict(RUNS[name])
    kernel, kind = options.pop("kernel", None), options.pop("kind", "dense")
    content = io.BytesIO()
    made = make(objects=12, views=8, **options)
    made["object"] = np.array([called + each for each in made["object"].tolist()])
    np.savez(content, **made)
    found = object_files.parse(content.getvalue(), name)
    config = presets.changed(
        presets.for_objects(found, name, 360.0 if options.get("circle") else 0.0, kernel),
        [
            "model.network.widths=[24]",
            "model.network.filters=[4, 6]",
            "model.network.hidden=24",
            f"model.network.kind={kind}",
            "model.latents=8",
            "model.amplitude=0.5",
            f"model.local={local}",
        ],
    )
    torch.manual_seed(1)
    model = models.build(config.model).eval()
    with torch.no_grad():
        for parameter in model.decoder.parameters():
            parameter.mul_(1.5)
    path = root / (as_name or name)
    path.mkdir(parents=True)
    save_config(config, path)
    save_model(model, path / WEIGHTS)
    (path / OBJECTS_FILE).write_bytes(object_files.pack(found))


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    for name in RUNS:
        write(folder, name)
    return folder


@pytest.fixture(scope="module")
def address(root: Path) -> Iterator[str]:
    with serve(ROOT / "app.py", FGPVAE_RUNS=str(root)) as url:
        yield url


@pytest.fixture
def page(tabs: Tabs) -> Iterator[Page]:
    page = tabs.open(1280, 1000)
    yield page
    tabs.close(page)


def show(page: Page, address: str, name: str, more: str = "") -> Watch:
    watch = Watch(page)
    page.goto(f"{address}/rotate?model=runs%2F{name}{more}")
    page.wait_for_selector("[data-ready=yes]", timeout=PATIENCE)
    settle(page)
    return watch


def hook(page: Page, call: str, argument: object = None) -> object:
    return page.locator(".stage").evaluate(
        f"(stage, argument) => stage.getRootNode().host.fgpvae.{call}", argument
    )


def known(root: Path, name: str) -> ObjectSet:
    config, found = load_config(root / name), load_objects(root / name)
    return ObjectSet(found, config.data.track, objects.split(found, config.data.track, config.seed))


def expected(root: Path, name: str, number: int, given: list[int], w: list[float]) -> np.ndarray:
    """What torch draws of an object at places w, straight from the views that are given."""
    found, model = known(root, name), load_pretrained(root / name)
    images = torch.as_tensor(found.pixels(number))[None]
    angles = torch.as_tensor(found.w(number))[None]
    observed = torch.as_tensor(np.isin(np.arange(angles.shape[1]), given))[None]
    at = torch.tensor([w], dtype=torch.float64)
    return model.generate(images, angles, at, observed)[0].flatten(1).numpy()


@pytest.mark.parametrize("name", RUNS)
def test_the_browser_draws_what_torch_draws(page: Page, address: str, root: Path, name: str):
    watch = show(page, address, name)
    found = known(root, name)
    number = found.split.unseen[0]
    line = name.startswith("line")
    places = [0.0, 33.3, 50.0, 99.9] if line else [0.0, 100.3, 270.0, 359.0]
    w = [place / 50 - 1 if line else np.deg2rad(place) for place in places]
    torch_draws = expected(root, name, number, found.given(number), w)
    assert np.ptp(torch_draws, axis=0).max() > 0.02  # it moves
    drawn = np.array([hook(page, "decode(argument)", place) for place in places])
    np.testing.assert_allclose(drawn, torch_draws, atol=1e-4)
    _, height, width = found.objects.shape
    size = page.locator("canvas.digit").evaluate("canvas => [canvas.width, canvas.height]")
    assert size == [8 * width, 8 * height]
    if "colour" in name:
        red, _, blue, _ = page.locator("canvas.digit").evaluate(
            "canvas => Array.from(canvas.getContext('2d').getImageData(0, 0, canvas.width, "
            "canvas.height).data).reduce((sum, value, k) => (sum[k % 4] += value, sum), "
            "[0, 0, 0, 0])"
        )
        assert red != blue
    # a line has a track, a circle has a dial
    heading = "Move an object" if line else "Rotate an object"
    expect(page.get_by_role("heading", name=heading, exact=True)).to_be_visible()
    expect(page.locator(".rail")).to_have_count(1 if line else 0)
    slider = page.get_by_role("slider", name="View of the object", exact=True)
    expect(slider).to_be_visible()
    if not line:
        slider.press("ArrowLeft")
        expect(page.locator(".reading .angle")).to_have_text("1")
    assert [error for error in watch.errors if "404" not in error] == []


def test_a_handle_is_dragged_to_the_end_and_a_style_changes(page: Page, address: str, root: Path):
    show(page, address, "line-colour")
    low, high = known(root, "line-colour").track.ends
    reading = page.locator(".reading .angle")
    expect(reading).to_have_text(f"{(low + high) / 2:.2f}")
    before = page.locator("canvas.digit").evaluate("canvas => canvas.toDataURL()")
    box = page.locator(".rail").bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] / 2, y)
    page.mouse.down()
    for share in (0.6, 0.8, 1.3):
        page.mouse.move(box["x"] + share * box["width"], y)
    expect(reading).to_have_text(f"{high:.2f}")
    page.mouse.up()
    assert hook(page, "pose()")["angle"] == 100
    expect(page).to_have_url(re.compile("angle=100"), timeout=PATIENCE)
    assert page.locator("canvas.digit").evaluate("canvas => canvas.toDataURL()") != before
    page.get_by_role("slider", name="View of the object", exact=True).press("Home")
    expect(reading).to_have_text(f"{low:.2f}")

    # a random style is drawn, and taken back
    page.get_by_role("button", name="Random style", exact=True).click()
    expect(page.get_by_text("that nobody has seen")).to_be_visible(timeout=PATIENCE)
    style = hook(page, "pose()")["style"]
    model = load_pretrained(root / "line-colour")
    found = known(root, "line-colour")
    number = found.split.unseen[0]
    scene = scenes.scene(
        model,
        found.pixels(number),
        found.w(number),
        np.isin(np.arange(len(found.w(number))), found.given(number)),
    )
    with torch.no_grad():
        codes = torch.as_tensor(scene.at(np.array(-0.4), np.array(style)))
        draws = model.decode(codes).flatten().numpy()
    drawn = hook(page, "decode(...argument)", [30.0, style])
    np.testing.assert_allclose(drawn, draws, atol=1e-4)
    page.get_by_role("button", name="Its own style", exact=True).click()
    expect(page.get_by_text("has never met")).to_be_visible(timeout=PATIENCE)


def test_views_are_taken_away_and_given_back(page: Page, address: str, root: Path):
    show(page, address, "line-grey", "&angle=50")
    found = known(root, "line-grey")
    number = found.split.unseen[0]
    given = found.given(number)
    dot = page.locator(f".view[data-index='{given[0]}']")
    expect(dot).to_have_attribute("aria-pressed", "true")
    dot.evaluate("button => button.click()")
    expect(dot).to_have_attribute("aria-pressed", "false")
    fewer = "the dotted view" if len(given) == 2 else f"the {len(given) - 1} dotted views"
    expect(page.get_by_text(fewer)).to_be_visible(timeout=PATIENCE)
    settle(page)
    torch_draws = expected(root, "line-grey", number, given[1:], [0.2])
    np.testing.assert_allclose(hook(page, "decode(argument)", 60.0), torch_draws[0], atol=1e-4)


def test_another_object_is_picked_from_the_gallery(page: Page, address: str, root: Path):
    show(page, address, "circle-grey")
    found = known(root, "circle-grey")
    page.get_by_role("radio", name="Training objects", exact=True).click()
    other = next(n for n in range(12) if not found.new(n))
    name = f"{found.objects.names[other]}, training object"
    page.get_by_role("button", name=name, exact=True).click()
    expect(page.get_by_text(f"was trained on {found.objects.names[other]}")).to_be_visible(
        timeout=PATIENCE
    )
    expect(page).to_have_url(re.compile(f"object={other}"), timeout=PATIENCE)
    settle(page)
    w = [np.deg2rad(45.0)]
    torch_draws = expected(root, "circle-grey", other, found.given(other), w)
    np.testing.assert_allclose(hook(page, "decode(argument)", 45.0), torch_draws[0], atol=1e-4)
    held = page.locator(".view.held")
    expect(held).to_have_count(len(found.held(other)))


def test_objects_that_are_gone_are_missed_in_one_sentence(page: Page, address: str, root: Path):
    write_path = root / "bare"
    write_path.mkdir(exist_ok=True)
    for part in ("config.json", WEIGHTS):
        (write_path / part).write_bytes((root / "line-grey" / part).read_bytes())
    page.goto(f"{address}/rotate?model=runs%2Fbare")
    expect(page.get_by_role("alert")).to_contain_text(
        "The objects of 'bare' are gone", timeout=PATIENCE
    )


def test_other_pages_leave_objects_out(root: Path, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(root))
    app = open_page("extrapolate", model="runs/line-colour")
    assert not app.exception
    assert app.selectbox(key="model").options
    assert not [name for name in app.selectbox(key="model").options if name.startswith("runs/")]


def test_a_name_appears_as_it_is_and_loads_nothing(page: Page, address: str, root: Path):
    called = "![](http://host.test/x.png) _a_ $b$ :red[c] :smile: <b> "
    write(root, "line-grey", as_name="_named_", called=called)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    show(page, address, "_named_")
    found = known(root, "_named_")
    name = found.objects.names[found.split.unseen[0]]
    expect(page.get_by_text(f"has never met {name} and sees it")).to_be_visible(timeout=PATIENCE)
    page.goto(f"{address}/train?run=_named_")
    expect(page.get_by_text("_named_", exact=True)).to_have_count(2, timeout=PATIENCE)
    assert not [url for url in asked if "host.test" in url]


@pytest.mark.parametrize("local", [0, 8])
@pytest.mark.parametrize("script", ["rotate", "latents"])
def test_models_with_one_kind_of_channel(tmp_path, monkeypatch, local: int, script: str):
    write(tmp_path, "line-grey", local, "odd")
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    app = open_page(script, model="runs/odd")
    assert not app.exception
    assert any("object" in each.value for each in (*app.title, *app.caption))


def test_latents_has_the_mean_image_of_rotate_beside_its_error(tmp_path, monkeypatch):
    write(tmp_path, "line-grey")
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    app = open_page("latents", model="runs/line-grey")
    assert not app.exception
    found = known(tmp_path, "line-grey")
    number, train = found.split.unseen[0], found.split.train
    errors = []
    for image, w in zip(found.pixels(number), found.w(number), strict=True):
        nearest = [
            min(np.flatnonzero(seen), key=lambda q, at=at, w=w: abs(at[q] - w))
            for seen, at in zip(train.observed.numpy(), train.angles.numpy(), strict=True)
        ]
        mean = np.mean([train.images[p, q].numpy() for p, q in enumerate(nearest)], axis=0)
        errors.append(((mean - image) ** 2).mean())
    body = "".join(each.proto.body for each in app.get("html"))
    assert re.search(rf">{np.mean(errors):.4f}</div><div[^>]*>mean image<", body)


# Train


@pytest.mark.parametrize("name", list(RUNS))
def test_train_shows_what_a_run_makes_of_a_new_object(root: Path, monkeypatch, name: str):
    monkeypatch.setenv("FGPVAE_RUNS", str(root))
    app = open_page("train", run=name)
    assert not app.exception
    label = 'aria-label="an object at its views, true and generated"'
    (pictures,) = [each.proto.body for each in app.get("html") if label in each.proto.body]
    found, model = known(root, name), load_pretrained(root / name)
    number = found.split.unseen[0]
    given = np.isin(np.arange(8), found.given(number))
    scene = scenes.scene(model, found.pixels(number), found.w(number), given)
    made = scenes.draw(model, scene, found.w(number))
    shown = re.findall(r'<img src="([^"]+)"', pictures)
    assert shown == [png(image) for image in (*found.pixels(number), *made)]


# Latents


@pytest.mark.parametrize("name", ["line-colour", "circle-grey"])
def test_latents_of_own_objects(page: Page, address: str, root: Path, name: str):
    watch, found = Watch(page), known(root, name)
    page.goto(f"{address}/latents?model=runs%2F{name}")
    page.wait_for_selector(".st-key-latents-object_pca-local .main-svg", timeout=PATIENCE)
    settle(page)
    expect(page.get_by_text("left out for your own objects")).to_be_visible(timeout=PATIENCE)
    panels = page.locator(".st-key-latents-object_panels .annotation")
    expect(panels).to_have_count(3 + 5, timeout=PATIENCE)
    first = found.objects.names[found.split.unseen[0]]
    pictures = page.get_by_label(f"{first} at its recorded views, true and generated", exact=True)
    expect(pictures).to_be_visible()
    # a click on a point chooses its object and its place
    click_point(page, "latents-object_pca-local", 3, 7)
    shown = [*found.split.unseen, *(n for n in range(12) if not found.new(n))]
    names = [found.objects.names[number] for number in shown]
    chart = page.locator(".st-key-latents-object_pca-local").get_by_role("figure")
    expect(chart).not_to_have_attribute("aria-label", re.compile(rf"{re.escape(first)} is at"))
    settle(page)
    said = chart.get_attribute("aria-label") or ""
    other = next(name for name in names if f"{name} is at" in said)  # a neighbour may be on top
    named = page.get_by_label(f"{other} at its recorded views, true and generated", exact=True)
    expect(named).to_be_visible(timeout=PATIENCE)
    assert [error for error in watch.errors if "404" not in error] == []


def test_a_channel_of_the_page_is_the_posterior(root: Path):
    """What `curves` says on a line, against the model itself."""
    found, model = known(root, "line-grey"), load_pretrained(root / "line-grey")
    number = found.split.unseen[0]
    images = torch.as_tensor(found.pixels(number))[None]
    w, given = found.w(number), np.arange(len(found.w(number))) % 2 == 0
    everything = torch.ones(1, len(w), dtype=torch.bool)
    with torch.no_grad():
        mu, var = (
            x[0].double().numpy()
            for x in model.encode(images, torch.as_tensor(w)[None], everything)
        )
    grid = np.linspace(-1, 1, 9)
    curves = latents.curves(model, mu, var, given, grid, w)
    posterior = model.infer(images, torch.as_tensor(w)[None], torch.as_tensor(given)[None])
    with torch.no_grad():
        mean = posterior.mean(torch.as_tensor(grid)[None])[0].numpy()
        spread = posterior.variance(torch.as_tensor(grid)[None])[0].sqrt().numpy()
    np.testing.assert_allclose(curves.mean, mean, atol=1e-6)
    np.testing.assert_allclose(curves.sd, spread, atol=1e-6)
