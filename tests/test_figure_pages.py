"""Figures of cubes on the pages Rotate and Extrapolate."""

import io
import re
from types import SimpleNamespace
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Page, expect
from streamlit.testing.v1 import AppTest

from fgpvae import UserError, comparison, evaluation, load_pretrained
from fgpvae.data import cubes
from fgpvae.digit_view import turn
from fgpvae.figure_view import figure_of, imagine
from fgpvae.presets import PRESETS
from tests.browser import Tabs, settle
from tests.pages import open_page
from tests.test_rotate import linked
from ui.catalog import figures, models, objects
from ui.components.builder.builder import _checked
from ui.inference import downloads, figure
from ui.train import run_detail

MOVES = "x3 y2 -z2 x2"


@pytest.fixture(autouse=True)
def no_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))


def said(app: AppTest) -> str:
    return " ".join(each.value for each in app.caption)


# --- without a page ---


def test_figures_of_all_numbers_are_unseen_and_fit():
    kept = {each.shape for each in cubes.splits().unseen}
    shown = [figures.unseen(number) for number in range(6)]
    assert len(set(shown)) == len(shown)
    assert all(figure_of(moves).shape in kept for moves in shown)
    assert figures.kind(shown[0]) == "unseen"
    assert figures.kind(cubes.splits().training[0].moves) == "training"
    assert figures.kind("x2") == "other"


def test_sides_in_words():
    assert figure.words([2]) == "from 30° only"
    assert figure.words([2, 8, 14]) == "from 30°, 120° and 210°"
    assert figure.words(list(range(8))) == "from eight sides"
    assert figure.words(list(range(24))) == "from 24 sides"


@pytest.mark.parametrize(
    "sent", [None, {}, {"cubes": [[0, 0]]}, {"cubes": [[0, 0, 1000]]}, {"cubes": [[0, 0, 0]] * 61}]
)
def test_only_cubes_are_taken_from_the_browser(sent: object):
    assert _checked(sent) is None


# --- Rotate ---


def test_rotate_leads_from_digits_to_objects_and_back():
    app = open_page("rotate", model="paper")
    app.segmented_control(key="rotate.things").set_value("Objects").run()
    assert not app.exception
    assert app.title[0].value == "Rotate an object"
    assert linked(app, "model") == "cubes"
    assert "which is new to it, from 30° only" in app.caption[0].value
    assert "digit" not in app.query_params

    first = linked(app, "figure")
    app.button(key="rotate.another").click().run()
    assert linked(app, "figure") != first
    app.segmented_control(key="rotate.figure.count").set_value(2).run()
    assert linked(app, "views") == "2_14"
    assert "30° and 210°" in app.caption[0].value

    app.segmented_control(key="rotate.things").set_value("Digits").run()
    assert not app.exception
    assert app.title[0].value == "Rotate a digit"
    assert linked(app, "model") == "paper"
    assert "figure" not in app.query_params


def test_a_link_opens_a_figure_and_the_numbers_are_those_of_the_package():
    app = open_page("rotate", model="cubes", figure="x3y2-z2x2", views="2_14", angle="90")
    assert not app.exception
    assert (linked(app, "figure"), linked(app, "views")) == ("x3y2-z2x2", "2_14")
    model = load_pretrained("cubes")
    seen = imagine(model, MOVES, np.deg2rad([30, 210]), figures.AROUND)
    sides = seen.doubt[::2]  # of 48 angles those at which a view can be given
    assert f"by ± {sides[[2, 14]].mean():.3f} per pixel on the sides it sees" in said(app)
    rest = np.delete(np.arange(24), [2, 14])
    most = rest[sides[rest].argmax()]
    assert f"most at {15 * most}°, by ± {sides[most]:.3f}" in said(app)
    more = imagine(model, MOVES, np.deg2rad([30, 210, 15 * most]), figures.AROUND)
    assert f"from ± {seen.doubt.mean():.3f} to ± {more.doubt.mean():.3f}." in said(app)


