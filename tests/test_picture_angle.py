"""The angle of a person's picture, of several views together, and whether it is a digit."""

import dataclasses

import numpy as np
import pytest
import torch

import fgpvae
from fgpvae import (
    calibration,
    class_styles,
    data,
    familiarity,
    orientation,
    picture_scores,
    placement,
)
from fgpvae.errors import UserError
from fgpvae.familiarity import Familiarity
from fgpvae.metrics import circular_error
from fgpvae.models import Model
from fgpvae.recogniser import centred

GRID = torch.as_tensor(orientation.grid())


@pytest.fixture(scope="module")
def best() -> Model:
    return fgpvae.load_pretrained("best")


def turned(digit: int, number: int, *degrees: float) -> np.ndarray:
    """A digit of the test file at some angles [Q, 28, 28]."""
    image = data.unseen((digit,)).images[number : number + 1]
    return data.rotate(image, np.deg2rad(degrees)).astype(np.float32)[0]


def error(found: np.ndarray, *degrees: float) -> np.ndarray:
    return np.rad2deg(circular_error(found, np.deg2rad(degrees)))


# --- where a picture lies


def test_a_picture_lies_where_a_turned_digit_of_mnist_would():
    digits = data.embedded((4,)).images[:20]
    w = torch.tensor([0.0, 1.0, 2.5, 5.0], dtype=torch.float64)
    y, x = np.indices((28, 28)) - 13.5
    for image in digits:
        views = np.clip(data.rotate(image[None], w.numpy())[0], 0, None)
        ours = picture_scores.lying(torch.from_numpy(views[2]), w).clamp(min=0).numpy()
        for each, angle in zip(ours, w.tolist(), strict=True):
            mass = each / each.sum()
            # (0.5, 0.5) to the right and down, turned counter-clockwise with y downwards
            expected = [
                0.5 * (np.cos(angle) + np.sin(angle)),
                0.5 * (np.cos(angle) - np.sin(angle)),
            ]
            np.testing.assert_allclose([(mass * x).sum(), (mass * y).sum()], expected, atol=0.12)


def test_where_a_picture_lies_says_nothing_of_its_angle(best: Model):
    image = torch.from_numpy(turned(4, 0, 70)[0])
    moved = torch.roll(image, (1, -1), (0, 1))
    np.testing.assert_allclose(
        orientation.belief(best, image.numpy()),
        orientation.belief(best, moved.numpy()),
        atol=0.02,
    )


def test_scores_of_a_picture_are_those_of_its_reconstructions(best: Model):
    image, w = torch.from_numpy(turned(4, 0, 70)[0]), GRID[[0, 35, 100]]
    scores = picture_scores.score(best, image, w)
    pictures = picture_scores.lying(image, w)
    for index, angle in enumerate(w):
        picture, at = pictures[index][None, None], angle.view(1, 1)
        made = best.generate(picture, at, at)
        assert float(scores.error[index]) == pytest.approx(float((made - picture).norm()), 1e-4)
        style = best.infer(picture, at).style()[0][0]
        torch.testing.assert_close(scores.styles[index], style, atol=1e-4, rtol=0)
    alone = best.seen_alone(best.given(centred(image)[None, None], torch.zeros(1, 1)), w)
    torch.testing.assert_close(scores.seen_alone, alone[0], atol=1e-4, rtol=0)


# --- which digit it is


def test_classes_are_read_from_styles(best: Model):
    digits = data.unseen()
    style, _ = best.infer(torch.from_numpy(digits.images)[:, None], torch.zeros(500, 1)).style()
    log_class = class_styles.of_model(best).log_class(style)
    torch.testing.assert_close(log_class.exp().sum(-1), torch.ones(500, dtype=torch.float64))
    assert (log_class.argmax(-1).numpy() == digits.labels).mean() > 0.9


def test_densities_of_classes_are_gaussian():
    generator = torch.Generator().manual_seed(0)
    styles = torch.randn(200, 3, generator=generator, dtype=torch.float64)
    labels = np.arange(200) % 10
    fitted = class_styles.fit(styles, labels)
    normal = torch.distributions.MultivariateNormal(fitted.means[4], fitted.covariances[4])
    ours = fitted.log_density(styles)[:, 4] / class_styles.TEMPERED
    torch.testing.assert_close(ours, normal.log_prob(styles))
    own = torch.cov(styles[labels == 4].T)
    pooled = torch.stack([torch.cov(styles[labels == c].T) for c in range(10)]).mean(0)
    torch.testing.assert_close(fitted.covariances[4], (own + pooled) / 2)


