"""The page Extrapolate and what it is made of, without a browser."""

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageDraw
from streamlit.testing.v1 import AppTest

from fgpvae.data import films
from fgpvae.data.collections import Cubes, Digits, Films
from fgpvae.images import digit_boxes
from tests.pages import html, linked, open_page, sent
from tests.stress.watch import watched
from ui.components.canvas import checked as checked_strokes
from ui.components.canvas import from_link, to_link, to_png
from ui.extrapolate import digits as digit_builder
from ui.extrapolate import films as film_builder
from ui.extrapolate.cubes import checked as checked_cubes
from ui.extrapolate.pieces import checked as checked_crop

THREE = [(0.3, 0.2), (0.65, 0.2), (0.45, 0.45), (0.65, 0.6), (0.6, 0.8), (0.3, 0.8)]


@pytest.fixture(scope="module", autouse=True)
def runs(every_kind: Path) -> Iterator[Path]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FGPVAE_RUNS", str(every_kind))
        yield every_kind


def png(picture: Image.Image, kind: str = "PNG") -> bytes:
    buffer = io.BytesIO()
    picture.save(buffer, kind)
    return buffer.getvalue()


def drawing(turn: float = 0, ink: str = "black", paper: str = "white", kind: str = "PNG") -> bytes:
    """A three, as someone may draw it."""
    picture = Image.new("RGB", (300, 340), paper)
    points = [(90, 70), (200, 65), (140, 160), (200, 190), (205, 250), (150, 285), (85, 260)]
    ImageDraw.Draw(picture).line(points, fill=ink, width=16, joint="curve")
    return png(picture.rotate(turn, fillcolor=paper), kind)


def circle() -> bytes:
    """A zero."""
    picture = Image.new("RGB", (300, 300), "white")
    ImageDraw.Draw(picture).ellipse((60, 40, 240, 260), outline="black", width=18)
    return png(picture)


def pair() -> bytes:
    """Two threes side by side."""
    left = Image.open(io.BytesIO(drawing()))
    sheet = Image.new("RGB", (2 * left.width, left.height), "white")
    sheet.paste(left, (0, 0))
    sheet.paste(left, (left.width, 0))
    return png(sheet)


def upload(app: AppTest, *files: tuple[str, bytes]) -> AppTest:
    app.file_uploader[0].set_value([(name, content, "image/png") for name, content in files])
    return app.run()


def start(source: str = "Upload", name: str = "runs/turning") -> AppTest:
    app = open_page("extrapolate", model=name)
    app.segmented_control(key="extrapolate.source").set_value(source).run()
    assert not app.exception
    return app


def say(app: AppTest, meant: str) -> None:
    """What files that were chosen at once show."""
    next(each for each in app.segmented_control if "meant" in each.key).set_value(meant).run()


def suggested(app: AppTest) -> list[dict]:
    """The angles that the model suggests."""
    (found,) = [each for each in sent(app, "layout") if "model suggests" in each["label"]]
    return found["tiles"]


def given(app: AppTest) -> list[float]:
    """Degrees at which the model is given pictures; empty where no dial is shown."""
    dials = sent(app, "observed")
    pairs = zip(dials[0]["angles"], dials[0]["observed"], strict=True) if dials else ()
    return [angle for angle, observed in pairs if observed]


def test_an_upload_becomes_a_digit_and_a_broken_file_a_sentence():
    app = upload(start(), ("three.jpg", drawing(kind="JPEG")))
    assert not app.exception
    (steps,) = html(app, "Strokes")
    assert steps.count("<figure") == 7
    assert len(given(app)) == 1
    upload(app, ("broken.png", drawing()[:300]))
    assert not app.exception
    (notice,) = html(app, 'role="alert"')
    assert "damaged or incomplete" in notice
    assert given(app) == []
    assert [each.label for each in app.button if "another view" in each.label] == []
    upload(app, ("three.png", drawing()))
    assert not html(app, 'role="alert"')
    assert len(given(app)) == 1


def test_a_broken_file_among_others_is_named_as_text_and_never_as_markup():
    files = ("a.png", drawing()), ("<img src=x onerror=alert(1)>.png", b"x"), ("c.png", drawing(9))
    app = upload(start(), *files)
    say(app, digit_builder.SIDES)
    assert not app.exception
    assert len(given(app)) == 2
    assert len(html(app, "View 2")) == 1
    assert not html(app, "<img src=x")


