"""Photographs of digits and several digits in a picture; the measuring tools measure rightly."""

import io
from dataclasses import replace
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from PIL import Image, ImageDraw
from scipy import ndimage

from fgpvae.data import unseen
from fgpvae.images import Options, box_at, digit_boxes, normalise, normalising
from tests.photographs import familiarity, pens, sets, strangers, widths
from tests.photographs.__main__ import turned_sizes
from tests.photographs.judge import judge
from tests.photographs.losses import compared, drawing, tight
from tests.photographs.measure import measure, measure_one
from tests.photographs.scenes import PAPERS, draw_scene, take
from tests.photographs.sets import TUNING, sample, samples, scene_random, training_digits
from tests.photographs.widths import normalised
from tests.test_images import alike, drawn

PLAIN = replace(
    draw_scene(np.random.default_rng(1)),
    paper="plain",
    size=(640, 480),
    digit=0.5,
    at=(0.5, 0.5),
    margin=False,
    ink=(0.7, 0.7, 0.7),
    pen=0.08,
    shadow="none",
    harsh=False,
    lamp=0.2,
    noise=0.01,
    blur=0.001,
    shake=0.0,
)


def eight() -> pens.Shape:
    return pens.drawn(
        [
            np.stack([0.5 + 0.3 * np.sin(2 * t), 0.5 - 0.5 * np.cos(t)], axis=1)
            for t in [np.linspace(0, 2 * np.pi, 80)]
        ]
    )


@pytest.mark.parametrize("number", [1012, 1023, 1257])
def test_coloured_ink_is_told_from_a_hard_shadow(number: int) -> None:
    photograph = sample(TUNING, number).photograph
    found = normalise(photograph.file)
    assert not judge(found.digit, photograph.centre).wrong
    assert any("told apart" in note for note in found.notes)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("ink", [(200, 30, 40), (30, 30, 30)])
def test_ink_of_any_colour_on_paper_that_is_mostly_white(ink: tuple[int, int, int]) -> None:
    picture = Image.new("RGB", (300, 300), (255, 255, 255))
    soft = ImageDraw.Draw(picture)
    for step in range(75):  # a shadow along one side, and a stroke
        soft.line((step, 0, step, 300), (105 + 2 * step,) * 3)
    soft.line((200, 60, 200, 240), ink, 18)
    digit = normalise(picture).digit
    assert digit[:, 10:18].sum() > 0.9 * digit.sum()


@pytest.mark.parametrize("ink", [(0.7, 0.7, 0.7), (0.16, 0.64, 0.6)])
def test_a_red_line_beside_a_digit_in_hard_light_is_no_ink(ink: tuple[float, ...]) -> None:
    hard = replace(PLAIN, ink=ink, margin=True, shadow="strip", harsh=True, shade=0.6)
    photograph = take(eight(), hard)
    assert not judge(normalise(photograph.file).digit, photograph.centre).wrong


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("spacing", [0.2, 0.6])
def test_ruling_is_taken_out_and_holes_stay_open(paper: str, spacing: float) -> None:
    scene = replace(PLAIN, paper=paper, spacing=spacing, line=0.012, line_ink=(0.3, 0.3, 0.3))
    photograph = take(eight(), scene)
    verdict = judge(normalise(photograph.file).digit, photograph.centre)
    assert not verdict.wrong, verdict


@pytest.mark.parametrize("shadow", ["edge", "hand", "strip"])
def test_pale_ink_under_a_shadow_is_found(shadow: str) -> None:
    scene = replace(PLAIN, ink=(0.3, 0.28, 0.25), shadow=shadow, shade=0.6, pen=0.07)
    photograph = take(eight(), scene)
    assert not judge(normalise(photograph.file).digit, photograph.centre).wrong


def test_thin_strokes_are_made_thicker_without_closing_holes() -> None:
    photograph = take(eight(), replace(PLAIN, pen=0.02))
    found = normalise(photograph.file)
    assert any("made thicker" in note for note in found.notes)
    holes = ndimage.label(found.digit < 0.5)[1] - 1
    assert holes == 2


def test_grainy_ink_is_not_taken_for_thin_strokes() -> None:
    photograph = take(
        eight(), replace(PLAIN, pen=0.13, grain=0.25, ink=(0.3, 0.3, 0.3), noise=0.03)
    )
    found = normalise(photograph.file)
    assert not any("made thicker" in note for note in found.notes)
    assert not judge(found.digit, photograph.centre).wrong