def test_which_digit_it_is_turns_a_six_into_a_nine(best: Model):
    image = turned(6, 1, 0)[0]
    shares = {}
    for label in (6, 9):
        found = orientation.belief(best, image, label)
        assert found.sum() == pytest.approx(1)
        shares[label] = found[np.rad2deg(circular_error(orientation.grid(), 0)) < 60].sum()
    assert shares[6] > 0.8
    assert shares[9] < shares[6] - 0.4


# --- several views


def test_more_views_are_never_placed_worse_against_each_other(best: Model):
    degrees = (0, 45, 90, 200)
    for digit, number in ((2, 1), (4, 3), (5, 0), (7, 2)):
        views = turned(digit, number, *degrees)
        each = np.array([placement.place(best, views[q : q + 1]).angles[0] for q in range(4)])
        alone = error(each - each[0], *degrees)
        for count in (2, 4):
            found = placement.place(best, views[:count])
            assert found.misfits == ()
            together = error(found.angles - found.angles[0], *degrees[:count])
            assert (together <= alone[:count] + 4).all()  # grid and interpolation
            assert together.max() < 5


def test_views_are_placed_against_each_other(best: Model):
    degrees = (10, 100, 310)
    found = placement.place(best, turned(3, 4, *degrees))
    apart = found.angles - found.angles[0]
    assert error(apart, *(d - degrees[0] for d in degrees)).max() < 8
    np.testing.assert_allclose(found.belief.sum(1), 1)
    peaks = orientation.grid()[found.belief.argmax(1)]
    assert error(peaks - peaks[0], *np.rad2deg(apart)).max() < 3


def test_an_angle_that_was_said_is_kept_and_turns_the_others(best: Model):
    views = turned(2, 1, 0, 90)
    found = placement.place(best, views, said=[np.deg2rad(151), None])
    assert np.rad2deg(found.angles[0]) == pytest.approx(151)
    assert error(found.angles[1:], 241).max() < 15


def test_a_view_of_another_digit_does_not_fit(best: Model):
    views = np.concatenate([turned(2, 1, 0, 45, 200), turned(5, 0, 30)])
    assert placement.place(best, views).misfits == (3,)
    assert placement.place(best, views[2:]).misfits == (0, 1)


def test_one_view_is_believed_as_it_is_alone(best: Model):
    view = turned(2, 1, 45)
    np.testing.assert_allclose(
        placement.place(best, view).belief[0], orientation.belief(best, view[0])
    )


def test_models_that_tell_no_angle_place_nothing():
    assert placement.place(fgpvae.load_pretrained("paper"), turned(2, 1, 45)) is None


# --- is it a digit


def test_limits_make_three_answers(best: Model):
    image = turned(3, 0, 20)[0]
    score = familiarity.unfamiliarity(best, image)
    answers = []
    for limits in ((score, score), (score - 1, score), (score - 2, score - 1), ()):
        best.calibration = dataclasses.replace(best.calibration, familiar=limits)
        answers.append(familiarity.familiarity(best, image))
    assert answers == [Familiarity.FINE, Familiarity.UNLIKE, Familiarity.NO_DIGIT, None]


def test_a_grid_is_less_familiar_than_a_digit(best: Model):
    grid = np.zeros((28, 28), np.float32)
    grid[6:22:5, 5:23] = grid[5:23, 6:22:5] = 1
    assert familiarity.unfamiliarity(best, grid) > 1 + max(
        familiarity.unfamiliarity(best, turned(digit, 0, 20)[0]) for digit in (2, 4, 7)
    )


def test_limits_in_the_wrong_order_are_refused(best: Model):
    with pytest.raises(UserError, match="two in order"):
        dataclasses.replace(best.calibration, familiar=(2.0, 1.0))


# --- pictures to calibrate on


def test_pictures_of_digits_are_turned_as_they_say():
    digits = data.embedded((4,))[:3]
    images, angles = calibration.pictures(digits, seed=1)
    assert len(images) == 3
    for image, angle, digit in zip(images, angles, digits.images, strict=True):
        upright = centred(data.rotate(digit[None], np.array([float(angle)]))[0, 0])
        seen = centred(image.numpy())
        assert np.corrcoef(seen.ravel(), upright.ravel())[0, 1] > 0.85