def test_nothing_is_left_to_see_from_all_sides():
    every = "_".join(map(str, range(24)))
    app = open_page("rotate", model="cubes", figure="x3y2-z2x2", views=every)
    assert not app.exception
    assert "has seen all sides" in said(app)
    assert "Seeing that side" not in said(app)


def test_a_style_is_in_the_link_and_the_figures_own_is_not():
    own = open_page("rotate", model="cubes", figure="x3y2-z2x2")
    assert "style" not in own.query_params
    size = load_pretrained("cubes").config
    style = "_".join(["0.5"] * (size.latents - size.local))
    app = open_page("rotate", model="cubes", figure="x3y2-z2x2", style=style)
    assert not app.exception
    assert linked(app, "style") == style
    assert "that nobody has built" in app.caption[0].value


@pytest.mark.parametrize("page", ["rotate", "extrapolate"])
def test_what_can_be_taken_along(page: str):
    app = open_page(page, model="cubes", figure="x3y2-z2x2", angle="90")
    model, w = load_pretrained("cubes"), cubes.grid().numpy()
    found = {each.label: each for each in app.get("download_button")}
    assert list(found) == ["Picture", "Full turn", "Dial", "Latents, JSON", "Latents, CSV"]
    turning = turn(model, figures.views(MOVES), w, np.arange(24) == 2)
    picture = Image.open(io.BytesIO(downloads.picture(turning, np.pi / 2, None)))
    assert picture.size == (1024, 1024)
    small = np.asarray(picture.resize((32, 32), Image.Resampling.BOX)) / 255
    made = imagine(model, MOVES, [np.pi / 6], [np.pi / 2]).mean[0].clip(0, 1)
    assert np.abs(small - made).mean() < 0.02
    film = Image.open(io.BytesIO(downloads.full_turn(turning, None)))
    assert film.n_frames == downloads.FRAMES
    told = downloads.latents(turning, np.pi / 2, None)
    assert told["views_degrees"] == [30.0]
    kinds = [each["kind"] for each in told["channels"]]
    assert kinds.count("local") == model.config.local


def test_a_broken_link_opens_an_unseen_figure():
    app = open_page("rotate", model="cubes", figure="x99", views="77_nan")
    assert not app.exception
    assert linked(app, "views") == "2"
    assert figures.kind(linked(app, "figure")) == "unseen"


# --- Extrapolate ---


def test_a_figure_is_built_by_its_moves_and_bad_ones_get_a_sentence():
    app = open_page("extrapolate", model="cubes")
    assert not app.exception
    assert app.title[0].value == "Turn a figure of your own"
    app.text_input(key="extrapolate.typed").set_value("x2 (y) z2").run()
    assert linked(app, "figure") == "x2(y)z2"
    for bad, why in (
        ("", "is empty"),
        ("x5 y5", "more than 10"),
        ("hello", ""),
        ("x9", "too long"),
    ):
        app.text_input(key="extrapolate.typed").set_value(bad).run()
        assert not app.exception
        shown = [each.body for each in app.get("html") if "notice problem" in each.body]
        assert len(shown) == 1
        assert why in shown[0]
        assert linked(app, "figure") == "x2(y)z2"  # it is still there
    app.button(key="extrapolate.another").click().run()
    assert not [each for each in app.get("html") if "notice problem" in each.body]
    assert figures.kind(linked(app, "figure")) == "unseen"


# --- the other pages ---


def test_compare_asks_the_same_figures_of_every_model():
    app = open_page("compare", model="cubes")
    assert not app.exception
    assert app.multiselect(key="compare.figures").value == ["cubes"]
    assert app.button(key="compare.evaluate.compare.figures").disabled  # its result is committed
    app.select_slider(key="compare.figure_at").set_value(60).run()
    app.segmented_control(key="compare.figure_given").set_value(2).run()
    assert not app.exception
    shown = next(each.body for each in app.get("html") if "figure 7, truth" in each.body)
    answer = comparison.figure_answer(load_pretrained("cubes"), comparison.FigureQuestion(2, 4))
    assert f"mean {answer.mse:.4f}" in shown
    assert f"<b>{answer.errors[7]:.4f}</b>" in shown
    labels = [each.label for each in app.get("download_button")]
    assert labels.count("PNG") == 2


