"""Metrics against naive references."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fgpvae import metrics
from fgpvae.errors import UserError

angle = st.floats(-50, 50)


def test_mse_is_the_mean_over_images_of_the_mse_of_an_image():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 5, 28, 28))
    naive = [[sum((a[p, q] - b[p, q]).ravel() ** 2) / 784 for q in range(5)] for p in range(3)]
    np.testing.assert_allclose(metrics.mse_per_image(a, b), naive, rtol=1e-12)
    assert metrics.mse(a, b) == pytest.approx(np.mean(naive), rel=1e-12)


def test_mse_does_not_broadcast():
    with pytest.raises(UserError, match="one shape"):
        metrics.mse(np.zeros((3, 28, 28)), np.zeros((28, 28)))


@given(angle, angle, st.integers(-3, 3))
def test_circular_error_is_the_arc_between_two_points_of_the_circle(a, b, turns):
    chord = abs(np.exp(1j * a) - np.exp(1j * b))
    error = metrics.circular_error(a, b)
    assert 0 <= error <= math.pi
    assert 2 * math.sin(error / 2) == pytest.approx(chord, abs=1e-7)
    assert metrics.circular_error(b, a + 2 * math.pi * turns) == pytest.approx(error, abs=1e-9)


def test_orientation_scores():
    true = np.radians([350.0, 0.0, 10.0, 90.0])
    estimated = np.radians([5.0, 359.0, 30.0, 270.0])  # off by 15, 1, 20 and 180 degrees
    scores = metrics.orientation_scores(estimated, true)
    assert scores["median_error_degrees"] == pytest.approx(17.5)
    assert scores["within_15_degrees"] == 0.5


def test_coverage_counts_what_lies_in_the_band():
    truth = np.array([0.0, 0.6, 0.7, 1.6, 1.7, -1.6, -0.6, -5.0])  # bands at 0.674 and 1.645
    assert metrics.coverage(truth, np.zeros(8), np.ones(8)) == {
        "coverage_50": 3 / 8,
        "coverage_90": 6 / 8,
    }
    assert metrics.coverage(truth, truth, 0.0) == {"coverage_50": 1, "coverage_90": 1}


def test_coverage_of_a_true_model_is_the_level():
    rng = np.random.default_rng(0)
    mean, sd = rng.normal(size=50_000), rng.uniform(0.1, 3, size=50_000)
    truth = mean + sd * rng.normal(size=50_000)
    levels = (0.1, 0.5, 0.9, 0.975)
    shares = metrics.coverage(truth, mean, sd, levels)
    assert list(shares) == ["coverage_10", "coverage_50", "coverage_90", "coverage_97.5"]
    np.testing.assert_allclose(list(shares.values()), levels, atol=0.01)
    assert metrics.coverage(truth, mean, 0.5 * sd)["coverage_90"] < 0.7


def test_coverage_refuses_what_cannot_be():
    with pytest.raises(UserError, match="between 0 and 1"):
        metrics.coverage(np.zeros(3), np.zeros(3), np.ones(3), levels=(90,))
    with pytest.raises(UserError, match="negative"):
        metrics.coverage(np.zeros(3), np.zeros(3), -np.ones(3))


@given(
    st.floats(-1, 4),
    st.floats(1e-6, 1e3),
    arrays(float, st.integers(2, 8), elements=st.integers(1, 5000).map(float), unique=True),
)
def test_fitted_exponent_finds_the_power(power, factor, x):
    assert metrics.fitted_exponent(x, factor * x**power) == pytest.approx(power, abs=1e-6)


def test_fitted_exponent_needs_two_sizes():
    with pytest.raises(UserError, match="two different sizes"):
        metrics.fitted_exponent([8, 8], [1.0, 2.0])
