"""The page Rotate and what it is made of, without a browser."""

import csv
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.ndimage
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from streamlit.testing.v1 import AppTest

from fgpvae import digit_view, load_pretrained
from fgpvae.checkpoints import WEIGHTS, save_config
from fgpvae.configs import DataConfig, RunConfig
from fgpvae.data import ANGLES, HELD_OUT_INDEX, embedded, rotate, unseen
from fgpvae.evaluation import training_views
from fgpvae.models import FGPVAE, GPVAE
from tests import small_runs
from tests.pages import open_page
from ui.catalog import digits, models
from ui.catalog.digits import Digit
from ui.components.dial import Pose
from ui.components.shared import packed
from ui.inference import captions, context_views, downloads, style_names
from ui.shell import query_params


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory, every_kind: Path) -> Iterator[Path]:
    """One run of each kind of model, and what the tests put beside them."""
    root = tmp_path_factory.mktemp("rotate") / "runs"
    shutil.copytree(every_kind, root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FGPVAE_RUNS", str(root))
        yield root


def linked(app: AppTest, name: str) -> str:
    """What the page has written into its address."""
    value = app.query_params[name]
    return value[0] if isinstance(value, list) else value


def sentence(app: AppTest) -> str:
    return app.caption[0].value


def sent(app: AppTest, part: str) -> list[dict]:
    """What components with this entry were given."""
    found = [json.loads(each.proto.json or "[{}]") for each in app.get("bidi_component")]
    return [each for [each] in found if part in each]


def html(app: AppTest, part: str) -> list[str]:
    return [each.proto.body for each in app.get("html") if part in each.proto.body]


def model(name: str = "turning") -> FGPVAE:
    torch.manual_seed(0)
    return FGPVAE(small_runs.CONFIGS[name]).eval()


def turned(digit: Digit, seen: list[int]) -> digit_view.DigitView:
    return digit_view.turn(model(), digit.views(), ANGLES, context_views.mask(seen))


# --- digits ---


def test_digits_are_those_of_the_package():
    np.testing.assert_array_equal(Digit(7, 4).image, unseen((7,)).images[4])
    np.testing.assert_array_equal(Digit(7, 4, new=False).image, embedded((7,)).images[4])
    np.testing.assert_allclose(
        Digit(3, 2).views()[3],
        scipy.ndimage.rotate(Digit(3, 2).image.astype(float), 67.5, reshape=False),
        atol=1e-5,
    )


@given(st.integers(0, 9), st.integers(0, 49), st.booleans())
def test_digit_names_go_into_links_and_back(label: int, number: int, new: bool):
    assert digits.parse(Digit(label, number, new).name) == Digit(label, number, new)


@given(st.text(max_size=12))
def test_other_names_are_no_digits(name: str):
    found = digits.parse(name)
    assert found is None or found.name == name or found.name == name.lstrip("0")


@pytest.mark.parametrize("name", ["new-3-50", "3-400", "3", "new-", "x-1", "-1-2", None])
def test_digits_that_are_not_there(name: str | None):
    assert digits.parse(name) is None


def test_ids_are_rows_of_the_training_set():
    images = embedded((3, 7)).images
    digit = Digit(7, 12, new=False)
    (row,) = digit.id((3, 7)).tolist()
    np.testing.assert_array_equal(images[row], digit.image)
    assert Digit(7, 12).id((3, 7)) is None
    assert Digit(7, 365, new=False).id((3, 7)) is None


# --- views ---


def test_the_order_of_views_leaves_out_the_held_out_one():
    assert sorted(context_views.ORDER) == [i for i in range(16) if i != HELD_OUT_INDEX]
    for count in (2, 4, 8):  # evenly spread
        gaps = np.diff(sorted(context_views.ORDER[:count]), append=16)
        assert set(gaps) == {16 // count}


@given(st.sets(st.sampled_from(context_views.ORDER), min_size=1), st.integers(1, 15))
def test_resizing_keeps_what_it_can(current: set[int], count: int):
    resized = set(context_views.resized(current, count))
    assert len(resized) == count
    assert resized <= current or resized >= current


@given(st.lists(st.floats(-4, 4), min_size=1, max_size=40))
def test_numbers_go_into_links_and_back(values: list[float]):
    np.testing.assert_allclose(query_params.numbers(query_params.text(values)), values, atol=1e-4)


@pytest.mark.parametrize("text", ["", "1_x", "nan", "1_inf", "1e308", "-1e9", None])
def test_broken_numbers_in_links(text: str | None):
    assert query_params.numbers(text) is None
    assert query_params.number(text if text != "1_x" else "x", 3) == 3


# --- what is computed ---


def test_images_are_those_of_the_model():
    digit, seen = Digit(3, 2), [0, 4, 9]
    made = turned(digit, seen).images(np.array([0.3, 2.0]))
    expected = model().generate(
        torch.as_tensor(digit.views()[seen])[None],
        torch.as_tensor(ANGLES[seen])[None],
        torch.tensor([[0.3, 2.0]], dtype=torch.float64),
    )
    np.testing.assert_allclose(made, expected[0].numpy(), atol=1e-4)


def test_the_verdict_against_plain_arithmetic():
    digit, w = Digit(3, 2), float(np.deg2rad(157.5))
    turning_digit = turned(digit, [0, 6, 12])
    true, mean = digit.at(w), digits.mean_image(3, w)
    found = digit_view.verdict(turning_digit, w, true, mean=mean)
    image = turning_digit.images(np.array([w]))[0]
    assert found.mse == pytest.approx(((image - true) ** 2).mean(), rel=1e-5)
    # the nearest of 0, 135 and 270 degrees is 135
    nearest = scipy.ndimage.rotate(digit.views()[6].astype(float), 22.5, reshape=False)
    assert found.geometric == pytest.approx(((nearest - true) ** 2).mean(), rel=1e-3)
    upright = embedded((3,)).images[:360].mean(0).astype(float)
    trivial = scipy.ndimage.rotate(upright, 157.5, reshape=False)
    assert found.mean_image == pytest.approx(((trivial - true) ** 2).mean(), rel=1e-3)


def test_pixels_vary_less_with_more_views():
    digit = Digit(3, 2)
    few, many = (turned(digit, seen).pixel_sd(1.0) for seen in ([8], list(context_views.ORDER)))
    assert 0 < many < few


def test_uncertainty_is_that_of_the_ring():
    digit, order = Digit(3, 2), [0, 8, 4]
    left = digit_view.uncertainty(model(), digit.views(), ANGLES, order)
    around = np.linspace(0, 2 * np.pi, 200, endpoint=False)
    for count, value in enumerate(left, start=1):
        scene = turned(digit, order[:count]).scene
        assert value == pytest.approx(scene.unknown(around).mean(), abs=1e-4)
    assert (np.diff(left) < 0).all()


def test_morph_ends_at_both_styles():
    a, b = turned(Digit(3, 2), [0, 8]), turned(Digit(7, 30), [0, 8])
    styles, images = digit_view.morphed(a, b, 0.5, 5)
    np.testing.assert_allclose(styles[0], a.own)
    np.testing.assert_allclose(styles[-1], b.own)
    np.testing.assert_allclose(images[0], a.images(np.array([0.5]))[0], atol=1e-6)


def test_swap_takes_the_local_channels_of_b_and_the_style_of_a():
    a, b, w = turned(Digit(3, 2), [0, 8]), turned(Digit(7, 30), [0, 8]), 1.2
    local = b.scene.at(w)[:4]
    code = np.concatenate([local, a.own])
    with torch.no_grad():
        expected = model().decoder(torch.tensor(code[None], dtype=torch.float32))[0, 0]
    np.testing.assert_allclose(digit_view.swapped(a, b, w), expected, atol=1e-4)


def test_downloads():
    shown = turned(Digit(3, 2), [0, 8])
    png = Image.open(io.BytesIO(downloads.picture(shown, 0.4, None)))
    expected = np.clip(shown.images(np.array([0.4]))[0], 0, 1)
    assert png.size == (1024, 1024)
    centres = np.rint((np.arange(28) + 0.5) * 1024 / 28 - 0.5).astype(int)
    at_centres = np.asarray(png)[np.ix_(centres, centres)] / 255
    np.testing.assert_allclose(at_centres, expected, atol=0.03)
    levels = np.asarray(png).astype(int)  # smooth: no step is as high as between pixels
    assert np.abs(np.diff(levels)).max() < 0.1 * 255 * np.abs(np.diff(expected)).max()
    gif = Image.open(io.BytesIO(downloads.full_turn(shown, None)))
    assert 30 <= gif.n_frames <= downloads.FRAMES  # frames that are equal are joined
    style = np.linspace(-1, 1, 8)
    found = downloads.latents(shown, 0.4, style)
    again = json.loads(downloads.as_json(found, "x"))
    assert again["views_degrees"] == [0, 180]
    assert [row["kind"] for row in again["channels"]] == ["local"] * 4 + ["global"] * 8
    np.testing.assert_allclose([row["mean"] for row in again["channels"][4:]], style, atol=1e-6)
    rows = list(csv.DictReader(io.StringIO(downloads.as_csv(found))))
    local, sd = shown.channels(0.4)
    np.testing.assert_allclose([float(row["mean"]) for row in rows[:4]], local[:4], atol=1e-5)
    np.testing.assert_allclose([float(row["sd"]) for row in rows[:4]], sd[:4], atol=1e-5)
    assert float(rows[5]["sd"]) == 0  # a style that was chosen is sure


def test_the_truth_is_rotated_geometrically():
    digit = Digit(3, 2)
    np.testing.assert_array_equal(digit.at(0.7), rotate(digit.image[None], [0.7])[0, 0])


# --- the page ---


def test_it_opens_with_a_digit(runs: Path):
    app = open_page("rotate")
    assert not app.exception
    assert app.title[0].value == "Rotate a digit"
    assert "this three" in sentence(app)
    assert "eight dotted angles" in sentence(app)
    (against,) = sent(app, "spread")
    assert "knows what a rotation is" in against["texts"]["why"]
    assert against["image"] == packed(Digit(3, 2).image)
    assert against["seen"] == [45 * k for k in range(8)]
    assert linked(app, "digit") == "new-3-2"
    assert linked(app, "views") == "0_2_4_6_8_10_12_14"


def test_the_number_of_views(runs: Path):
    app = open_page("rotate", model="runs/turning")
    count = app.slider(key="rotate.count")
    count.set_value(1).run()
    assert "one dotted angle and" in sentence(app)
    assert linked(app, "views") == "0"
    app.slider(key="rotate.count").set_value(15).run()
    assert "imagines the orange one" in sentence(app)
    assert not app.exception
    # clicks on the ring are kept when the number changes
    record = app.session_state["rotate.record"]
    record.context = [1, 2, 3]
    app.run()
    count = app.slider(key="rotate.count.1")  # another one than before the clicks
    assert count.value == 3
    count.set_value(4).run()
    assert linked(app, "views") == "0_1_2_3"


def test_a_link_opens_the_same_picture(runs: Path):
    style = [round(0.1 * k - 0.4, 3) for k in range(8)]
    link = {
        "model": "runs/turning",
        "digit": "7-12",
        "angle": "157.5",
        "views": "0_4_9",
        "style": query_params.text(style),
    }
    app = open_page("rotate", **link)
    assert not app.exception
    assert app.session_state["rotate.record"].pose == Pose(157.5, tuple(style))
    assert {name: linked(app, name) for name in link} == link


@pytest.mark.parametrize(
    "link",
    [
        {"digit": "new-3-999", "angle": "nonsense", "views": "99_x", "style": "1_2"},
        {"digit": "<script>", "angle": "1e400", "views": "7", "style": "nan"},
        {"model": "wide", "other": "9-9-9", "angle": "-90"},
        {"model": "runs/vae", "angle": "1e308", "views": "1e308"},
    ],
)
def test_broken_links_open_the_page_all_the_same(runs: Path, link: dict[str, str]):
    app = open_page("rotate", **link)
    assert not app.exception
    assert "three" in sentence(app)


def test_a_release_of_the_dial_moves_the_page(runs: Path):
    app = open_page("rotate", model="runs/turning")
    app.session_state["rotate.record"].pose = Pose(90.0, tuple([0.5] * 8))
    app.run()
    assert linked(app, "angle") == "90"
    assert "nobody has written" in sentence(app)


def test_choosing_a_class_shows_a_digit_of_it_and_a_is_never_b(runs: Path):
    app = open_page("rotate", model="runs/turning", digit="new-3-9", other="new-3-9")
    assert (linked(app, "digit"), linked(app, "other")) == ("new-3-9", "new-3-10")
    (classes,) = [each for each in app.get("button_group") if each.label == "Class"]
    classes.set_value(7).run()
    assert not app.exception
    assert "this seven" in sentence(app)
    assert linked(app, "digit") == "new-7-30"
    assert linked(app, "other") == "new-3-10"


def test_a_class_is_chosen_among_training_digits_where_these_are_shown(runs: Path):
    app = open_page("rotate", model="runs/turning", digit="new-3-9")
    (kind,) = [each for each in app.get("button_group") if each.label == "Kind of digit"]
    kind.set_value("Training digits").run()
    (classes,) = [each for each in app.get("button_group") if each.label == "Class"]
    classes.set_value(7).run()
    assert not app.exception
    assert linked(app, "digit") == "7-30"


def test_both_digits_are_there_again_after_a_model_that_cannot_turn_them(runs: Path):
    app = open_page("rotate", model="runs/turning", digit="new-7-3", other="new-3-5")
    for name, a, b in (
        ("runs/gpvae", "7-30", "3-2"),
        ("gpvae", "3-2", "3-3"),  # threes only: one stands in for both
        ("runs/turning", "new-7-3", "new-3-5"),
    ):
        app.selectbox(key="model").set_value(name).run()
        app.run()  # the gallery of the model has been there
        assert not app.exception
        assert (linked(app, "digit"), linked(app, "other")) == (a, b)


def test_a_second_model_turns_beside_the_first(runs: Path):
    app = open_page("rotate", model="runs/turning", digit="new-3-2", **{"rotate.beside": "paper"})
    assert not app.exception
    (shown,) = sent(app, "beside")
    assert (shown["name"], shown["beside"]["name"]) == ("runs/turning", "paper")
    digit = Digit(3, 2)
    seen = context_views.mask([0, 2, 4, 6, 8, 10, 12, 14])
    scene = digit_view.turn(load_pretrained("paper"), digit.views(), ANGLES, seen).scene
    assert shown["beside"]["code"]["values"] == packed(scene.code)
    assert shown["beside"]["follow"] == []
    assert "The sliders move runs/turning only" in sent(app, "lead")[0]["lead"]
    assert any("The paper's small FGP-VAE" in each.value for each in app.caption)
    options = app.selectbox(key="rotate.beside").options
    assert "runs/turning" not in options  # it is the first
    assert "runs/vae" not in options  # it turns nothing
    assert "runs/gpvae" not in options  # it knows no new digit
    (classes,) = [each for each in app.get("button_group") if each.label == "Class"]
    classes.set_value(7).run()
    assert html(app, "paper has only seen threes")
    app.selectbox(key="model").set_value("paper").run()
    assert not app.exception
    (shown,) = sent(app, "beside")
    assert shown["beside"] is None


def test_a_second_model_follows_in_what_both_can_change(runs: Path):
    app = open_page("rotate", model="wide", digit="new-3-2", **{"rotate.beside": "paper"})
    assert not app.exception
    (shown,) = sent(app, "beside")
    first, second = (
        {style.name: style for style in style_names.names(models.find(name), 3)}
        for name in ("wide", "paper")
    )
    both = [name for name in first if name in second and first[name].channel is None]
    assert both
    assert len(shown["beside"]["follow"]) == len(both)
    for name, pair in zip(both, shown["beside"]["follow"], strict=True):
        np.testing.assert_allclose(pair["reading"], first[name].reading, rtol=1e-5)
        np.testing.assert_allclose(pair["direction"], second[name].direction, rtol=1e-5)
    (sliders,) = sent(app, "lead")
    assert "paper follows wide in " in sliders["lead"]
    assert sliders["lead"].endswith(f"{both[-1]}.")


def test_every_model_says_in_one_line_what_it_is(runs: Path):
    lines = {choice.name: choice.line for choice in models.available(figures=True)}
    assert lines["runs/turning"] == "Your FGP-VAE for the digits 3 and 7."
    assert all(line.endswith(".") and len(line) < 70 for line in lines.values())
    assert set(models.LINES) == {name for name in lines if not name.startswith("runs/")}


def test_another_model_keeps_a_digit_that_it_knows(runs: Path):
    app = open_page("rotate", model="runs/turning", digit="new-7-3")
    assert "this seven" in sentence(app)
    app.selectbox(key="model").set_value("paper").run()
    assert not app.exception
    assert "this three" in sentence(app)


@pytest.mark.parametrize(
    ("name", "says", "cannot"),
    [
        ("vae", "no notion of an angle", "cannot turn a digit"),
        ("cvae", "is told which angle", "cannot be swapped"),
        ("gpvae", "eleven dotted angles of its training", "no style sliders"),
        ("gpvae-amortised", "dotted angles", "no style sliders"),
    ],
)
def test_models_without_a_style_of_their_own(runs: Path, name: str, says: str, cannot: str):
    app = open_page("rotate", model=f"runs/{name}")
    assert not app.exception
    assert says in sentence(app)
    assert any(cannot in body for body in html(app, 'class="notice"'))
    assert html(app, "geometric rotation") if name == "vae" else sent(app, "spread")
    assert linked(app, "digit").startswith("new-") == (name != "gpvae")
    assert app.slider(key="rotate.count").disabled == (name == "gpvae")


@pytest.mark.parametrize(
    ("name", "linked_digit", "digit", "says"),
    [
        ("gpvae", "3-15", "3-2", "eleven dotted angles of its training"),
        ("gpvae", "7-15", "7-0", "eleven dotted angles of its training"),
        ("turning", "3-9", "3-9", "which it was trained on"),
        ("turning", "3-15", "3-15", "new to it"),
    ],
)
def test_a_run_on_few_digits(runs: Path, name: str, linked_digit: str, digit: str, says: str):
    if not (runs / f"few-{name}").exists():
        small_runs.make(runs / "more", name, digits=10)
        (runs / "more" / name).rename(runs / f"few-{name}")
    app = open_page("rotate", model=f"runs/few-{name}", digit=linked_digit)
    assert not app.exception
    assert linked(app, "digit") == digit
    assert says in sentence(app)
    (gallery,) = [each for each in sent(app, "layout") if each["layout"] == "gallery"]
    hints = {tile["name"]: tile["hint"] for tile in gallery["tiles"]}
    assert [name for name in hints if name != "3-15"] == [f"{digit[0]}-{k}" for k in range(10)]
    assert "training digit" in hints[f"{digit[0]}-0"]
    assert digit != "3-15" or "new digit" in hints["3-15"]


def test_views_of_a_digit_that_is_not_remembered():
    torch.manual_seed(0)
    joint = GPVAE(small_runs.CONFIGS["gpvae"])
    train = training_views(DataConfig(digits=10), 0)
    joint.prepare(lambda: train)
    degrees = np.rad2deg(train.angles[4].numpy())
    assert context_views.remembered(joint, torch.tensor([4])) == (degrees / 22.5).round().tolist()
    assert context_views.remembered(joint, torch.tensor([15])) is None


@pytest.mark.parametrize(
    ("changes", "known"),
    [
        ({}, True),
        ({"digits": 12}, False),
        ({"digits": 12, "split": "continuous"}, True),
        ({"classes": (7,)}, False),
        ({"validation": 40}, None),
        ({"split": "continuous", "source": "digits-of-mine"}, None),
    ],
)
def test_which_digits_a_model_knows(tmp_path, monkeypatch, changes: dict, known: bool | None):
    monkeypatch.setenv("FGPVAE_RUNS", str(tmp_path))
    (tmp_path / "run").mkdir()
    save_config(RunConfig(data=DataConfig(**changes)), tmp_path / "run")
    (tmp_path / "run" / WEIGHTS).touch()
    choice = models.find("runs/run")
    assert digits.known(Digit(3, 12, new=False), choice) is known
    assert digits.known(Digit(3, 360, new=False), choice) is False
    assert digits.known(Digit(3, 12), choice) is False


def test_a_damaged_run_is_named(runs: Path):
    small_runs.make(runs / "more", "turning")
    damaged = (runs / "more" / "turning").rename(runs / "damaged")
    weights = damaged / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    app = open_page("rotate", model="runs/damaged")
    assert not app.exception
    assert any("damaged" in body for body in html(app, 'role="alert"'))


def test_sentences_are_true_for_each_number():
    model_ = model()
    for count in range(1, 16):
        text = captions.rotating(model_, Digit(3, 2), count, None, False)
        assert f"{captions.COUNTS[count]} dotted angle" in text
        assert ("angles and" in text) == (count > 1)
    for known, says in (
        (True, ", which it was trained on,"),
        (False, ", which is new to it,"),
        (None, ""),
    ):
        text = captions.rotating(model_, Digit(3, 2, False), 8, None, known)
        assert f"sees this three{says} only" in text