def test_the_widest_stroke_of_a_digit_is_not_taken_for_paper() -> None:
    y, x = np.mgrid[0:384, 0:384]
    bar = (y > 110) & (y < 131) & (x > 120) & (x < 250)
    stem = (np.abs(x - 250 + 0.6 * (y - 110)) < 7) & (y > 110) & (y < 290)
    ink = np.where(bar | stem, 0.2, 1.0)
    even, uneven = 0.9 * ink, np.linspace(0.6, 0.9, 384) * ink
    expected, found = (normalise(Image.fromarray(np.uint8(255 * one))) for one in (even, uneven))
    assert alike(found.digit, expected.digit) > 0.95


def test_paper_half_in_the_shade_is_no_ink() -> None:
    light = np.where(np.arange(300)[:, None] < 170, 0.52, 0.68) * np.ones((300, 400))
    light = ndimage.gaussian_filter(light, (4, 0))
    ink = np.asarray(drawn("5").resize((80, 80)), float) / 255
    light[200:280, 250:330] *= 0.5 + 0.5 * ink
    found = normalise(Image.fromarray(np.uint8(255 * light)))
    assert alike(found.digit, normalise(drawn("5")).digit) > 0.8


def test_a_sample_of_the_tuning_set() -> None:
    results = measure(samples(TUNING, 10, largest=1280))
    assert len(results) >= 5
    assert sum(result.digit is None for result in results) == 0
    assert sum(result.wrong for result in results) <= 1


def test_a_run_that_was_broken_off_goes_on(tmp_path: Path, monkeypatch) -> None:
    number = next(i for i in range(99) if max(draw_scene(sets.scene_random(TUNING, i)).size) == 640)
    first = measure_one(TUNING, None, tmp_path, number)["after"]
    (kept,) = tmp_path.iterdir()
    monkeypatch.setattr("tests.photographs.measure.sample_of", None)  # it is not taken again
    again = measure_one(TUNING, None, tmp_path, number)["after"]
    np.testing.assert_array_equal(again.digit, first.digit)
    assert (again.scene, again.seconds) == (first.scene, first.seconds)
    kept.rename(kept.with_name(f"{TUNING}-{number}-other-sources.pickle"))
    with pytest.raises(TypeError):
        measure_one(TUNING, None, tmp_path, number)


def test_a_turned_digit_keeps_its_size() -> None:
    shares = turned_sizes(TUNING, count=12).splitlines()[2].split("|")[2:5]
    low, _, high = (float(share) for share in shares)
    assert low > 0.8
    assert high < 1.25


def test_the_judge_sees_fragments_ruling_blobs_and_closed_holes() -> None:
    photograph = take(eight(), PLAIN)
    right = normalise(photograph.file).digit
    assert not judge(right, photograph.centre).wrong
    half, ruled = right.copy(), right.copy()
    half[14:] = 0
    ruled[5:7] = 1
    closed = ndimage.binary_fill_holes(right > 0.5).astype(np.float32)
    for broken in (half, ruled, closed, np.ones((28, 28), np.float32)):
        assert judge(broken, photograph.centre).wrong
    assert judge(closed, photograph.centre).closed == 2


def test_a_comparison_counts_what_was_won_and_lost() -> None:
    before = np.array([True] * 90 + [False] * 10)
    held = before.copy()
    held[:9], held[90] = False, True
    # of ten digits that changed nine or more go one way: 2 * (10 + 1) / 1024
    assert compared(held, before) == "82.0 % | 1 | 9 | 0.021"
    assert compared(before, before) == "90.0 % | 0 | 0 | 1"


def test_the_last_steps_of_a_drawing_are_those_of_normalise() -> None:
    ink = drawing(pens.written(training_digits().images[0]), pen=0.05, degrees=7)
    usual = normalised(tight(ink))
    np.testing.assert_allclose(usual, normalise(1 - ink).digit, atol=0.02)
    with mock.patch.multiple(normalising, **dict.fromkeys(widths.NAMES, 3.1)):
        assert normalised(tight(ink)).sum() > 1.2 * usual.sum()


def test_photographs_depend_on_their_number_alone() -> None:
    _, number, *_ = (
        each for each in range(30) if max(draw_scene(scene_random(TUNING, each)).size) == 640
    )
    *_, last = samples(TUNING, number + 1, largest=640)
    alone = sample(TUNING, number).photograph.file
    assert alone == last.photograph.file
    with Image.open(io.BytesIO(alone)) as picture:
        assert picture.format == "JPEG"


