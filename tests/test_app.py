"""The frame of the app, and its pages Latents and How it works."""

import importlib
import json
import math
import os
import re
import shutil
from pathlib import Path
from urllib.parse import parse_qs, urlparse

import numpy as np
import pytest
import torch
from playwright.sync_api import expect
from streamlit.testing.v1 import AppTest

from fgpvae import background, checkpoints, data, runs
from fgpvae.configs import CUBES, DataConfig, RunConfig
from fgpvae.data import ANGLES, HELD_OUT_INDEX
from fgpvae.kernels import Periodic
from fgpvae.posterior import local_posterior
from tests import small_runs
from tests.browser import click_point, place_of, settle
from tests.pages import open_page
from ui.catalog import models
from ui.components import pictures
from ui.latents import disentanglement
from ui.shell import about, frame, palette

ROOT = Path(__file__).parent.parent
PAGES = [name for name, _ in frame.PAGES]


@pytest.fixture
def app(every_kind, monkeypatch):
    """The app with a run of every kind of model, at a page of one's choice."""
    monkeypatch.setenv("FGPVAE_RUNS", str(every_kind))
    return open_page


@pytest.fixture
def no_models(monkeypatch, tmp_path):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path / "nothing"))
    monkeypatch.setattr(checkpoints, "PRETRAINED", tmp_path / "nothing")


def fine(at: AppTest) -> bool:
    return not at.exception and not at.error


def texts(at: AppTest) -> str:
    return "\n".join(
        str(each.value)
        for each in (*at.markdown, *at.caption, *at.title, *at.header, *at.subheader)
    )


def html(at: AppTest) -> str:
    return "\n".join(each.proto.body for each in at.get("html"))


# --- the frame --------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
def test_every_page_has_a_title_and_one_sentence(app, page):
    at = app(page)
    assert fine(at), at.exception
    assert len(at.title) == 1
    assert at.caption[0].value.endswith((".", "!", "?"))


def test_the_app_opens_with_its_first_page_and_a_menu(app):
    at = AppTest.from_file(str(ROOT / "app.py"), default_timeout=240).run()
    assert fine(at), at.exception
    assert at.title[0].value == app(PAGES[0]).title[0].value
    assert "by hand" in at.sidebar.caption[0].value
    links = [each.proto.label for each in at.sidebar.get("page_link")]
    assert links == [title for _, title in frame.PAGES]
    at.sidebar.button(key="shell.about").click().run()
    said = " ".join(each.value for each in at.markdown)
    assert fine(at), at.exception
    assert "](https://arxiv.org/abs/2011.07255)" in said
    assert "MIT licence" in said
    assert all(f"**{word}**" in said for word in about.GLOSSARY)


@pytest.mark.parametrize("page", PAGES)
def test_every_page_does_without_models(no_models, page):
    at = open_page(page)
    assert fine(at), at.exception


@pytest.mark.parametrize("page", PAGES)
def test_every_page_starts_with_the_guard(page):
    """On a fresh server the first deep link runs a page without app.py."""
    code = (ROOT / "pages" / f"{page}.py").read_text()
    calls = re.findall(r"^(?:frame|st)\.(\w+)\(", code, flags=re.MULTILINE)
    assert calls[0] == "guard"


def test_icon_goes_once_around_the_circle():
    drawn = re.findall(r'stroke="(#\w{6})"', frame.ICON)
    assert drawn == list(palette.CYCLE[::4])


# --- models -----------------------------------------------------------------------------------


def test_own_runs_come_after_shipped_models(every_kind, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(every_kind))
    names = [choice.name for choice in models.available()]
    shipped = [  # models of cubes are shown elsewhere
        name
        for name in checkpoints.pretrained_names()
        if checkpoints.shipped_config(name).data.split != CUBES
    ]
    assert sorted(names[: len(shipped)]) == shipped
    assert set(names[len(shipped) :]) == {f"runs/{name}" for name in small_runs.CONFIGS}
    if "best" in shipped:
        assert names[0] == "best"


