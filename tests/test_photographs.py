"""Photographs of digits, and several digits in a picture."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image, ImageDraw
from scipy import ndimage

from fgpvae.images import Options, box_at, digit_boxes, normalise
from tests.photographs import pens, strangers
from tests.photographs.judge import judge
from tests.photographs.scenes import PAPERS, draw_scene, take
from tests.photographs.sets import TUNING, sample, training_digits
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


@pytest.mark.parametrize("number", [1012, 1257])
def test_coloured_ink_is_told_from_a_hard_shadow(number: int) -> None:
    photograph = sample(TUNING, number).photograph
    found = normalise(photograph.file)
    assert not judge(found.digit, photograph.centre).wrong


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


@pytest.mark.parametrize("number", [1325, 2109])
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