def test_a_question_about_figures_is_answered_as_by_hand():
    model, question = load_pretrained("cubes"), comparison.FigureQuestion(2, 4)
    figure = cubes.turned_copies(cubes.splits().unseen)[9]
    seen = imagine(model, figure, np.deg2rad([30, 210]), np.deg2rad([60]))
    answer = comparison.figure_answer(model, question)
    assert np.abs(comparison.truth(question)[1] - seen.truth[0]).max() < 1e-6
    assert np.abs(answer.images[1] - seen.mean[0]).max() < 1e-4
    assert answer.errors[1] == pytest.approx(seen.errors[0], rel=1e-3)
    without = comparison.figure_references(question, np.zeros((32, 32), dtype=np.float32))
    assert without["mean image"].errors[1] == pytest.approx((seen.truth[0] ** 2).mean())
    assert np.array_equal(without["nearest view"].images[1], seen.views[0])
    for wrong in ((3, 4), (1, 2), (1, 24)):
        with pytest.raises(UserError, match="not given"):
            comparison.FigureQuestion(*wrong)


def test_errors_by_views_are_those_of_the_evaluation():
    model = load_pretrained("cubes")
    found = comparison.figure_mse_by_views(model)
    one = cubes.task(evaluation.unseen_figures(), 1)
    assert list(found) == [1, 2, 4, 8]
    assert found[1] == pytest.approx(evaluation.score(model, {"1": one})["1"].mse)


def test_how_it_works_measures_figures_and_says_what_the_model_is_for():
    app = open_page("how", model="cubes", screen="5")
    assert not app.exception
    app.slider(key="how.style.views").set_value(24).run()
    assert "all the views there are" in " ".join(each.value for each in app.markdown)
    assert app.slider(key="how.style.digit").label == "Figure"
    app.selectbox(key="model").set_value("best").run()
    assert not app.exception  # sixteen views are all that a digit has
    assert app.slider(key="how.style.views").max == 16
    app.segmented_control(key="how.screen").set_value(1).run()
    assert "It cannot turn an object in space" in " ".join(each.value for each in app.markdown)


def test_a_run_on_figures_leads_to_the_pages_that_show_it(tmp_path):
    run = SimpleNamespace(name="mine", config=PRESETS["cubes-quick"])
    assert run_detail.uses(run) == {
        "Rotate": {"model": "runs/mine"},
        "Latents": {"model": "runs/mine"},
        "Extrapolate": {"model": "runs/mine"},
        "Compare": {"compare.figures": ["runs/mine", "cubes"]},
    }


def test_latents_places_unseen_figures():
    app = open_page("latents", model="cubes")
    assert not app.exception
    assert linked(app, "model") == "cubes"
    assert app.selectbox(key="latents.object").options[:2] == [figures.unseen(0), figures.unseen(1)]
    app.selectbox(key="latents.object").set_value(1).run()
    assert not app.exception
    assert linked(app, "object") == "1"
    assert "one view of an object" in app.caption[0].value


def test_the_set_of_figures_has_their_pictures_and_sides():
    found = objects.load_objects(models.find("cubes"))
    assert all(found.new(number) for number in range(len(found)))
    assert found.views(3).tolist() == [15.0 * k for k in range(24)]
    drawn = cubes.draw([figure_of(figures.unseen(3))], np.deg2rad([[45.0]]))[0, 0]
    assert np.abs(found.pixels(3)[3] - drawn / 255).max() < 1e-6
    assert np.allclose(found.mean_image(np.pi / 4), figures.training_images()[:, 6].mean(0))


# --- in a browser ---