def test_a_run_is_loaded_again_when_its_weights_change(tmp_path, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    small_runs.make(tmp_path, "turning")
    first = models.find("runs/turning")
    old = first.load()
    assert first.load() is old
    assert first.title == "FGP-VAE"
    assert first.classes == (3, 7)
    changed = checkpoints.load_model(first.path)
    with torch.no_grad():
        next(changed.parameters()).add_(1)
    checkpoints.save_model(changed, first.path)
    second = models.find("runs/turning")
    assert second != first
    ours, theirs = (next(each.parameters()) for each in (second.load(), old))
    torch.testing.assert_close(ours, theirs + 1)


def test_a_run_that_is_watched_drives_no_other_model_out_of_memory(tmp_path, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    small_runs.make(tmp_path, "turning", "cvae")
    kept = models.find("runs/cvae")
    model = kept.load()
    for version in range(2 * models.MOST):
        weights = tmp_path / "turning" / checkpoints.WEIGHTS
        os.utime(weights, (version, 10_000 + version))
        models.find("runs/turning").load()
    assert kept.load() is model


def test_a_run_that_took_the_name_of_another_is_not_shown_as_that(tmp_path, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    small_runs.make(tmp_path, "turning", "cvae")
    os.utime(tmp_path / "cvae" / checkpoints.WEIGHTS, (1, 1))  # older
    chosen = models.find("runs/turning")
    assert chosen.load().title == "FGP-VAE"
    background.delete(background.find(tmp_path, "turning"))
    background.rename(background.find(tmp_path, "cvae"), "turning")
    assert models.find("runs/turning").load().title == "CVAE"
    assert chosen.load().title == "CVAE"  # a page that has not looked again


def test_models_that_are_not_used_leave_memory(tmp_path):
    small_runs.make(tmp_path, "turning")
    weights = tmp_path / "turning" / checkpoints.WEIGHTS
    cache, choices = models.ModelCache(2), []
    for name in "abc":
        shutil.copy(weights, tmp_path / name)
        choices.append(models.Choice(name, tmp_path / name, 1.0))
    first, second = cache.load(choices[0]), cache.load(choices[1])
    assert cache.load(choices[0]) is first  # now the second is the oldest
    cache.load(choices[2])
    assert cache.load(choices[0]) is first
    assert cache.load(choices[1]) is not second


def test_a_run_without_a_checkpoint_is_not_offered(tmp_path, monkeypatch):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    small_runs.make(tmp_path, "turning")
    (tmp_path / "turning" / checkpoints.WEIGHTS).unlink()
    assert models.find("runs/turning") is None


def test_the_link_chooses_the_model_and_other_pages_keep_it(app):
    at = app("latents", model="runs/turning")
    assert at.selectbox(key="model").value == "runs/turning"
    at.switch_page("pages/train.py").run()
    at.switch_page("pages/latents.py").run()
    assert at.selectbox(key="model").value == "runs/turning"


@pytest.mark.parametrize(("page", "query"), [("latents", {}), ("how", {"screen": "5"})])
def test_a_damaged_run_is_named(tmp_path, monkeypatch, page, query):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    small_runs.make(tmp_path, "turning")
    (tmp_path / "turning" / checkpoints.WEIGHTS).write_bytes(b"junk")
    at = open_page(page, model="runs/turning", **query)
    assert fine(at), at.exception
    assert at.selectbox(key="model").value == "runs/turning"
    assert 'role="alert"' in html(at)
    assert "damaged" in html(at)


def test_a_link_to_a_run_that_is_gone_says_so_and_opens_no_other(app):
    at = app("latents", model="runs/deleted")
    assert fine(at)
    assert any("no run 'deleted'" in each.value for each in at.caption)
    assert not [each for each in at.selectbox if each.key == "model"]
    at.button[0].click().run()
    assert at.query_params["model"] == at.selectbox(key="model").value


def test_going_back_restores_the_model_and_the_screen(app):
    at = app("latents", model="runs/turning")
    at.selectbox(key="model").set_value("runs/vae").run()
    assert at.query_params["model"] in ("runs/vae", ["runs/vae"])
    at.query_params["model"] = "runs/turning"  # what Back does to the address
    assert at.run().selectbox(key="model").value == "runs/turning"
    at = app("how", screen="2")
    at.query_params["screen"] = "3"
    assert at.run().session_state["how.screen"] == 3


# --- latents ----------------------------------------------------------------------------------


def test_latents_of_a_model_without_an_encoder_says_what_to_do(app):
    at = app("latents", model="deep-svgp")
    assert [title.value for title in at.title] == ["Latents"]
    assert "has no encoder" in html(at)
    assert "another model" in html(at)


@pytest.mark.parametrize("name", small_runs.CONFIGS)
def test_latents_shows_every_kind_of_model(app, name):
    at = app("latents", model=f"runs/{name}")
    assert fine(at), at.exception
    said = texts(at)
    divided = name == "turning"
    titles = ["Local channels", "Global channels"] if divided else ["All channels"]
    if name == "cvae":  # it is told the angle
        titles = ["Global channels"]
    named = [each.proto.alt.partition(":")[0] for each in at.get("plotly_chart")]
    assert [name for name in named if name.endswith(" channels")] == titles
    assert ("What each global channel does" in said) == divided
    assert "This digit" in said
    assert html(at).count("true") >= 1


@pytest.mark.parametrize("name", ["turning", "gpvae"])
def test_latents_has_the_references_of_rotate_beside_its_errors(app, name):
    at = app(
        "latents",
        model=f"runs/{name}",
        **{"latents.given": "1", "latents.digit": "2", "latents.view": "67.5°"},
    )
    assert fine(at), at.exception
    training = data.embedded((3,)).images[:360]
    upright = training[2] if name == "gpvae" else data.unseen((3,)).images[2]
    views = data.rotate(upright[None], ANGLES)[0]
    seen = [0]  # a GP-VAE has its training views, whatever it is given
    if name == "gpvae":
        seen = data.factorized((3, 7)).angles[2].div(ANGLES[1]).round().long().tolist()
    nearest = min(seen, key=lambda k: abs(k - 3))
    turned = data.rotate(views[[nearest]], [ANGLES[3] - ANGLES[nearest]])[0, 0]
    mean = data.rotate(training.mean(0)[None], ANGLES[[3]])[0, 0]
    for image, title in ((turned, "geometric rotation"), (mean, "mean image")):
        assert number(at, title) == f"{((image - views[3]) ** 2).mean():.4f}"


def number(at: AppTest, title: str) -> str:
    """The figure above a name."""
    return re.search(rf">([^<>]+)</div><div[^>]*>{title}<", html(at)).group(1)


def test_latents_keeps_its_choices_on_the_way_to_another_page_and_back(app):
    at = app(
        "latents",
        model="runs/turning",
        **{"latents.colour": "class", "latents.digit": "7", "latents.given": "4"},
    )
    assert at.slider(key="latents.digit").value == 7
    at.switch_page("pages/how.py").run()
    at.switch_page("pages/latents.py").run()
    assert at.session_state["latents.colour"] == "class"
    assert at.slider(key="latents.digit").value == 7
    assert at.session_state["latents.given"] == 4


def test_latents_of_a_digit_that_this_model_does_not_have(app):
    at = app("latents", model="runs/turning", **{"latents.digit": "59"})
    at.selectbox(key="model").set_value("runs/gpvae").run()
    assert fine(at), at.exception
    assert at.slider(key="latents.digit").value < 60


def test_latents_of_a_run_on_few_digits(tmp_path, monkeypatch):
    small_runs.make(tmp_path, "gpvae", digits=10)
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    at = open_page("latents", model="runs/gpvae", **{"latents.digit": "19"})
    assert fine(at), at.exception
    assert at.slider(key="latents.digit").max == 19
    assert "MSE of all sixteen" in html(at)


def test_latents_of_a_run_on_one_digit(tmp_path, monkeypatch):
    small_runs.make(tmp_path, "gpvae", classes=(3,), digits=1)
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    at = open_page("latents", model="runs/gpvae")
    assert fine(at), at.exception
    assert at.slider(key="latents.digit").disabled
    assert "MSE of all sixteen" in html(at)


def test_latents_in_three_dimensions_and_by_single_views(app):
    at = app(
        "latents",
        model="runs/turning",
        **{"latents.space": "3-D", "latents.placed_by": "itself alone"},
    )
    assert fine(at), at.exception
    assert at.session_state["latents.space"] == "3-D"


def test_one_class_cannot_be_coloured_by_class(tmp_path, monkeypatch):
    small_runs.make(tmp_path / "runs", "turning", classes=(3,))
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path / "runs"))
    at = open_page("latents", model="runs/turning", **{"latents.colour": "class"})
    assert fine(at), at.exception
    assert at.session_state["latents.colour"] == "angle"


def test_measuring_lists_every_model_with_a_sentence_a_figure(tmp_path, monkeypatch):
    small_runs.make(tmp_path / "runs", "turning", "vae", classes=(3,))
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path / "runs"))
    monkeypatch.setattr(checkpoints, "PRETRAINED", tmp_path / "nothing")
    at = open_page("latents")
    assert not at.dataframe
    assert "or training digits if a model takes no others" in texts(at)
    next(each for each in at.button if each.label == "Measure all models").click().run()
    assert fine(at), at.exception
    table = at.dataframe[0].value.set_index("Figure")
    picker = next(each for each in at.selectbox if each.label == "Model")
    assert list(table.columns) == ["Best", *picker.options]  # in the order one picks from
    assert sorted(picker.options) == ["runs/turning", "runs/vae"]
    assert list(table.index) == [figure.title for figure in disentanglement.READING]
    assert table.loc["Swap error", "runs/vae"] == "–"
    assert float(table.loc["Swap error", "runs/turning"]) > 0
    assert all(f"**{title}**" in texts(at) for title in table.index)


