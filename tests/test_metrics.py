"""Metrics against naive references."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from fgpvae.data import circular_error
from fgpvae.evaluation import metrics

angle = st.floats(-50, 50)


def test_mse_is_the_mean_over_images_of_the_mean_over_pixels():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 5, 28, 28))
    naive = [[sum((a[p, q] - b[p, q]).ravel() ** 2) / 784 for q in range(5)] for p in range(3)]
    assert metrics.mse(a, b) == pytest.approx(np.mean(naive), rel=1e-12)


@given(angle, angle, st.integers(-3, 3))
def test_circular_error_is_the_arc_between_two_points_of_the_circle(a, b, turns):
    chord = abs(np.exp(1j * a) - np.exp(1j * b))
    error = circular_error(a, b)
    assert 0 <= error <= math.pi
    assert 2 * math.sin(error / 2) == pytest.approx(chord, abs=1e-7)
    assert circular_error(b, a + 2 * math.pi * turns) == pytest.approx(error, abs=1e-9)


def test_orientation_scores():
    true = np.radians([350.0, 0.0, 10.0, 90.0])
    estimated = np.radians([5.0, 359.0, 30.0, 270.0])  # off by 15, 1, 20 and 180 degrees
    scores = metrics.orientation_scores(estimated, true)
    assert scores["median_error_degrees"] == pytest.approx(17.5)
    assert scores["within_15_degrees"] == 0.5


@given(
    st.floats(-1, 4),
    st.floats(1e-6, 1e3),
    arrays(float, st.integers(2, 8), elements=st.integers(1, 5000).map(float), unique=True),
)
def test_fitted_exponent_finds_the_power(power, factor, x):
    assert metrics.fitted_exponent(x, factor * x**power) == pytest.approx(power, abs=1e-6)


@pytest.mark.parametrize("shape", [(200, 6), (20, 96), (4, 3)])
def test_principal_components_are_those_of_scikit_learn(shape):
    from sklearn.decomposition import PCA

    rows = np.random.default_rng(1).normal(size=shape) * np.arange(1, shape[1] + 1)
    rows -= rows.mean(0)
    expected = PCA(3, svd_solver="full").fit(rows).components_
    assert np.allclose(metrics.principal_components(rows, 3), expected)
