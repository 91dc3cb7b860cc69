"""Every page with every collection, and what a page does with its controls and its link."""

import numpy as np
import pytest

from tests import small_runs
from tests.pages import html, linked, open_page, sent
from ui.catalog import models
from ui.catalog.subjects import some
from ui.shell import query_params
from ui.train.run_cards import uses

MODELS = {
    "digits": "best",
    "baseline": "cvae",
    "cubes": "cubes",
    "films": "films",
    "own": "runs/bars",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Runs of every kind of model, and one on own objects on a line."""
    root = tmp_path_factory.mktemp("pages") / "runs"
    small_runs.make(root)
    small_runs.own_objects(root / "bars")
    return root


@pytest.fixture(autouse=True)
def runs(root, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(root))


def choose(at, option):
    """Click an option of the pills or segmented control that has it."""
    group = next(each for each in at.get("button_group") if option in (each.options or ()))
    group.set_value([option]) if isinstance(group.value, list) else group.set_value(option)
    return fine(at.run())


def fine(at):
    assert not at.exception, at.exception
    assert not at.error
    return at


@pytest.mark.parametrize("collection", MODELS)
@pytest.mark.parametrize("page", ["rotate", "extrapolate", "latents"])
def test_every_page_shows_every_collection(page, collection):
    at = fine(open_page(page, model=MODELS[collection]))
    assert len(at.title) == 1
    assert at.selectbox(key="model").value == MODELS[collection]


@pytest.mark.parametrize(
    ("key", "names"),
    [
        ("compare.digits", ["best", "runs/turning"]),
        ("compare.objects", ["cubes"]),
        ("compare.objects", ["runs/bars"]),
        ("compare.films", ["films"]),
    ],
)
def test_compare_shows_every_collection(key, names):
    group = {"compare.digits": "best", "compare.objects": "cubes", "compare.films": "films"}[key]
    at = fine(open_page("compare", model=group, **{key: names}))
    assert at.multiselect(key=key).value == names
    assert html(at, "mean image")


def test_links_to_compare_have_the_group_and_what_can_be_compared():
    link = uses(models.find("runs/bars"))["compare"]
    at = fine(open_page("compare", **link))
    assert at.multiselect(key="compare.objects").value == ["runs/bars"]
    at = open_page("rotate", model="films")
    at.switch_page("pages/compare.py")
    at.query_params.clear()  # as the menu opens it
    fine(at.run())
    assert linked(at, "model") == "films"
    assert linked(at, "compare.films") == "films"  # so that Back finds it
    at = open_page("compare", model="runs/gone", **{"compare.objects": ["runs/gone", "cubes"]})
    assert at.multiselect(key="compare.objects").value == ["cubes"]
    assert html(at, "There is no run")


@pytest.mark.parametrize("name", ["turning", "vae", "cvae", "gpvae", "gpvae-amortised"])
@pytest.mark.parametrize("page", ["rotate", "latents"])
def test_every_kind_of_model_is_shown(page, name):
    fine(open_page(page, model=f"runs/{name}"))


@pytest.mark.parametrize(("page", "screen"), [("rotate", "1"), ("how", "2")])
def test_the_track_of_a_film_is_thin_at_the_frames_that_were_given(page, screen):
    at = open_page(page, model="films", screen=screen)
    [dial] = sent(at, "widths")
    places = np.linspace(0, 1, len(dial["widths"]))
    widths = np.interp(np.linspace(0, 1, 24), places, dial["widths"])  # at the frames
    thin = {k for k, width in enumerate(widths) if width < 2 * min(widths)}
    assert thin == {3, 9, 15, 21}


def test_where_few_objects_are_new_latents_show_those_of_training_too():
    choice = models.find(MODELS["own"])
    new = list(choice.collection.subjects(True))
    shown = some(choice.collection, True, 60)
    assert 0 < len(new) < len(shown) == 10
    assert shown[: len(new)] == new


def test_a_link_opens_the_same_picture():
    link = {
        "model": "best",
        "subject": "new-7-3",
        "other": "new-7-5",
        "angle": "33",
        "views": "0_8",
    }
    at = fine(open_page("rotate", **link))
    assert {name: linked(at, name) for name in link} == link
    assert at.slider(key="rotate.digits.count").value == 2


@pytest.mark.parametrize(
    "link",
    [
        {"subject": "new-99"},
        {"angle": "nan", "views": "x_y", "style": "1e99"},
        {"subject": "../../etc", "other": "3-9999"},
    ],
)
def test_broken_links_open_the_page_all_the_same(link):
    fine(open_page("rotate", model="best", **link))


def test_the_number_of_views_keeps_those_that_are_there():
    at = fine(open_page("rotate", model="best", views="3_5"))
    at.slider(key="rotate.digits.count").set_value(4).run()
    views = query_params.numbers(linked(at, "views"))
    assert len(views) == 4
    assert {3, 5} <= set(views)
    at.slider(key="rotate.digits.count").set_value(1).run()
    assert query_params.numbers(linked(at, "views"))[0] in views


def test_the_switch_leads_to_films_and_back_to_the_model_before():
    at = fine(open_page("rotate", model="paper"))
    for group, model in (("Films", "films"), ("Digits", "paper")):
        at = choose(at, group)
        assert at.selectbox(key="model").value == model


def test_a_model_that_takes_no_new_digits_shows_training_digits():
    at = fine(open_page("rotate", model="runs/gpvae", subject="new-3-2"))
    assert not linked(at, "subject").startswith("new-")
    assert at.slider(key="rotate.digits.count").disabled


def test_own_objects_that_are_gone_are_missed_in_one_sentence(tmp_path, monkeypatch):
    small_runs.own_objects(tmp_path / "bars")
    (tmp_path / "bars" / "objects.npz").unlink()
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    at = fine(open_page("rotate", model="runs/bars"))
    assert html(at, "gone")


def test_angle_and_views_of_a_link_are_for_its_own_collection_alone():
    at = fine(open_page("rotate", model="cubes", angle="150", views="0_22"))
    (cubes,) = sent(at, "observed")
    assert cubes["pose"]["angle"] == 150
    assert sum(cubes["observed"]) == 2
    choose(at, "Films")
    (film,), (fresh,) = (
        sent(each, "observed") for each in (at, open_page("rotate", model="films"))
    )
    assert film["pose"]["angle"] == fresh["pose"]["angle"]  # a film ends at 100
    assert film["observed"] == fresh["observed"]
    at = fine(open_page("rotate", model="films", angle="150"))
    assert sent(at, "observed")[0]["pose"]["angle"] == 100