def test_circled_digits_stand_out_in_both_spaces_and_are_listed(app):
    at = app("latents", model="runs/turning", **{"latents.digit": "7"})
    at.session_state["latents.picked"] = [7, 11]
    at.run()
    assert fine(at), at.exception
    specs = [json.loads(each.proto.spec) for each in at.get("plotly_chart")][:2]
    for spec in specs:
        loops = [t for t in spec["data"] if t["name"] == "picked" and t["mode"] != "markers"]
        assert [trace["customdata"][0][0] for trace in loops] == [7, 11]
    assert list(at.dataframe[0].value["digit"]) == [7, 11]
    at.slider(key="latents.digit").set_value(3).run()  # another digit alone
    assert not at.dataframe


def test_what_was_circled_in_one_model_is_forgotten_in_another(app):
    at = app("latents", model="runs/turning", **{"latents.digit": "7"})
    at.session_state["latents.picked"] = [7, 10_000]  # as if that one had so many digits
    at.selectbox(key="model").set_value("runs/vae").run()
    assert fine(at), at.exception
    assert not at.dataframe


# --- how it works -----------------------------------------------------------------------------


@pytest.mark.parametrize("screen", [1, 2, 3, 4, 5, 6])
def test_a_link_opens_a_screen_with_formulae_and_what_implements_them(app, screen):
    at = app("how", screen=str(screen), model="runs/turning")
    assert fine(at), at.exception
    assert at.session_state["how.screen"] == screen
    assert at.query_params["screen"] in (str(screen), [str(screen)])
    named = re.findall(r"`(fgpvae[\w.]+)`", texts(at))
    assert len(named) >= len(at.get("latex")) > 0
    for name in named:
        assert exists(name), name


