"""The angle of a person's picture, of several views together, and whether it is a digit."""

import dataclasses

import numpy as np
import pytest
import torch
from PIL import Image

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
from fgpvae.images import normalise
from fgpvae.metrics import circular_error
from fgpvae.models import Model
from fgpvae.recogniser import centred
from tests.photographs import strangers
from tests.photographs.sets import TUNING

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
        one = torch.ones_like(w)
        ours = picture_scores.placed(torch.from_numpy(views[2]), w, one).clamp(min=0).numpy()
        for each, angle in zip(ours, w.tolist(), strict=True):
            mass = each / each.sum()
            # (0.5, 0.5) to the right and down, turned counter-clockwise with y downwards
            expected = [
                0.5 * (np.cos(angle) + np.sin(angle)),
                0.5 * (np.cos(angle) - np.sin(angle)),
            ]
            np.testing.assert_allclose([(mass * x).sum(), (mass * y).sum()], expected, atol=0.12)


def test_a_picture_is_as_large_as_a_turned_digit_of_mnist_would_be():
    w = torch.deg2rad(torch.arange(0, 360, 30, dtype=torch.float64))
    for image in data.embedded((1, 4, 7)).images[::150]:
        upright = torch.from_numpy(np.clip(image, 0, 1))
        assert float(picture_scores.spans(upright, w[:1])) == pytest.approx(20.5, abs=0.6)
        for angle in (0.0, 0.6, 2.0, 4.4):
            view = np.clip(data.rotate(image[None], np.array([angle]))[0, 0], 0, 1)
            smaller = picture_scores.placed(
                torch.from_numpy(view).float(), torch.zeros(1), torch.tensor([0.85]), 0.0
            )[0]
            again = picture_scores.as_seen(smaller.numpy(), angle)
            assert np.corrcoef(again.ravel(), view.ravel())[0, 1] > 0.96
            assert np.corrcoef(smaller.numpy().ravel(), view.ravel())[0, 1] < 0.96


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
    scale = picture_scores.scales(image, w)
    pictures = picture_scores.placed(image, w, scale)
    middle = picture_scores.placed(image, w, scale, 0.0)
    classes = class_styles.of_model(best)
    for index, angle in enumerate(w):
        picture, at = pictures[index][None, None], angle.view(1, 1)
        made = best.generate(picture, at, at)
        error = float((made - picture).norm() / scale[index])
        assert float(scores.error[index]) == pytest.approx(error, 1e-4)
        style = best.infer(picture, at).style()[0][0]
        torch.testing.assert_close(scores.styles[index], style, atol=1e-4, rtol=0)
        density = classes.log_density(style)
        torch.testing.assert_close(scores.density[index], density, atol=0.02, rtol=0)
        seen = best.given(middle[index][None, None], at)
        alone = best.seen_alone(seen, angle[None])[0, 0]
        torch.testing.assert_close(scores.seen_alone[index], alone, atol=1e-4, rtol=0)
    expected = torch.stack([-scores.error, scores.density.exp().sum(-1).log(), scores.seen_alone])
    torch.testing.assert_close(scores.stacked(), expected.T)


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


def as_picture(image: np.ndarray, degrees: float) -> np.ndarray:
    """A digit enlarged, turned and read as a person's picture."""
    paper = Image.fromarray(np.uint8(255 - 255 * np.clip(image, 0, 1)))
    large = paper.resize((140, 140), Image.Resampling.BICUBIC)
    return normalise(large.rotate(degrees, Image.Resampling.BICUBIC, fillcolor=255)).digit


@pytest.mark.parametrize(("digit", "number"), [(2, 1), (7, 2), (3, 1)])
def test_more_pictures_never_make_the_result_worse(best: Model, digit: int, number: int):
    degrees, at = (0, 45, 90, 200), torch.as_tensor(data.ANGLES)[None]
    image = data.unseen((digit,)).images[number]
    truth = torch.from_numpy(data.rotate(image[None], data.ANGLES)[0])
    pictures = [as_picture(image, angle) for angle in degrees]

    def result(count: int) -> float:
        found = placement.place(best, pictures[:count], [0.0, *[None] * (count - 1)])
        assert found.misfits == ()
        assert error(found.angles, *degrees[:count]).max() < 5
        pairs = zip(pictures, found.angles, strict=False)
        views = torch.from_numpy(np.stack([picture_scores.as_seen(*pair) for pair in pairs]))
        made = best.generate(views[None], torch.as_tensor(found.angles)[None], at)[0]
        return float((made - truth).square().mean())

    one = result(1)
    assert one < 0.03
    for count in (2, 3, 4):
        assert result(count) < 1.15 * one  # angles come from a grid of 2 degrees


