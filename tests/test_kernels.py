import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ive
from sklearn.gaussian_process.kernels import RBF, ConstantKernel, ExpSineSquared, Matern

from fgpvae.errors import UserError
from fgpvae.kernels import KERNELS, ON_A_LINE, Periodic, fourier_basis

SCALES = [0.3, 0.5, 1.0, 2.0, 100.0]
angles = st.lists(st.floats(-20, 20), min_size=1, max_size=12)
scales = st.floats(0.1, 10)


def circle(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return 2 * math.pi * torch.rand(*shape, dtype=torch.float64, generator=generator)


def naive(a, b, amplitude, length_scale, period):
    """The paper's kernel, one pair at a time; its printed formula is the one with period π."""
    out = np.empty((len(a), len(b)))
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            sine = math.sin(math.pi * abs(x - y) / period)
            out[i, j] = amplitude**2 * math.exp(-2 * sine**2 / length_scale**2)
    return out


@given(angles, angles, scales, scales, st.floats(0.5, 20))
@settings(max_examples=50, deadline=None)
def test_gram_is_the_formula(a, b, amplitude, length_scale, period):
    kernel = Periodic(amplitude, length_scale, period)
    double = [torch.tensor(x, dtype=torch.float64) for x in (a, b)]
    expected = naive(a, b, amplitude, length_scale, period)
    np.testing.assert_allclose(kernel.gram(*double), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("length_scale", SCALES)
@pytest.mark.parametrize("period", [math.pi, 2 * math.pi, 5.0])
def test_gram_agrees_with_scikit_learn(length_scale, period):
    a, b = circle(7), circle(5, seed=1)
    kernel = Periodic(1.7, length_scale, period)
    theirs = ConstantKernel(1.7**2) * ExpSineSquared(length_scale, period)
    expected = theirs(a.numpy()[:, None], b.numpy()[:, None])
    np.testing.assert_allclose(kernel.gram(a, b), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(a), theirs.diag(a.numpy()[:, None]), rtol=1e-14)


def test_any_batch_shape():
    kernel = Periodic(1.3, 0.7)
    a, b = circle(2, 3, 4), circle(2, 3, 5, seed=1)
    gram, features = kernel.gram(a, b), kernel.features(a)
    assert gram.shape == (2, 3, 4, 5)
    assert features.shape == (2, 3, 4, kernel.rank())
    for i in range(2):
        for j in range(3):
            torch.testing.assert_close(gram[i, j], kernel.gram(a[i, j], b[i, j]))
            torch.testing.assert_close(features[i, j], kernel.features(a[i, j]))


def test_upside_down_is_the_same_only_with_the_printed_period():
    up, down = torch.tensor([0.3]).double(), torch.tensor([0.3 + math.pi]).double()
    assert float(Periodic().gram(up, down)) == pytest.approx(math.exp(-2))
    assert float(Periodic(period=math.pi).gram(up, down)) == pytest.approx(1)
    assert float(Periodic().gram(up, up + 2 * math.pi)) == pytest.approx(1)


def test_angles_in_single_precision_are_subtracted_in_double():
    a, b = torch.tensor([3.0000002], dtype=torch.float32), torch.tensor([3.0], dtype=torch.float32)
    expected = Periodic(1.0, 1e-3).gram(a.double(), b.double())
    gram = Periodic(1.0, 1e-3).gram(a, b)
    assert gram.dtype == torch.float64
    assert torch.equal(gram, expected)


@given(angles, scales, scales)
@settings(max_examples=50, deadline=None)
def test_gram_is_positive_semidefinite_and_symmetric(w, amplitude, length_scale):
    kernel = Periodic(amplitude, length_scale)
    w = torch.tensor(w, dtype=torch.float64)
    gram = kernel.gram(w, w)
    torch.testing.assert_close(gram, gram.mT, rtol=1e-12, atol=0)
    assert float(torch.linalg.eigvalsh(gram).min()) >= -1e-13 * len(w) * amplitude**2
    torch.testing.assert_close(gram.diagonal(), kernel.diagonal(w))


@pytest.mark.parametrize("length_scale", [*SCALES, 0.01])
@pytest.mark.parametrize("period", [math.pi, 2 * math.pi])
def test_features_reproduce_the_gram(length_scale, period):
    kernel = Periodic(1.5, length_scale, period)
    a, b = 3 * circle(40), 3 * circle(30, seed=1)
    product = kernel.features(a) @ kernel.features(b).mT
    torch.testing.assert_close(product, kernel.gram(a, b), rtol=0, atol=1e-10)
    assert kernel.features(a).shape[-1] == kernel.rank()


@pytest.mark.parametrize("length_scale", SCALES)
def test_coefficients_are_the_cosine_integrals_and_the_bessel_functions(length_scale):
    kernel = Periodic(1.5, length_scale)
    harmonics = kernel.harmonics()
    ours = kernel.coefficients(harmonics).numpy()
    k = np.arange(harmonics + 1)
    bessel = 1.5**2 * np.where(k == 0, 1, 2) * ive(k, length_scale**-2)
    np.testing.assert_allclose(ours, bessel, rtol=1e-13)
    # by the trapezoidal rule, which is exact for so smooth a function
    delta = 2 * np.pi * np.arange(512) / 512
    values = 1.5**2 * np.exp(-2 * np.sin(delta / 2) ** 2 / length_scale**2)
    integrals = np.array([(values * np.cos(m * delta)).mean() for m in k])
    np.testing.assert_allclose(ours, np.where(k == 0, 1, 2) * integrals, atol=1e-15)


def test_the_figures_of_the_benchmark():
    w = circle(200)
    gram = Periodic().gram(w, w)
    for features, error in ((17, 5e-9), (21, 1e-11)):
        phi = fourier_basis(w, Periodic().coefficients((features - 1) // 2))
        assert phi.shape[-1] == features
        assert float((phi @ phi.mT - gram).abs().max()) < error
    phi = fourier_basis(w, Periodic(1.0, 0.5).coefficients(15))
    assert float((phi @ phi.mT - Periodic(1.0, 0.5).gram(w, w)).abs().max()) < 3e-10


def test_more_harmonics_for_a_shorter_length_scale():
    ranks = [Periodic(1.0, r).rank() for r in (100, 3, 1, 0.3, 0.01)]
    assert ranks == sorted(ranks)
    assert len(set(ranks)) == len(ranks)
    assert Periodic().harmonics(1e-16) > Periodic().harmonics(1e-6)


@pytest.mark.parametrize("compute", ["gram", "features", "diagonal"])
@pytest.mark.parametrize("length_scale", [0.3, 1.0, 3.0])
def test_learnable_parameters_have_the_right_gradient(compute, length_scale):
    kernel = Periodic(1.4, length_scale, learnable=True)
    w = circle(5)

    def value(log_amplitude, log_length_scale):
        inputs = {"log_amplitude": log_amplitude, "log_length_scale": log_length_scale}
        other = (w + 0.3,) if compute == "gram" else ()
        method = Method(kernel, compute)
        return torch.func.functional_call(
            method, {f"kernel.{name}": x for name, x in inputs.items()}, (w, *other)
        )

    inputs = (kernel.log_amplitude, kernel.log_length_scale)
    assert all(x.requires_grad for x in inputs)
    assert torch.autograd.gradcheck(value, inputs, atol=1e-7)


class Method(torch.nn.Module):
    """One method of a kernel as the forward pass of a module."""

    def __init__(self, kernel, name):
        super().__init__()
        self.kernel, self.name = kernel, name

    def forward(self, *args):
        return getattr(self.kernel, self.name)(*args)


def test_parameters_stay_positive_however_far_they_are_pushed():
    kernel = Periodic(0.1, 0.5, learnable=True)
    optimizer = torch.optim.SGD(kernel.parameters(), lr=1.0)
    for _ in range(20):
        optimizer.zero_grad()
        (10 * kernel.amplitude + 10 * kernel.length_scale).backward()
        optimizer.step()
    assert 0 < float(kernel.amplitude.detach()) < 0.1
    assert 0 < float(kernel.length_scale.detach()) < 0.5
    assert kernel.gram(circle(3), circle(3)).isfinite().all()


def test_parameters_are_fixed_unless_asked_for():
    assert not any(p.requires_grad for p in Periodic().parameters())
    assert float(Periodic(2.5, 0.7).amplitude) == pytest.approx(2.5, rel=1e-14)
    assert float(Periodic(2.5, 0.7).length_scale) == pytest.approx(0.7, rel=1e-14)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
@pytest.mark.parametrize("name", ["amplitude", "length_scale", "period"])
def test_bad_parameters_are_refused_by_name(name, bad):
    with pytest.raises(UserError, match=name.replace("_", " ")):
        Periodic(**{name: bad})


# Kernels on a line

THEIRS = {
    "squared-exponential": RBF,
    "matern32": lambda length_scale: Matern(length_scale, nu=1.5),
    "matern52": lambda length_scale: Matern(length_scale, nu=2.5),
}
lines = pytest.mark.parametrize("name", ON_A_LINE)


def test_every_kernel_on_a_line_is_checked():
    assert set(THEIRS) == set(ON_A_LINE) == set(KERNELS) - {"periodic"}


@lines
@pytest.mark.parametrize("length_scale", [0.05, 0.5, 2.0])
def test_kernels_on_a_line_agree_with_scikit_learn(name, length_scale):
    a, b = circle(7) - 3, circle(5, seed=1) - 3
    kernel, theirs = ON_A_LINE[name](0.7, length_scale), 0.49 * THEIRS[name](length_scale)
    for other in (a, b):
        expected = theirs(a.numpy()[:, None], other.numpy()[:, None])
        np.testing.assert_allclose(kernel.gram(a, other), expected, rtol=1e-9, atol=1e-15)
    np.testing.assert_allclose(kernel.diagonal(a), theirs.diag(a.numpy()[:, None]), rtol=1e-14)


@lines
def test_kernels_on_a_line_have_the_right_gradient(name):
    a, b = circle(4) - 3, torch.cat([circle(2, seed=1) - 3, circle(4)[:1] - 3])

    def gram(log_amplitude, log_length_scale):
        state = {"log_amplitude": log_amplitude, "log_length_scale": log_length_scale}
        return torch.func.functional_call(Gram(ON_A_LINE[name]()), state_of(state), (a, b))

    start = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (-0.3, -0.5)]
    assert torch.autograd.gradcheck(gram, start)


class Gram(torch.nn.Module):
    def __init__(self, kernel):
        super().__init__()
        self.kernel = kernel

    def forward(self, a, b):
        return self.kernel.gram(a, b)


def state_of(values):
    return {f"kernel.{name}": value for name, value in values.items()}


@lines
@pytest.mark.parametrize("bad", [0.0, -1.0, math.inf, math.nan])
def test_bad_parameters_on_a_line_are_refused_by_name(name, bad):
    with pytest.raises(UserError, match="amplitude"):
        ON_A_LINE[name](amplitude=bad)
    with pytest.raises(UserError, match="length scale"):
        ON_A_LINE[name](length_scale=bad)