def exists(name: str) -> bool:
    """Is this the full name of a function, a class, or something that a class says it has?"""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            if part in getattr(found, "__annotations__", {}):
                return True
            if not hasattr(found, part):
                return False
            found = getattr(found, part)
        return True
    return False


@pytest.mark.parametrize("asked", ["0", "first"])
def test_a_link_to_no_screen_opens_the_first(app, asked):
    assert app("how", screen=asked).session_state["how.screen"] == 1


def test_next_and_back_walk_through_the_screens(app):
    at = app("how")
    seen = []
    while forward := [each for each in at.button if each.label.startswith("Next")]:
        at = forward[0].click().run()
        assert fine(at), at.exception
        seen.append(at.session_state["how.screen"])
    assert seen == [2, 3, 4, 5, 6]
    back = next(each for each in at.button if each.label.startswith("Back"))
    assert back.click().run().session_state["how.screen"] == 5


def test_period_pi_makes_a_digit_equal_to_its_upside_down_copy(app):
    at = app("how", screen="2", **{"how.kernels.period": "π"})
    assert "has correlation **1.00** with the upright one" in texts(at)
    at.segmented_control(key="how.kernels.period").set_value("2π").run()
    expected = math.exp(-2)  # sin(π / 2) = 1 and r = 1
    assert f"(**{expected:.2f}**)" in texts(at)