def test_a_picture_of_another_digit_does_not_fit(best: Model):
    two, five = (data.unseen((digit,)).images[1] for digit in (2, 5))
    pictures = [*(as_picture(two, angle) for angle in (0, 45, 200)), as_picture(five, 30)]
    assert placement.place(best, pictures).misfits == (3,)


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
    score = float(familiarity.features(best, image) @ best.calibration.unfamiliarity)
    own, answers = best.calibration, []
    for limits in ((score, score), (score - 1, score), (score - 2, score - 1), ()):
        best.calibration = dataclasses.replace(own, familiar=limits)
        answers.append(familiarity.familiarity(best, image))
    best.calibration = own
    assert answers == [Familiarity.FINE, Familiarity.UNLIKE, Familiarity.NO_DIGIT, None]


def test_digits_are_fine_and_other_things_are_not(best: Model):
    grid = np.zeros((28, 28), np.float32)
    grid[6:22:5, 5:23] = grid[5:23, 6:22:5] = 1
    assert familiarity.familiarity(best, grid) is Familiarity.NO_DIGIT
    others = [view for _, view in strangers.strangers(TUNING, 24) if view is not None]
    digits = [view for view in strangers.digits(TUNING, 20) if view is not None]
    called = [[familiarity.familiarity(best, view) for view in some] for some in (digits, others)]
    assert called[0].count(Familiarity.NO_DIGIT) <= 2
    assert called[0].count(Familiarity.FINE) >= 15
    assert called[1].count(Familiarity.FINE) <= 4


def test_features_of_what_is_familiar(best: Model):
    image = turned(3, 0, 20)[0]
    scores = picture_scores.score(best, image, torch.arange(72) * (2 * torch.pi / 72))
    error, density, stands_out, outline = familiarity.features(best, image)
    best_class = scores.density.max(-1).values
    assert error == pytest.approx(np.log(float(scores.error.min()) ** 2), rel=1e-4)
    assert density == pytest.approx(float(best_class.max()), rel=1e-4)
    assert stands_out == pytest.approx(density - float(best_class.median()), rel=1e-3)
    down, across = np.gradient(image)
    assert outline == pytest.approx(np.log(np.abs(down).sum() + np.abs(across).sum()), rel=1e-4)


def test_weights_of_what_is_unfamiliar_are_four(best: Model):
    with pytest.raises(UserError, match="or four"):
        dataclasses.replace(best.calibration, unfamiliarity=(2.0, 1.0))


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


@pytest.mark.parametrize("wrong", [0, 80])
def test_beliefs_are_as_modest_as_pictures_taken_ask_for(wrong: int, monkeypatch):
    grid = torch.arange(calibration.STEPS) * (2 * torch.pi / calibration.STEPS)

    def scores(_: Model, images: torch.Tensor, true: torch.Tensor) -> tuple:
        peaks = 40 * torch.cos(grid - images[:, 0, :1])  # [P, G]: pictures say what they show
        return torch.stack([peaks, 0 * peaks, 0 * peaks], -1).double(), true

    def pictures(_: data.Digits, seed: int) -> tuple:
        true = torch.rand(400, generator=torch.Generator().manual_seed(seed)).double() * 6
        return true.float()[:, None, None], true

    monkeypatch.setattr(calibration, "_picture_scores", scores)
    monkeypatch.setattr(calibration, "pictures", pictures)
    images, true = pictures(data.embedded((2,)), 3)
    true[:wrong] += torch.pi
    found = calibration.fit_pictures(None, data.embedded((2,)), (images, true))
    alone = calibration.fit_pictures(None, data.embedded((2,)))
    assert (found[0] < 0.9 * alone[0]) == bool(wrong)


def test_few_beliefs_that_are_right_do_not_show_that_nearly_all_are():
    assert calibration.likely_share(5, 5) < calibration.MARGIN < calibration.likely_share(50, 50)
    assert calibration.likely_share(980, 1000) == pytest.approx(0.98, abs=1e-3)
