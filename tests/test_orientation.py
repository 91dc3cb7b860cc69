"""The angle of a person's picture, of several views together, and whether it is a digit."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from scipy.stats import multivariate_normal

import fgpvae
from fgpvae import data, orientation
from fgpvae.data import circular_error
from fgpvae.images import normalise
from fgpvae.models import Model
from fgpvae.orientation import novelty, picture_scores, several_views
from fgpvae.orientation.novelty import Novelty
from fgpvae.orientation.one_view import UPRIGHT
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


def test_scores_of_a_picture_are_those_of_its_reconstructions(best: Model):
    image, w = torch.from_numpy(turned(4, 0, 70)[0]), GRID[[0, 35, 100]]
    scores = picture_scores.score(best, image, w)
    scale = picture_scores.scales(image, w)
    pictures = picture_scores.placed(image, w, scale)
    middle = picture_scores.placed(image, w, scale, 0.0)
    for index, angle in enumerate(w):
        picture, at = pictures[index][None, None], angle.view(1, 1)
        made = best.generate(picture, at, at)
        error = float((made - picture).norm() / scale[index])
        assert float(scores.error[index]) == pytest.approx(error, 1e-4)
        style = best.infer(picture, at).style()[0][0]
        torch.testing.assert_close(scores.styles[index], style, atol=1e-4, rtol=0)
        density = picture_scores.class_log_density(best, style)
        torch.testing.assert_close(scores.density[index], density, atol=0.02, rtol=0)
        seen = best.given(middle[index][None, None], at)
        alone = best.angle_log_density(seen, angle[None])[0, 0]
        torch.testing.assert_close(scores.angle_log_density[index], alone, atol=1e-4, rtol=0)
    expected = torch.stack(
        [-scores.error, scores.density.exp().sum(-1).log(), scores.angle_log_density]
    )
    torch.testing.assert_close(scores.stacked(), expected.T)


def test_classes_are_read_from_styles(best: Model):
    digits = data.unseen()
    style, _ = best.infer(torch.from_numpy(digits.images)[:, None], torch.zeros(500, 1)).style()
    density = picture_scores.class_log_density(best, style)
    assert (density.argmax(-1).numpy() == digits.labels).mean() > 0.9


def test_densities_of_classes_are_gaussian():
    generator = torch.Generator().manual_seed(0)
    styles = torch.randn(200, 3, generator=generator, dtype=torch.float64)
    labels = np.arange(200) % 10
    fitted = picture_scores.fit_classes(styles, labels)
    wanted = multivariate_normal(fitted.loc[4], fitted.covariance_matrix[4]).logpdf(styles)
    ours = fitted.log_prob(styles[:, None])[:, 4]
    torch.testing.assert_close(ours, torch.from_numpy(wanted))
    own = torch.cov(styles[labels == 4].T)
    pooled = torch.stack([torch.cov(styles[labels == c].T) for c in range(10)]).mean(0)
    torch.testing.assert_close(fitted.covariance_matrix[4], (own + pooled) / 2)


def test_which_digit_it_is_turns_a_six_into_a_nine(best: Model):
    image = turned(6, 1, 0)[0]
    shares = {}
    for label in (6, 9):
        found = orientation.belief(best, image, label)
        assert found.sum() == pytest.approx(1)
        shares[label] = found[np.rad2deg(circular_error(orientation.grid(), 0)) < 60].sum()
    assert shares[6] > 0.8
    assert shares[9] < shares[6] - 0.4


def test_the_prior_is_a_mixture_of_upright_and_any_angle():
    prior = orientation.upright_prior()
    assert prior.sum() == pytest.approx(1)
    assert prior[90] == pytest.approx((1 - UPRIGHT) / orientation.GRID)
    near = np.rad2deg(circular_error(orientation.grid(), 0)) <= 24  # two standard deviations
    assert prior[near].sum() == pytest.approx(
        0.95 * UPRIGHT + (1 - UPRIGHT) * near.mean(), abs=0.02
    )


def test_pictures_held_upright_come_out_upright(best: Model):
    """Two of each class, turned by up to 12 degrees; without the prior a third are mistaken."""
    tilts = np.random.default_rng(2).uniform(-12, 12, (10, 2))
    for label in range(10):
        for number, tilt in enumerate(tilts[label]):
            picture = as_picture(data.unseen((label,)).images[number + 2], tilt)
            found = several_views.place(best, [picture], upright=True)
            assert error(found.angles, 0).max() <= 20


def test_pictures_turned_on_purpose_are_found_or_offered(best: Model):
    found = []
    for label, degrees in ((2, 90), (3, 120), (4, 180), (5, 240), (7, 150), (2, 270), (3, 180)):
        picture = as_picture(data.unseen((label,)).images[1], degrees)
        belief = several_views.place(best, [picture], upright=True).belief[0]
        offered = orientation.modes(belief)
        found.append(min(float(error(np.array([mode.angle]), degrees)[0]) for mode in offered) < 20)
    assert sum(found) >= 6


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
        found = several_views.place(best, pictures[:count], [0.0, *[None] * (count - 1)])
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


def test_a_stated_angle_is_taken_and_turns_the_others(best: Model):
    views = turned(2, 1, 0, 90)
    found = several_views.place(best, views, stated=[np.deg2rad(151), None])
    assert np.rad2deg(found.angles[0]) == pytest.approx(151)
    assert error(found.angles[1:], 241).max() < 15


def test_a_view_of_another_digit_does_not_fit(best: Model):
    views = np.concatenate([turned(2, 1, 0, 45, 200), turned(5, 0, 30)])
    assert several_views.place(best, views).misfits == (3,)
    assert several_views.place(best, views[2:]).misfits == (0, 1)


@pytest.mark.parametrize("name", ["paper", "wide", "cvae", "gpvae-amortised"])
def test_any_model_is_told_which_view_does_not_fit(name: str):
    model, degrees = fgpvae.load_pretrained(name), (0, 45, 200)
    views = [as_picture(data.unseen((3,)).images[1], angle) for angle in degrees]
    stated = np.deg2rad(degrees).tolist()
    assert several_views.place(model, views, stated).misfits == ()
    views[1] = as_picture(data.unseen((7,)).images[0], 45)
    assert several_views.place(model, views, stated).misfits == (1,)


@given(st.lists(st.floats(0, 1), min_size=orientation.GRID, max_size=orientation.GRID))
def test_modes_of_any_belief(values: list[float]):
    total = sum(values)
    found = orientation.modes(np.array(values) / total if total else np.array(values))
    assert sum(mode.share for mode in found) <= 1 + 1e-9
    assert found == sorted(found, key=lambda mode: -mode.share)


def test_digits_are_fine_and_other_things_are_not(best: Model):
    grid = np.zeros((28, 28), np.float32)
    grid[6:22:5, 5:23] = grid[5:23, 6:22:5] = 1
    assert novelty.verdict(best, grid) is Novelty.NO_DIGIT
    others = [view for _, view in strangers.strangers(TUNING, 24) if view is not None]
    digits = [view for view in strangers.digits(TUNING, 20) if view is not None]
    called = [[novelty.verdict(best, view) for view in some] for some in (digits, others)]
    assert called[0].count(Novelty.NO_DIGIT) <= 2
    assert called[0].count(Novelty.FINE) >= 15
    assert called[1].count(Novelty.FINE) <= 4