def test_the_cost_is_counted(app):
    at = app("how", screen="3", **{"how.cost.digits": "10", "how.cost.views": "8"})
    # (N³ / 3) / (P Q³ / 3) = P²
    assert "100 times less work" in texts(at)
    assert "80 by 80" in texts(at)
    assert f"{80**3 / 3:,.0f}" in html(at)


def test_the_product_of_gaussians_gets_surer(app):
    at = app("how", screen="5", model="runs/turning")
    spread = {}
    for count in (0, 4, 16):
        at.slider(key="how.style.views").set_value(count).run()
        spread[count] = float(re.search(r"± (\d\.\d+)", html(at)).group(1))
    assert spread[0] == 1
    assert spread[0] > spread[4] > spread[16]


@pytest.fixture
def learner(tmp_path, monkeypatch):
    """A run of four epochs, with some of its lines damaged."""
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    path = tmp_path / "learner"

    def write(*epochs: int, **settings) -> None:
        config = RunConfig(data=DataConfig(**settings))
        runs.create(path, config)
        (path / runs.STATUS).write_text(json.dumps({"state": runs.FINISHED, "epoch": 4}))
        rows = [{"epoch": epoch} for epoch in range(1, 5)]
        for epoch in epochs:
            rows[epoch - 1] |= {"mse": 0.1 / epoch, "kl": 2.0, "multiplier": 1.5, "seconds": 3.0}
        (path / runs.METRICS).write_text("\n".join(map(json.dumps, rows)))

    return write


LEARNER = {"how.learning.run": "runs/learner"}


def test_learning_leaves_out_lines_without_numbers(learner):
    learner(1, 2, 4)
    at = open_page("how", screen="6", **LEARNER, **{"how.learning.epoch": "3"})
    assert fine(at), at.exception
    assert number(at, "error after epoch 4") == "0.0250"


def test_learning_without_any_line_says_so(learner):
    learner()
    at = open_page("how", screen="6", **LEARNER)
    assert fine(at), at.exception
    assert "has no curves" in html(at)


@pytest.mark.parametrize("classes", [(3,), (7,)])
def test_the_mean_image_stands_beside_runs_on_threes_only(learner, classes):
    learner(1, 2, 3, 4, classes=classes)
    at = open_page("how", screen="6", **LEARNER)
    assert fine(at), at.exception
    threes = data.embedded((3,)).images
    turned = data.rotate(threes, ANGLES[[HELD_OUT_INDEX]])[:, 0].astype(float)
    error = ((turned[: data.TEST_DIGITS] - turned[:360].mean(0)) ** 2).mean()
    title = "the mean image at 157.5°"
    assert (title in html(at)) == (classes == (3,))
    assert classes == (7,) or number(at, title) == f"{error:.4f}"


