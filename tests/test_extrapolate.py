"""The page Extrapolate and what it is made of, without a browser."""

import base64
import io
import os
import re
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageDraw
from streamlit.testing.v1 import AppTest

from fgpvae import digit_view, load_pretrained, models, orientation, picture_scores
from fgpvae.data import ANGLES, rotate, unseen
from fgpvae.errors import UserError
from fgpvae.images import Options, digit_boxes, normalise
from fgpvae.models import FGPVAE, FGPVAEConfig
from fgpvae.placement import Placement
from tests import small_runs
from tests.pages import open_page
from tests.test_rotate import html, linked, model, sent, sentence
from ui.catalog.digits import Digit
from ui.components.canvas import to_png
from ui.components.canvas.canvas import _checked as _checked_strokes
from ui.components.crop.crop import _checked as _checked_crop
from ui.extrapolate import (
    belief_ring,
    doubt,
    own_picture,
    right_way_up,
    user_views,
    view_angles,
)
from ui.extrapolate import upload as uploads
from ui.extrapolate.user_views import View
from ui.inference import captions


@pytest.fixture(scope="module", autouse=True)
def runs(every_kind: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FGPVAE_RUNS", str(every_kind))
        yield every_kind


def drawing(turn: float = 0, ink: str = "black", paper: str = "white", kind: str = "PNG") -> bytes:
    """A three, as someone may draw it."""
    picture = Image.new("RGB", (300, 340), paper)
    pen = ImageDraw.Draw(picture)
    points = [(90, 70), (200, 65), (140, 160), (200, 190), (205, 250), (150, 285), (85, 260)]
    pen.line(points, fill=ink, width=16, joint="curve")
    buffer = io.BytesIO()
    picture.rotate(turn, fillcolor=paper).save(buffer, kind)
    return buffer.getvalue()


def pair() -> bytes:
    """Two threes side by side."""
    left = Image.open(io.BytesIO(drawing()))
    sheet = Image.new("RGB", (2 * left.width, left.height), "white")
    sheet.paste(left, (0, 0))
    sheet.paste(left, (left.width, 0))
    buffer = io.BytesIO()
    sheet.save(buffer, "PNG")
    return buffer.getvalue()


def upload(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    app.file_uploader[0].set_value([(name, content, "image/png") for name, content in files])
    return app.run()


def start(source: str = "Upload", name: str = "runs/turning") -> AppTest:
    app = open_page("extrapolate", model=name)
    app.segmented_control(key="extrapolate.source").set_value(source).run()
    assert not app.exception
    return app


# --- the angle of a picture ---


def bumps(*peaks: tuple[float, float]) -> np.ndarray:
    """A belief with peaks (degrees, weight) on the grid."""
    w = orientation.grid()
    found = sum(a * np.exp(20 * (np.cos(w - np.deg2rad(d)) - 1)) for d, a in peaks)
    return found / found.sum()


def test_modes_are_the_peaks():
    found = orientation.modes(bumps((40, 3), (220, 1)))
    assert [round(np.rad2deg(mode.angle)) for mode in found] == [40, 220]
    assert [mode.share for mode in found] == pytest.approx([0.75, 0.25], abs=0.01)


def test_one_clear_peak_comes_with_its_opposite():
    (best, opposite) = orientation.modes(bumps((350, 1)))
    assert np.rad2deg(best.angle) == pytest.approx(350)
    assert np.rad2deg(opposite.angle) == pytest.approx(170)
    assert opposite.share == 0


@given(st.lists(st.floats(0, 1), min_size=orientation.GRID, max_size=orientation.GRID))
def test_modes_of_any_belief(values: list[float]):
    total = sum(values)
    found = orientation.modes(np.array(values) / total if total else np.array(values))
    assert sum(mode.share for mode in found) <= 1 + 1e-9
    assert found == sorted(found, key=lambda mode: -mode.share)


def test_belief_is_the_evidence_of_one_view_in_the_middle():
    image = torch.as_tensor(Digit(3, 2).image)
    found = orientation.belief(model(), image)
    grid = orientation.grid()
    evidence = []
    for w in grid[:: len(grid) // 6]:
        angle = torch.tensor([w])
        scale = picture_scores.scales(image, angle)
        posterior = model().infer(
            picture_scores.placed(image, angle, scale, 0.0)[None],
            torch.tensor([[w]]),
            torch.ones(1, 1, dtype=torch.bool),
        )
        evidence.append(float(posterior.local.log_evidence.sum()))
    expected = np.exp(np.array(evidence) - max(evidence))
    np.testing.assert_allclose(
        found[:: len(grid) // 6] / found[:: len(grid) // 6].max(), expected, rtol=1e-4
    )


def test_no_belief_without_a_mean_function():
    plain = FGPVAE(FGPVAEConfig(latents=6, local=3))
    assert orientation.belief(plain, Digit(3, 2).image) is None


# --- views of one's own ---


def test_the_ring_of_one_view_is_its_turned_copies():
    image = Digit(3, 2).at(0.4)
    ring = user_views.ring([View(image, 0.4, "a")])
    assert ring.own == [0]
    np.testing.assert_allclose(ring.angles, (0.4 + ANGLES) % (2 * np.pi))
    np.testing.assert_allclose(ring.views[3], rotate(image[None], [ANGLES[3]])[0, 0])


def test_other_views_come_after_the_copies():
    views = [View(Digit(3, k).image, 0.1 * k, str(k)) for k in range(3)]
    ring = user_views.ring(views)
    assert ring.own == [0, 16, 17]
    np.testing.assert_array_equal(ring.views[17], views[2].image)
    assert ring.angles[17] == pytest.approx(0.2)


def test_views_arrive_before_copies():
    assert user_views.arrival([0, 16])[:2] == [0, 16]
    assert len(user_views.arrival([0, 16])) == 8
    assert len(set(user_views.arrival([0, 8, 4]))) == 8
    assert user_views.arrival(list(range(12))) == list(range(12))


def test_random_digits_of_the_prior():
    drawn, style = digit_view.prior(model(), seed=3)
    again, same = digit_view.prior(model(), seed=3)
    assert style == same
    assert style != digit_view.prior(model(), seed=4)[1]
    assert not drawn.observed.any()
    np.testing.assert_allclose(drawn.scene.unknown(ANGLES), 1, atol=1e-6)
    # local channels at the mean function, global ones as drawn
    with torch.no_grad():
        mean = model().mean_function(torch.as_tensor(ANGLES)).numpy()
    np.testing.assert_allclose(drawn.scene.at(ANGLES, np.array(style))[:, :4], mean, atol=1e-5)
    np.testing.assert_allclose(again.images(ANGLES, style), drawn.images(ANGLES, style))


def test_without_a_mean_function_the_local_channels_are_drawn_too():
    torch.manual_seed(0)
    plain = FGPVAE(FGPVAEConfig(latents=6, local=3, amplitude=2.0)).eval()
    draws = np.stack(
        [digit_view.prior(plain, seed)[0].scene.at(ANGLES)[:, 0] for seed in range(200)]
    )
    expected = plain.kernel.gram(torch.as_tensor(ANGLES), torch.as_tensor(ANGLES))
    covariance = draws.T @ draws / len(draws)
    np.testing.assert_allclose(covariance, expected.detach().numpy(), atol=1.2)
    assert covariance[0, 0] == pytest.approx(4, rel=0.25)


def test_models_without_a_style_draw_no_digit():
    with pytest.raises(UserError, match="VAE keeps no style"):
        digit_view.prior(models.build(small_runs.CONFIGS["vae"]), seed=1)


def test_sketches_are_well_formed():
    falling = doubt.falling([0.8, 0.5, 0.4], seen=2)
    assert ElementTree.fromstring(falling).attrib["aria-label"]
    for belief, petals in ((bumps((40, 1)), 20), (None, 0)):
        own = own_picture.address(own_picture.of_digit(Digit(3, 2).image))
        ring = ElementTree.fromstring(belief_ring.belief_ring(belief, own))
        found = ring.findall("polygon")
        assert len(found) >= petals
        assert bool(found) == bool(petals)


# --- the page ---


def test_it_opens_with_an_example():
    app = open_page("extrapolate")
    assert not app.exception
    assert app.title[0].value == "Turn a digit of your own"
    assert "From one picture of this three" in sentence(app)
    assert linked(app, "shown") == "45"
    assert html(app, "not turned")


def test_the_angle_of_an_example_can_be_said():
    app = open_page("extrapolate", model="runs/turning")
    app.session_state["extrapolate.said.new-3-2-45"] = 120.0  # as the picture turned by hand says
    app.run()
    assert linked(app, "said") == "120"
    assert not app.exception


def test_what_more_views_would_change_is_drawn_where_it_is_much_and_said_where_it_is_not():
    app = open_page("extrapolate", model="best")
    assert "More views change little" in [each.value for each in app.header]
    (said,) = [each.value for each in app.caption if each.value.startswith("Averaged over")]
    assert "These margins were checked on digits it had never seen." in said
    now, then = map(float, re.findall(r"± (0\.\d+)", said))
    assert now == pytest.approx(then, rel=0.1)
    app = open_page("extrapolate", model="paper", digit="new-3-2")
    assert "More views, less doubt" in [each.value for each in app.header]
    assert not app.exception


def test_any_number_of_views_has_a_name():
    """Two pictures, and all copies of the first: one more than there are words for."""
    views = [View(unseen((3,)).images[0], angle, "") for angle in (0.0, 1.0)]
    made = user_views.ring(views)
    every = range(len(made.angles))
    said = doubt.same(load_pretrained("paper"), made, every, every)
    assert "from 17 views" in said


def test_which_digit_it_is_can_be_said():
    app = open_page("extrapolate", model="best", digit="new-6-1", shown="180")
    before = [tile["text"] for tile in offered(app)]
    app.selectbox(key="extrapolate.which.new-6-1-180").set_value("9").run()
    assert not app.exception
    assert [tile["text"] for tile in offered(app)] != before
    app.session_state["extrapolate.said.new-6-1-180"] = 77.0
    app.selectbox(key="extrapolate.which.new-6-1-180").set_value("6").run()
    assert linked(app, "said") == "77"  # and never changed
    assert not any(right_way_up.QUESTION in text.value for text in app.markdown)


def test_views_are_placed_together_and_one_that_does_not_fit_is_named():
    views = [("a.png", drawing()), ("b.png", drawing(90)), ("c.png", drawing(200))]
    app = upload(start(name="best"), *views)
    assert not html(app, "fit the others")
    placed = app.session_state["extrapolate.placed"].found
    apart = np.rad2deg(placed.angles - placed.angles[0]) % 360
    np.testing.assert_allclose(apart, [0, 90, 200], atol=12)
    other = io.BytesIO()
    ring = Image.new("RGB", (300, 300), "white")
    ImageDraw.Draw(ring).ellipse((60, 40, 240, 260), outline="black", width=18)
    ring.save(other, "PNG")
    upload(app, *views, ("d.png", other.getvalue()))
    assert html(app, "View 4 does not fit the others.")
    assert not app.exception


def test_what_is_said_of_views_that_do_not_fit():
    def of(misfits: tuple[int, ...]) -> str:
        return view_angles.misfit(Placement(np.zeros(4), np.zeros((4, 180)), misfits))

    assert of(()) == view_angles.misfit(None) == ""
    assert of((2,)) == "View 3 does not fit the others."
    assert of((0, 2)) == "Views 1 and 3 do not fit the others."
    assert "the same digit?" in of((0, 1, 2, 3))


def test_where_two_angles_are_possible_it_is_asked_which():
    def page() -> None:
        import numpy as np

        from fgpvae.orientation import Mode
        from ui.extrapolate import right_way_up

        right_way_up.ask([Mode(0.0, 0.6), Mode(np.pi / 2, 0.3), Mode(np.pi, 0.01)])
        right_way_up.ask([Mode(0.0, 0.99), Mode(np.pi, 0.01)])

    app = AppTest.from_function(page).run()
    assert [text.value for text in app.markdown] == [
        f"More than one angle is possible. **{right_way_up.QUESTION}**"
    ]


def offered(app: AppTest) -> list[dict]:
    """The angles that the model finds, each with the picture as it would stand upright."""
    (found,) = [each for each in sent(app, "layout") if each["layout"] == "choice"]
    return found["tiles"]


def pixels(address: str) -> np.ndarray:
    """A picture [H, W] in 0..1 from its address."""
    content = base64.b64decode(address.split(",")[1])
    return np.asarray(Image.open(io.BytesIO(content)).convert("L")) / 255


def test_angles_to_choose_from_show_the_picture_upright():
    app = open_page("extrapolate", model="runs/turning")
    tiles = offered(app)
    assert [tile["selected"] for tile in tiles].count(True) == 1
    for tile in tiles:
        degrees = int(tile["name"])
        assert tile["text"].startswith(f"{degrees}° · ")
        upright = rotate(Digit(3, 2).at(np.pi / 4)[None], np.array([-np.deg2rad(degrees)]))[0, 0]
        small = Image.fromarray(np.clip(upright, 0, 1).astype(np.float32)).resize((96, 96))
        assert np.abs(pixels(tile["image"]) - np.asarray(small)).mean() < 0.03


@pytest.mark.parametrize("turn", [0, 40, 200])
def test_the_own_picture_shows_what_the_digit_shows(turn: int):
    """Photographs at any place and scale, over an edge of the picture as well."""
    sheet = Image.new("RGB", (900, 700), (230, 225, 210))
    for place in ((40, 30), (520, 330), (560, 350)):  # the last one is cut by the window
        page = sheet.copy()
        page.paste(Image.open(io.BytesIO(drawing(turn, "navy", "#e6e1d2"))), place)
        found = normalise(page)
        own = own_picture.of_picture(page, found.window)
        assert own.size == (own_picture.ROOM, own_picture.ROOM)
        seen = 1 - pixels(own_picture.address(own))
        seen = (seen - np.median(seen)) / (seen.max() - np.median(seen))
        digit = np.asarray(Image.fromarray(found.digit).resize(seen.shape))
        half = round(seen.shape[0] / 28 / 2)  # a pixel: its centre of mass is not in the middle
        digit = np.roll(digit, (-half, -half), (0, 1))
        assert np.corrcoef(seen.ravel(), digit.ravel())[0, 1] > 0.7


def test_the_belief_about_an_angle_is_computed_once_a_picture(runs: Path, monkeypatch):
    asked, belief = [], orientation.belief

    def counted(*given):
        asked.append(given)
        return belief(*given)

    monkeypatch.setattr(orientation, "belief", counted)
    app = open_page("extrapolate", model="runs/turning", digit="new-8-17", shown="105")
    app.run()
    assert not app.exception
    assert len(asked) == 1


def test_a_link_opens_the_same_example(runs: Path):
    link = {"digit": "new-7-4", "shown": "90", "said": "80", "views": "0_3_8", "angle": "12.5"}
    app = open_page("extrapolate", model="runs/turning", **link)
    assert not app.exception
    assert "and two turned copies" in sentence(app)
    assert {name: linked(app, name) for name in link} == link
    assert app.session_state["extrapolate.record"].pose.angle == 12.5


@pytest.mark.parametrize(("link", "shown"), [("3-12", "new-3-2"), ("7-12", "new-7-30")])
def test_a_link_to_a_training_digit_opens_a_new_one(link: str, shown: str):
    app = open_page("extrapolate", model="runs/turning", digit=link)
    assert not app.exception
    assert linked(app, "digit") == shown


@pytest.mark.parametrize(
    ("views", "copies", "says"),
    [
        (0, 0, "Bring a digit"),
        (1, 0, "From one picture of it the"),
        (2, 1, "From two pictures of it and one turned copy the"),
        (0, 1, "From one turned copy of it the"),
        (0, 3, "From three turned copies of it the"),
    ],
)
def test_sentences_are_true_for_each_number(views: int, copies: int, says: str):
    assert says in captions.extrapolating(model(), views, copies, "it")


def test_without_a_picture_nothing_is_pretended():
    app = start()
    assert any("No digit yet" in text.value for text in app.header)
    assert not html(app, "not turned")


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP"])
def test_an_upload_becomes_a_digit(kind: str):
    app = upload(start(), ("three", drawing(kind=kind)))
    assert not app.exception
    assert "From one picture of your digit" in sentence(app)
    (steps,) = html(app, "Strokes")
    assert steps.count("<figure") == 7
    assert html(app, "not turned")


def test_several_files_are_several_views():
    app = upload(start(), ("a.png", drawing()), ("b.png", drawing(90)), ("c.png", drawing(200)))
    assert "From three pictures of your digit" in sentence(app)
    app.segmented_control(key="extrapolate.view.3").set_value("3").run()
    assert not app.exception
    upload(app, ("a.png", drawing()), ("b.png", drawing(90)))
    assert "From two pictures of your digit" in sentence(app)
    assert not app.exception


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "empty"),
        (b"hello, world", "The file is text"),
        (b"\x89PNG\r\n\x1a\n" + b"junk" * 40, "damaged or incomplete"),
        (drawing()[:300], "damaged or incomplete"),
    ],
)
def test_unreadable_files_end_in_one_sentence(content: bytes, says: str):
    app = upload(start(), ("broken.png", content))
    assert not app.exception
    (notice,) = html(app, 'role="alert"')
    assert says in notice
    assert any("No digit yet" in text.value for text in app.header)
    upload(app, ("three.png", drawing()))
    assert not html(app, 'role="alert"')
    assert "From one picture of your digit" in sentence(app)


def test_a_broken_file_among_others():
    app = upload(start(), ("a.png", drawing()), ("b.png", b"no picture"))
    assert "From one picture of your digit" in sentence(app)
    assert html(app, 'role="alert"')
    assert not app.exception


def test_a_name_is_text_and_never_markup():
    files = ("a.png", drawing()), ("<img src=x onerror=alert(1)>.png", b"x"), ("c.png", drawing(9))
    app = upload(start(), *files)
    assert not app.exception
    assert not any("<img src=x" in body for body in html(app, "alert"))


def test_blank_paper_can_be_corrected():
    blank = io.BytesIO()
    Image.new("RGB", (200, 200), "white").save(blank, "PNG")
    app = upload(start(), ("blank.png", blank.getvalue()))
    assert any("blank" in body for body in html(app, 'role="alert"'))
    assert not app.exception


def test_corrections_change_the_digit():
    app = upload(start(), ("three.png", drawing()))
    before = html(app, "Strokes")
    thickness = next(s for s in app.slider if s.key and s.key.startswith("extrapolate.thickness."))
    thickness.set_value(0.8).run()
    assert html(app, "Strokes") != before
    assert not app.exception


def test_a_part_of_the_picture_can_be_chosen():
    app = upload(start(), ("pair.png", pair()))
    assert any("Which one?" in text.value for text in app.header)
    assert not html(app, 'role="alert"')
    key = f"extrapolate.options.{sha256(pair()).hexdigest()[:12]}-0"
    app.session_state[key] = Options(crop=digit_boxes(pair())[1])
    app.run()
    assert "From one picture of your digit" in sentence(app)
    app.session_state[key] = Options(crop=(0.0, 0.0, 0.1, 0.1))
    app.run()
    assert html(app, 'role="alert"')  # paper alone is refused, and can be taken back
    assert not app.exception


@pytest.mark.parametrize(
    ("sent", "edges"),
    [
        ({"edges": [0, 0.1, 0.5, 1]}, (0, 0.1, 0.5, 1)),
        ({"edges": [0.5, 0, 0.5, 1]}, None),
        ({"edges": [0, 0, 1, float("nan")]}, None),
        ({"edges": [0, 0, 1, 2]}, None),
        ({"edges": [0, 0, 1]}, None),
        ({"edges": "left"}, None),
        ("edges", None),
    ],
)
def test_only_a_part_of_the_picture_is_taken_from_the_browser(sent: object, edges: object):
    assert _checked_crop(sent) == edges


@pytest.mark.parametrize(
    ("sent", "strokes"),
    [
        ({"strokes": [[[0.1, 0.2], [0.3, 0.4]], []]}, (((0.1, 0.2), (0.3, 0.4)),)),
        ({"strokes": [[[-1, 2]]]}, (((0, 1),),)),
        ({"strokes": []}, ()),
        ({"strokes": [[[0.5, float("nan")]]]}, None),
        ({"strokes": [[[0.5]]]}, None),
        ({"strokes": [[[0.5, 0.5]] * 20_001]}, None),
        ({}, None),
        (None, None),
    ],
)
def test_only_a_drawing_is_taken_from_the_canvas(sent: object, strokes: object):
    assert _checked_strokes(sent) == strokes


def test_strokes_are_drawn_where_the_pen_was():
    file = to_png((((0.25, 0.5), (0.75, 0.5)), ((0.5, 0.9),)))
    picture = np.asarray(Image.open(io.BytesIO(file)))
    y, x = np.mgrid[0 : len(picture), 0 : len(picture)] / len(picture) + 0.5 / len(picture)
    bar = np.hypot(x - np.clip(x, 0.25, 0.75), y - 0.5)
    away = np.minimum(bar, np.hypot(x - 0.5, y - 0.9)) - 1 / 24  # from the edge of the ink
    assert picture[away < -0.01].min() == 255
    assert picture[away > 0.01].max() == 0


def test_a_drawing_stays_when_one_looks_elsewhere():
    app = start("Draw")
    app.session_state["extrapolate.now.draw"] = (((0.3, 0.2), (0.6, 0.2), (0.4, 0.5), (0.6, 0.8)),)
    app.run()
    assert "From one picture of your digit" in sentence(app)
    app.segmented_control(key="extrapolate.source").set_value("Example").run()
    app.switch_page("pages/rotate.py").run()
    app.switch_page("pages/extrapolate.py").run()
    app.segmented_control(key="extrapolate.source").set_value("Draw").run()
    assert "From one picture of your digit" in sentence(app)
    app.button(key="extrapolate.keep.draw").click().run()
    assert app.session_state["extrapolate.kept.draw"]
    assert "extrapolate.now.draw" not in app.session_state
    assert "From one picture of your digit" in sentence(app)
    assert not app.exception


def test_files_stay_when_one_looks_elsewhere():
    app = upload(start(), ("three.png", drawing()))
    app.segmented_control(key="extrapolate.source").set_value("Example").run()
    app.segmented_control(key="extrapolate.source").set_value("Upload").run()
    assert "From one picture of your digit" in sentence(app)
    app.button(key="extrapolate.forget.upload").click().run()
    assert any("No digit yet" in text.value for text in app.header)
    assert not app.exception


def test_corrections_stay_with_their_picture():
    a, b = ("a.png", drawing()), ("b.png", drawing(90))
    app = upload(start(), a, b)  # the last one is shown in detail
    next(s for s in app.slider if s.key.startswith("extrapolate.thickness.")).set_value(0.8).run()
    upload(app, b)
    assert next(s for s in app.slider if s.key.startswith("extrapolate.thickness.")).value == 0.8
    upload(app, b, b)
    assert next(s for s in app.slider if s.key.startswith("extrapolate.thickness.")).value == 0.0
    assert not app.exception


def test_files_beyond_the_limit_are_not_used_and_this_is_said():
    said = f"Only the first {uploads.MOST} pictures are used."
    files = [(f"{number}.png", b"no picture") for number in range(uploads.MOST + 1)]
    app = upload(start(), *files[1:])
    assert not html(app, said)
    upload(app, *files)
    assert html(app, said)
    assert len(html(app, 'role="alert"')) == uploads.MOST


def shot(turn: float) -> tuple[str, bytes, str]:
    return "photo.jpg", drawing(turn, kind="JPEG"), "image/jpeg"


def test_a_photo_is_a_view_and_more_can_be_added():
    app = start("Camera")
    app.get("camera_input")[0].set_value(shot(0)).run()
    assert "From one picture of your digit" in sentence(app)
    app.button(key="extrapolate.keep.camera").click().run()
    assert not app.exception
    app.get("camera_input")[0].set_value(shot(90)).run()
    assert "From two pictures of your digit" in sentence(app)
    app.button(key="extrapolate.forget.camera").click().run()
    assert any("No digit yet" in text.value for text in app.header)


def test_a_random_digit_and_another():
    app = start("Random")
    assert "Nobody wrote this digit" in sentence(app)
    first = app.session_state["extrapolate.record"].pose
    app.button(key="extrapolate.another").click().run()
    assert app.session_state["extrapolate.record"].pose.style != first.style
    assert linked(app, "seed") == "2"
    assert not app.exception


@pytest.mark.parametrize("name", ["paper", "runs/cvae", "runs/vae", "runs/gpvae-amortised"])
def test_every_model_that_takes_new_digits_turns_an_upload(name: str):
    app = upload(start(name=name), ("three.png", drawing()))
    assert not app.exception
    assert html(app, "not turned")
    assert any("cannot find the angle" in text.value for text in app.caption)


def test_a_model_that_takes_none_says_so():
    app = open_page("extrapolate", model="runs/gpvae")
    app.run()
    assert not app.exception
    assert any("cannot take yours" in text.value for text in app.caption)


_written: list[str] = []
_watching = False


def _audit(event: str, arguments: tuple) -> None:
    if _watching and event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        mode, flags = arguments[1], arguments[2]
        writes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if writes or (mode and set(mode) & set("wax+")):
            _written.append(os.fsdecode(arguments[0]))


def test_nothing_that_is_uploaded_is_written_to_disk():
    global _watching
    app = start()
    sys.addaudithook(_audit)
    _watching = True
    upload(app, ("a.png", drawing()), ("b.png", drawing(70)))
    _watching = False
    assert "From two pictures" in sentence(app)
    assert [path for path in _written if path != os.devnull] == []