def test_corrections_change_the_digit_and_stay_with_their_picture():
    app = upload(start(), ("a.png", drawing()))
    before = html(app, "Strokes")

    def thickness():
        return next(each for each in app.slider if "thickness" in each.key)

    thickness().set_value(0.8).run()
    assert html(app, "Strokes") != before
    upload(app, ("b.png", drawing(90)))
    assert thickness().value == 0.0
    upload(app, ("a.png", drawing()))
    assert thickness().value == 0.8
    assert not app.exception


def test_a_part_of_the_picture_can_be_chosen():
    app = upload(start(), ("pair.png", pair()))
    assert given(app) == []
    assert not html(app, 'role="alert"')  # it is asked which one
    key = f"extrapolate.part.{digit_builder.Brought('pair.png', pair()).id}"
    app.session_state[key] = digit_boxes(pair())[1]
    app.run()
    assert len(given(app)) == 1
    app.session_state[key] = (0.0, 0.0, 0.1, 0.1)
    app.run()
    assert html(app, 'role="alert"')  # paper alone is refused, and can be taken back
    assert not app.exception


def test_views_that_contradict_each_other_are_not_called_fine_nor_sure():
    def widest(app: AppTest) -> float:
        return max(sent(app, "widths")[0]["widths"])

    one = upload(start(name="best"), ("a.png", drawing()))
    assert any("More views change little" in each.value for each in one.caption)
    app = upload(start(name="best"), ("a.png", drawing()), ("b.png", circle()))
    say(app, digit_builder.SIDES)
    assert not app.exception
    assert html(app, "contradict each other") or html(app, "do not fit together")
    captions = " ".join(each.value for each in app.caption)
    for calm in ("More views change little", "looks like the digits the model knows"):
        assert calm not in captions
    assert widest(app) > 2 * widest(one)


def test_another_view_belongs_to_the_picture_that_was_picked():
    app = upload(start(), ("a.png", drawing()), ("b.png", circle()))
    say(app, digit_builder.DIGITS)
    add = next(each for each in app.button if each.label.startswith("Add another view"))
    add.click().run()
    assert len(given(app)) == 1
    next(each for each in app.button if each.label == "Cancel").click().run()
    assert len(app.session_state["extrapolate.source.upload"].pictures) == 2
    next(each for each in app.button if each.label.startswith("Add another")).click().run()
    upload(app, ("c.png", drawing(90)))
    assert len(given(app)) == 2
    assert not html(app, "contradict each other")


def test_nothing_that_is_uploaded_is_written_to_disk():
    app = start()
    with watched() as touched:
        upload(app, ("a.png", drawing(33)))
    assert len(given(app)) == 1
    assert touched == []


def test_a_turned_picture_is_asked_about_and_what_is_stated_holds():
    app = upload(start(name="best"), ("a.png", drawing(180)))
    id = digit_builder.Brought("a.png", drawing(180)).id
    offered = [float(each["name"]) for each in suggested(app)]
    assert min(abs(angle - 180) for angle in offered) < 15
    app.session_state[f"extrapolate.stated.{id}"] = 180.0  # as a click on that one says
    app.selectbox(key=f"extrapolate.which.{id}").set_value(3).run()
    assert given(app) == [180.0]
    assert not app.exception


@pytest.mark.parametrize(
    "link",
    [
        {"subject": "new-7-4", "shown": "90", "stated": "80", "digit": "7", "views": "0_3_8"},
        {"extrapolate.source": "Random", "seed": "5", "style": "_".join(["0.5"] * 8)},
        {"extrapolate.source": "Draw", "strokes": to_link((tuple(THREE),)), "stated": "12"},
    ],
)
def test_a_link_gives_back_what_one_saw(link: dict[str, str]):
    link |= {"angle": "12.5"}
    app = open_page("extrapolate", model="runs/turning", **link)
    assert not app.exception
    app.run()
    assert {name: linked(app, name) for name in link} == link
    assert sent(app, "observed")[0]["pose"]["angle"] == 12.5