# --- pictures ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("line-grey 3.5 (a, b)", "line-grey 3.5 (a, b)"),
        ("_a_ *b* `c` ~d~", r"\_a\_ \*b\* \`c\` \~d\~"),
        ("![](http://host/x.png)", r"\!\[\](http\://host/x.png)"),
        ("$x$ :red[y] :smile: <b> &amp;", r"\$x\$ \:red\[y\] \:smile\: \<b\> \&amp;"),
        ("1. one", r"1\. one"),
        ("- one\n\n    two", r"\- one two"),
        ("back\\slash", r"back\\slash"),
    ],
)
def test_nothing_in_a_name_is_markdown(text, escaped):
    assert frame.plain(text) == escaped


def test_grid_escapes_names():
    drawn = pictures.grid([("<b>", np.zeros((2, 4, 4)))], ["<i>", "&"])
    assert "<b>" not in drawn
    assert "<i>" not in drawn
    assert drawn.count("<img") == 2


# --- in the browser ---------------------------------------------------------------------------


@pytest.fixture
def opened(tabs, address):
    """Opens a page of the app in a tab, any number of times."""
    pages = []

    def opened(path, *size, **options):
        page = tabs.open(*size, **options)
        pages.append(page)
        page.goto(address + path)
        page.get_by_role("heading", level=1).wait_for()
        settle(page)
        return page

    yield opened
    for page in pages:
        tabs.close(page)


def linked_points(page, points) -> None:
    """Wait until the address has these points: the server knows them."""
    said = "_".join(f"{value:.5g}" for point in points for value in (point["w"], point["z"]))
    expect(page).to_have_url(re.compile(f"points={re.escape(said)}"))


GP = "[...document.querySelectorAll('*')].find(each => each.clickgp)?.clickgp"


# the values at 75° of what each of sixty presses draws
SAMPLES = f"""(button) => Array.from({{ length: 60 }}, () => {{
  button.click();
  return {GP}.samples(75);
}}).flat()"""


def test_points_can_be_clicked_into_the_process_and_samples_are_as_it_says(opened):
    page = opened("/how?screen=4")
    page.wait_for_function(f"() => {GP}")

    # samples spread as the posterior says
    found = page.locator("button.samples").evaluate(SAMPLES)
    expected = page.evaluate(f"{GP}.at(75)")
    assert len(found) >= 60
    assert abs(np.mean(found) - expected["mean"]) < 5 * expected["sd"] / math.sqrt(len(found))
    assert np.std(found) == pytest.approx(expected["sd"], rel=0.25)

    page.get_by_role("button", name="Clear", exact=True).click()
    page.wait_for_function(f"() => {GP}.points().length === 0")
    stage = page.locator(".stage").bounding_box()
    for across, down in ((0.2, 0.3), (0.5, 0.7), (0.8, 0.45)):
        page.mouse.click(stage["x"] + across * stage["width"], stage["y"] + down * stage["height"])
    page.wait_for_function(f"() => {GP}.points().length === 3")

    points = page.evaluate(f"{GP}.points()")
    grid = np.arange(0, 360, 30.0)
    found = page.evaluate(f"grid => grid.map(w => {GP}.at(w))", grid.tolist())
    w = torch.deg2rad(torch.tensor([[point["w"] for point in points]], dtype=torch.float64))
    z = torch.tensor([[[point["z"]] for point in points]], dtype=torch.float64)
    observed = torch.ones(1, 3, dtype=torch.bool)
    posterior = local_posterior(Periodic(), w, z, torch.full_like(z, 0.05**2), observed)
    mean, var = posterior.at(torch.deg2rad(torch.tensor(grid))[None])
    np.testing.assert_allclose([f["mean"] for f in found], mean[0, :, 0].detach(), atol=1e-9)
    np.testing.assert_allclose([f["sd"] for f in found], var[0, :, 0].detach().sqrt(), atol=1e-7)
    evidence = page.evaluate(f"{GP}.evidence()")
    assert evidence == pytest.approx(float(posterior.log_evidence.detach()), abs=1e-8)

    # dragged, removed, and still there after a look at another page
    linked_points(page, points)
    settle(page)  # nothing moves under the pointer any more
    first = page.locator(".points button").first
    box = first.bounding_box()
    page.mouse.move(box["x"] + 9, box["y"] + 9)
    page.mouse.down()
    page.mouse.move(box["x"] + 109, box["y"] + 59, steps=4)
    page.mouse.up()
    page.wait_for_function(f"w => {GP}.points()[0].w > w + 10", arg=points[0]["w"])
    linked_points(page, page.evaluate(f"{GP}.points()"))
    settle(page)
    page.locator(".points button").last.dblclick()
    page.wait_for_function(f"() => {GP}.points().length === 2")
    kept = page.evaluate(f"{GP}.points()")
    linked_points(page, kept)
    page.get_by_role("link", name="Train", exact=True).click()
    page.get_by_role("heading", level=1, name="Train", exact=True).wait_for()
    page.get_by_role("link", name="How it works", exact=True).click()
    page.wait_for_function(f"() => {GP}")
    assert page.evaluate(f"{GP}.points()") == kept