@pytest.mark.parametrize("font", [*pens.TUNING_FONTS, *pens.REPORT_FONTS])
def test_every_font_has_digits_and_letters(font: str) -> None:
    glyphs = [pens.printed(text, font).field for text in "0123456789" + strangers.LETTERS]
    different = {glyph.tobytes() for glyph in glyphs}
    assert len(different) == len(glyphs)  # what a font lacks is an empty box


# --- several digits


@pytest.mark.parametrize("number", [1325, 1980, 2104, 2109])
def test_a_digit_in_two_parts_is_one_digit_at_any_angle(number: int) -> None:
    shape = pens.written(training_digits().images[number])
    turns = np.deg2rad([0, 90, 200, 290])
    views = [strangers.turned_drawing(shape, turn, half=0.05) for turn in turns]
    ink = [0.0 if view is None else float(view.sum()) for view in views]  # None: several digits
    np.testing.assert_allclose(ink, np.mean(ink), rtol=0.15)


def test_boxes_of_several_digits_in_reading_order() -> None:
    page = Image.new("L", (600, 420), 255)
    places = {"3": (0, 0), "7": (200, 0), "5": (400, 0), "2": (0, 210), "4": (200, 210)}
    for digit, place in places.items():
        page.paste(drawn(digit), place)
    boxes = digit_boxes(page)
    assert len(boxes) == 5
    for box, (digit, (left, top)) in zip(boxes, places.items(), strict=True):
        assert box_at(boxes, (left + 100) / 600, (top + 100) / 420) == box
        found = normalise(page, Options(crop=box)).digit
        assert alike(found, normalise(drawn(digit)).digit) > 0.9
    assert box_at(boxes, 0.99, 0.99) is None


def test_a_digit_of_two_strokes_is_one_box() -> None:
    (box,) = digit_boxes(drawn("5"))
    assert box[0] < 0.3 < 0.7 < box[2]


# --- is it a digit at all


def test_non_digits_become_views() -> None:
    drawings = list(strangers.strangers(TUNING, 12))
    assert {kind for kind, _ in drawings} == set(strangers.KINDS)
    assert sum(view is not None for _, view in drawings) >= 8
    digits = list(strangers.digits(TUNING, 5))
    assert all(view is not None for view in digits)


def test_familiarity_of_a_score_that_knows_and_one_that_does_not() -> None:
    digits, others = np.linspace(0, 1, 101), np.linspace(0.5, 1.5, 101)
    limits = familiarity.limits(digits, others)
    assert limits.fine == pytest.approx(0.55)  # all but 5 % of the others are beyond
    assert limits.unlike == pytest.approx(0.965)  # and 3.5 % of the digits
    kinds = np.array(["letter", *["cat"] * 100])
    figures = familiarity.figures(digits, digits[:2], others, kinds, 3, limits)
    assert figures.digits == pytest.approx({"fine": 56 / 101, "unlike": 41 / 101, "none": 4 / 101})
    assert figures.photographed == {"fine": 1, "unlike": 0, "none": 0}
    assert figures.counts == (101, 2, 101)
    assert figures.others_seen == pytest.approx(95 / 101)
    assert figures.kinds == pytest.approx({"letter": 0, "cat": 0.95})
    assert figures.refused == 3
    chance = familiarity.limits(digits, digits)  # of a score that knows nothing
    assert chance.fine == pytest.approx(0.05)
    assert chance.unlike == pytest.approx(0.965)
    apart = familiarity.limits(digits, digits + 2)
    assert apart.fine == apart.unlike > 2


def test_weights_are_those_of_the_log_odds() -> None:
    rng = np.random.default_rng(0)
    digits, others = rng.normal(0, 1, (4000, 2)), rng.normal((2, 0), 1, (2000, 2))
    # two normal distributions of one variance: the difference of their means over it
    np.testing.assert_allclose(familiarity.weigh(digits, others), (2, 0), atol=0.15)
    stretched = familiarity.weigh(digits * (10, 1), others * (10, 1))
    np.testing.assert_allclose(stretched, (0.2, 0), atol=0.15)


def test_written_digits_keep_their_shape() -> None:
    for image in unseen([0, 8]).images[::25]:
        shape = pens.written(image)
        y, x = (np.mgrid[0:200, 0:200] - 99.5) / 140
        ink = shape.distance(x, y) < (0 if shape.outlined else 0.07)
        assert alike(normalise(1 - ink.astype(float)).digit, image) > 0.7
