"""Figures of cubes on the pages Rotate and Extrapolate."""

from collections.abc import Iterator

import numpy as np
import pytest
from playwright.sync_api import Browser, expect
from streamlit.testing.v1 import AppTest

from fgpvae import load_pretrained
from fgpvae.data import cubes
from fgpvae.figure_view import figure_of, imagine
from tests.browser import ROOT, serve, settle
from ui.catalog import figures
from ui.components.builder.builder import _checked
from ui.inference import figure

MOVES = "x3 y2 -z2 x2"


@pytest.fixture(autouse=True)
def no_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))


def open_page(page: str, **link: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=120)
    for name, value in link.items():
        app.query_params[name] = value
    app.run()
    return app if page == "rotate" else app.switch_page(f"pages/{page}.py").run()


def linked(app: AppTest, name: str) -> str:
    value = app.query_params[name]
    return value[0] if isinstance(value, list) else value


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


@pytest.mark.parametrize(
    ("given", "far"), [([2], 14), ([2, 14], 8), (list(range(24)), None), ([0, 6, 12, 18], 3)]
)
def test_the_next_view_is_the_farthest_from_all(given: list[int], far: int | None):
    assert figure.opposite(given) == far


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
    assert "which it never met, from 30° only" in app.caption[0].value
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
    seen = imagine(load_pretrained("cubes"), MOVES, np.deg2rad([30, 210]), figures.AROUND)
    assert f"± {seen.doubt.mean():.3f} between them" in said(app)
    assert f"off by {np.sqrt(seen.errors.mean()):.3f}" in said(app)


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


@pytest.mark.parametrize("page", ["latents", "train", "compare", "how"])
def test_other_pages_do_with_the_model_in_the_address(page: str):
    app = open_page(page, model="cubes")
    assert not app.exception
    assert app.title


# --- in a browser ---


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serve(ROOT / "app.py", FGPVAE_RUNS=str(tmp_path_factory.mktemp("runs"))) as address:
        yield address


COLUMN = "e => e.getRootNode().host.fgpvae.column()"
PIXELS = "e => e.getRootNode().host.fgpvae.pixels(0).filter((_, k) => k % 4 === 0)"


@pytest.mark.slow
def test_truth_and_possibilities_turn_with_the_dial_and_a_click_adds_a_cube(
    browser: Browser, address: str
):
    page = browser.new_page(viewport={"width": 1400, "height": 1100})
    page.goto(f"{address}/extrapolate?model=cubes&figure=x3y2-z2x2&angle=90")
    settle(page)
    tables = page.locator(".turntable")
    expect(tables).to_have_count(2)
    expect(tables.first.locator("dd").first).not_to_be_empty()
    assert [each.evaluate(COLUMN) for each in tables.all()] == [12, 12]
    true = cubes.draw([figure_of(MOVES)], figures.AROUND[None, [12]])[0, 0]
    assert tables.first.evaluate(PIXELS) == true.reshape(-1).tolist()

    page.locator(".grab[role=slider]").press("Home")
    for table in tables.all():
        page.wait_for_function(f"e => ({COLUMN})(e) === 0", arg=table.element_handle())
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
    page.close()