def test_a_link_carries_the_points_of_the_process(opened, address):
    page = opened("/how?screen=4&points=30_1.5_200_-9&kernel=1.5_0.5_nan")
    page.wait_for_function(f"() => {GP}")
    # what is out of reach comes to the edge; a kernel that is none is the usual one
    assert page.evaluate(f"{GP}.points()") == [{"w": 30, "z": 1.5}, {"w": 200, "z": -3}]
    expect(page.locator("output").first).to_have_text("1.00")
    page.locator(".points button").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page).to_have_url(re.compile("points=35_1.5_200_-3"))
    page.get_by_role("button", name="Clear", exact=True).click()
    expect(page).to_have_url(re.compile("points=none"))
    again = opened(page.url.removeprefix(address))
    again.wait_for_function(f"() => {GP}")
    assert again.evaluate(f"{GP}.points()") == []


def test_points_are_added_moved_and_removed_by_keys(opened):
    page = opened("/how?screen=4&points=none")
    page.wait_for_function(f"() => {GP}")
    add = page.get_by_role("button", name="Add a point", exact=True)
    add.press("Enter")
    assert page.evaluate(f"{GP}.points()") == [{"w": 180, "z": 0}]
    page.keyboard.press("ArrowUp")  # the new point has the focus
    add.press("Enter")
    points = page.evaluate(f"{GP}.points()")
    assert points[0] == {"w": 180, "z": 0.1}
    assert points[1]["w"] == 0  # as far from the first as can be
    page.keyboard.press("Delete")
    page.keyboard.press("Delete")
    assert page.evaluate(f"{GP}.points()") == []
    expect(add).to_be_focused()


LOCAL = ".st-key-latents-pca-local"


def linked(page) -> tuple[int, int]:
    """The digit and the view that the address names, once it names both."""
    expect(page).to_have_url(re.compile(r"^(?=.*latents\.digit=\d)(?=.*latents\.view=\d)"))
    query = parse_qs(urlparse(page.url).query)
    return int(query["latents.digit"][0]), int(float(query["latents.view"][0].rstrip("°")) / 22.5)


def drawn(page, count: int) -> None:
    """Wait until so many charts are there."""
    expect(page.locator(".js-plotly-plot .main-svg:first-child")).to_have_count(count)
    settle(page)