def test_strokes_go_into_links_and_back_and_are_drawn_where_the_pen_was():
    rng = np.random.default_rng(0)
    raw = [[[0.25, 0.5], *([x, 0.5] for x in np.linspace(0.25, 0.75, 300)), [0.75, 0.5]]]
    raw.append([[0.5, 0.9]])
    made = checked_strokes({"strokes": raw})
    assert from_link(to_link(made)) == made
    assert len(made[0]) < 60
    picture = np.asarray(Image.open(io.BytesIO(to_png(made))))
    y, x = np.mgrid[0 : len(picture), 0 : len(picture)] / len(picture) + 0.5 / len(picture)
    bar = np.hypot(x - np.clip(x, 0.25, 0.75), y - 0.5)
    away = np.minimum(bar, np.hypot(x - 0.5, y - 0.9)) - 1 / 24  # from the edge of the ink
    assert picture[away < -0.01].min() == 255
    assert picture[away > 0.01].max() == 0
    long = checked_strokes({"strokes": [rng.uniform(0, 1, (600, 2)).tolist()]})
    assert to_link(long) is None
    assert from_link("no strokes!") == from_link("AAA" * 600) == ()


@pytest.mark.parametrize(
    ("check", "sent", "made"),
    [
        (checked_strokes, {"strokes": [[[-1, 2]], []]}, (((0, 255 / 256),),)),
        (checked_strokes, {"strokes": []}, ()),
        (checked_strokes, {"strokes": [[[0.5, float("nan")]]]}, None),
        (checked_strokes, {"strokes": [[[0.5]]]}, None),
        (checked_strokes, {"strokes": [[[0.5, 0.5]] * 20_001]}, None),
        (checked_strokes, None, None),
        (checked_crop, {"edges": [0, 0.1, 0.5, 1]}, (0, 0.1, 0.5, 1)),
        (checked_crop, {"edges": [0.5, 0, 0.5, 1]}, None),
        (checked_crop, {"edges": [0, 0, 1, float("nan")]}, None),
        (checked_crop, {"edges": [0, 0, 1, 2]}, None),
        (checked_crop, "edges", None),
        (checked_cubes, {"cubes": [[0, 0, 1000]]}, None),
        (checked_cubes, {"cubes": [[0, 0, 0]] * 61}, None),
        (checked_cubes, {"cubes": [[0, 0]]}, None),
    ],
)
def test_only_what_a_hand_can_make_is_taken_from_the_browser(check, sent: object, made: object):
    assert check(sent) == made


@pytest.mark.parametrize("name", ["paper", "runs/cvae", "runs/vae", "runs/gpvae-amortised"])
def test_every_model_that_takes_new_digits_turns_an_upload(name: str):
    app = upload(start(name=name), ("three.png", drawing()))
    assert not app.exception
    assert len(given(app)) == 1 or html(app, "The picture that the model draws")
    assert [each for each in sent(app, "drawing") if "petal" not in each["drawing"]]


def test_a_cube_figure_is_built_by_its_moves_and_bad_ones_get_a_sentence():
    app = open_page("extrapolate", model="cubes")
    assert not app.exception

    def moves():
        return next(each for each in app.text_input if each.key.startswith("extrapolate.typed"))

    moves().set_value("x2 (y) z2").run()
    assert linked(app, "subject") == "x2(y)z2"
    wrong = {"": "is empty", "x5 y5": "from 1 to 10", "hello": "", "x9": "out of the picture"}
    for bad, why in wrong.items():
        moves().set_value(bad).run()
        assert not app.exception
        (shown,) = html(app, "notice problem")
        assert why in shown
        assert linked(app, "subject") == "x2(y)z2"  # it is still there
    app.button(key="extrapolate.another_figure").click().run()
    assert not html(app, "notice problem")
    assert Cubes().find(linked(app, "subject")).new


def test_a_path_becomes_a_film_that_goes_along_it():
    app = open_page("extrapolate", model="films", path=to_link((tuple(THREE),)), look="new-7-4")
    assert not app.exception
    dial = sent(app, "observed")[0]
    assert sum(dial["observed"]) == 4
    assert (linked(app, "look"), linked(app, "path")) == ("new-7-4", to_link((tuple(THREE),)))
    look = Digits().find("new-7-4").thumbnail
    path = [(0.3, 0.3), (0.7, 0.3), (0.7, 0.7)]
    (tiles,) = [each for each in sent(app, "layout") if each["label"] == "Digits to pick from"]
    assert len(tiles["tiles"]) == 10
    made = Films().make(look, film_builder.places(tuple(path)), "own", 7)
    assert made.name == "seven"
    y, x = np.mgrid[0 : films.SIZE, 0 : films.SIZE] + 0.5
    for image, (across, down) in zip(made.images[[0, -1]], np.array(path)[[0, -1]], strict=True):
        middle = np.array([(image * x).sum(), (image * y).sum()]) / image.sum() / films.SIZE
        np.testing.assert_allclose(middle, [across, down], atol=0.05)