COLUMN = "e => e.getRootNode().host.fgpvae.column()"
PIXELS = "e => e.getRootNode().host.fgpvae.pixels(0).filter((_, k) => k % 4 === 0)"


@pytest.mark.slow
def test_truth_and_possibilities_turn_with_the_dial_and_a_click_adds_a_cube(
    tabs: Tabs, address: str
):
    page = tabs.open(1400, 1100)
    page.goto(f"{address}/extrapolate?model=cubes&figure=x3y2-z2x2&angle=90")
    settle(page)
    tables = page.locator(".turntable")
    expect(tables).to_have_count(2)
    expect(tables.first.locator("dd").first).not_to_be_empty()
    for table in tables.all():  # they follow the dial
        page.wait_for_function(f"e => ({COLUMN})(e) === 12", arg=table.element_handle())
    true = cubes.draw([figure_of(MOVES)], figures.AROUND[None, [12]])[0, 0]
    assert tables.first.evaluate(PIXELS) == true.reshape(-1).tolist()

    page.get_by_label("Angle in degrees", exact=True).fill("45")
    for table in tables.all():
        page.wait_for_function(f"e => ({COLUMN})(e) === 6", arg=table.element_handle())
    expect(page.locator(".reading .angle")).to_have_text("45.0°")
    page.locator(".grab[role=slider]").press("Home")
    for table in tables.all():
        page.wait_for_function(f"e => ({COLUMN})(e) === 0", arg=table.element_handle())
    expect(page).not_to_have_url(re.compile("angle=(90|45)"))  # the server has it, too
    settle(page)

    paper = page.locator(".builder canvas")
    paper.focus()
    paper.press("ArrowUp")
    paper.press("Delete")
    expect(page.locator(".builder .count")).to_have_text("9 of 10 cubes")
    settle(page)
    face = paper.evaluate("e => e.getRootNode().host.fgpvae.faces().at(-1).corners")
    x, y = np.mean(face, axis=0)
    box = paper.bounding_box()
    paper.click(position={"x": float(x * box["width"]), "y": float(y * box["height"])})
    expect(page.locator(".builder .count")).to_have_text("10 of 10 cubes")
    settle(page)
    tabs.close(page)


def parameters(page: Page) -> dict[str, str]:
    return {name: value[0] for name, value in parse_qs(urlsplit(page.url).query).items()}


@pytest.mark.slow
def test_a_newcomer_comes_from_a_digit_to_a_figure_and_builds_one(tabs: Tabs, address: str):
    page = tabs.open(1400, 900)
    page.goto(address)
    settle(page)
    page.get_by_role("link", name="Objects that it cannot turn").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rotate an object")
    settle(page)
    samples = page.locator(".turntable", has_text="possible 6")
    expect(samples.locator("canvas")).to_have_count(6)
    box = samples.bounding_box()
    assert box["y"] + box["height"] <= 900  # nothing has to be scrolled to see all six
    assert samples.locator("canvas").first.bounding_box()["width"] > 170

    before = samples.evaluate("e => e.getRootNode().host.fgpvae.sheet()")
    page.locator(".st-key-rotate-figure-count button", has_text="2").click()
    page.wait_for_url("**views=2_14**")
    settle(page)
    assert samples.evaluate("e => e.getRootNode().host.fgpvae.sheet()") != before

    page.get_by_role("button", name="195 degrees, imagined").click()
    page.wait_for_url("**angle=195**")
    slider = page.locator(".sliders input").first
    slider.focus()
    slider.press("ArrowRight")
    expect(page.get_by_text("there is no true picture to compare with")).to_be_visible()
    page.wait_for_url("**style=**")
    settle(page)
    kept = parameters(page)
    page.reload()
    expect(page.get_by_text("that nobody has built")).to_be_visible()
    settle(page)
    assert parameters(page) == kept

    page.get_by_role("link", name="Build one of your own").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Turn a figure of your own")
    expect(page.locator(".builder canvas")).to_be_visible()
    settle(page)
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Rotate an object")
    tabs.close(page)