def test_a_point_shows_its_digit_without_scrolling_and_back_restores_the_model(opened):
    path = "/latents?model=runs%2Fturning"
    page = opened(path)
    drawn(page, 6)
    place = place_of(page, "latents-pca-local", 20, 5)
    click_point(page, "latents-pca-local", 20, 5)
    digit, view = linked(page)
    expect(page.locator(".hover-picture")).to_have_attribute("data-thing", str(digit))
    shown = page.get_by_role("img", name=re.compile(rf"^digit {digit}, a \d, .*true$"))
    expect(shown).to_be_in_viewport()
    assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollTop") == 0
    drawn(page, 6)
    assert math.dist(place_of(page, "latents-pca-local", digit, view), place) < 8
    for part in ("local", "global"):  # both stand out
        name = page.locator(f".st-key-latents-pca-{part}").get_by_role("figure")
        expect(name).to_have_attribute("aria-label", re.compile(rf"digit {digit}, a \d is at"))
    model = page.get_by_role("combobox", name="Model")
    model.click()
    page.get_by_role("option", name="runs/vae", exact=True).click()
    page.wait_for_url(re.compile("model=runs%2Fvae"))
    settle(page)
    page.get_by_role("link", name="How it works", exact=True).click()
    page.wait_for_url(re.compile("/how"))
    for name in ("runs/vae", "runs/turning"):  # Back to the page, then to the model before
        page.evaluate("history.back()")
        expect(model).to_have_value(name)


# labels of the chart have the colour of the page's text
INKED = f"""() => {{
  const chart = document.querySelector("{LOCAL} .js-plotly-plot");
  return chart._fullLayout.scene.xaxis.tickfont.color === getComputedStyle(chart).color;
}}"""
# as Streamlit does when the width of a chart is known
GIVEN_ANEW = f"""() => {{
  const chart = document.querySelector("{LOCAL} .js-plotly-plot");
  const {{ scene, ...layout }} = chart.layout;
  return window.Plotly.react(chart, chart.data, {{ ...layout, scene: {{}} }}).then(() => null);
}}"""


def test_a_space_of_three_dimensions_is_drawn_and_can_be_saved_by_the_keyboard(opened):
    path = "/latents?model=runs%2Fturning&latents.space=3-D"
    page = opened(path)
    drawn(page, 6)
    expect(page.locator(f"{LOCAL} .gl-container canvas").first).to_be_visible()
    page.wait_for_function(INKED)
    page.evaluate(GIVEN_ANEW)
    page.wait_for_function(INKED)
    page.locator(LOCAL).get_by_role("button", name="Save as SVG", exact=True).focus()
    with page.expect_download() as download:
        page.keyboard.press("Enter")
    assert download.value.suggested_filename == "fgpvae-latents-pca-local.svg"
    with page.expect_download() as download:
        page.locator(".st-key-latents-download").get_by_role("button", name="CSV").click()
    rows = Path(download.value.path()).read_text().splitlines()
    assert rows[0].startswith("digit,class,angle_degrees,local_1")
    assert rows[1].split(",")[2] == "0.0"


def test_a_chart_is_saved_and_follows_the_theme(opened):
    page = opened("/how?screen=2&how.kernels.r=0.7&how.kernels.sigma=1.2")
    chart = page.get_by_role("figure", name=re.compile("^Covariance of two views"))
    least = 1.2**2 * math.exp(-2 / 0.7**2)
    expect(chart).to_have_attribute("aria-label", re.compile(f"{least:.2f} at 180°$"))
    drawn(page, 4)
    tick = chart.locator(".xtick text").first
    light = tick.evaluate("text => getComputedStyle(text).fill")
    with page.expect_download() as download:
        chart.get_by_role("button", name="Save as PNG", exact=True).click(force=True)
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")
    page.emulate_media(color_scheme="dark")
    page.wait_for_function(
        "([text, light]) => getComputedStyle(text).fill !== light",
        arg=[tick.element_handle(), light],
    )
