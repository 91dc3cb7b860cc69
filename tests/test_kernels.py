import math

import numpy as np
import pytest
import torch
from scipy.special import ive
from sklearn.gaussian_process.kernels import RBF, ExpSineSquared, Matern

from fgpvae.errors import UserError
from fgpvae.gp.kernels import ON_A_LINE, Periodic

SCALES = [0.3, 0.5, 1.0, 2.0, 100.0]


def circle(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return 2 * math.pi * torch.rand(*shape, dtype=torch.float64, generator=generator)


OURS = {"periodic": Periodic, **ON_A_LINE}
THEIRS = {
    "periodic": lambda length_scale: ExpSineSquared(length_scale, 2 * math.pi),
    "squared-exponential": RBF,
    "matern32": lambda length_scale: Matern(length_scale, nu=1.5),
    "matern52": lambda length_scale: Matern(length_scale, nu=2.5),
}


@pytest.mark.parametrize("name", OURS)
@pytest.mark.parametrize("length_scale", [0.05, 0.5, 100.0])
def test_gram_agrees_with_scikit_learn(name, length_scale):
    a, b = circle(2, 7) - 3, circle(2, 5, seed=1) - 3
    kernel, theirs = OURS[name](0.7, length_scale), 0.49 * THEIRS[name](length_scale)
    for i in range(2):
        expected = theirs(a[i].numpy()[:, None], b[i].numpy()[:, None])
        np.testing.assert_allclose(kernel.gram(a, b)[i], expected, rtol=1e-9, atol=1e-15)
        np.testing.assert_allclose(kernel.diagonal(a)[i], theirs.diag(a[i].numpy()[:, None]))
    assert torch.equal(kernel.gram(a.float(), b), kernel.gram(a.float().double(), b))


def test_upside_down_is_the_same_only_with_the_printed_period():
    up, down = torch.tensor([0.3]).double(), torch.tensor([0.3 + math.pi]).double()
    assert float(Periodic().gram(up, down)) == pytest.approx(math.exp(-2))
    assert float(Periodic(period=math.pi).gram(up, down)) == pytest.approx(1)
    assert float(Periodic().gram(up, up + 2 * math.pi)) == pytest.approx(1)


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


@pytest.mark.parametrize(
    ("name", "compute"),
    [*((name, "gram") for name in OURS), ("periodic", "features"), ("periodic", "diagonal")],
)
@pytest.mark.parametrize("length_scale", [0.3, 3.0])
def test_learnable_parameters_have_the_right_gradient(name, compute, length_scale):
    kernel, w = OURS[name](1.4, length_scale, learnable=True), circle(5)
    other = (torch.cat([w[:1], w + 0.3]),) if compute == "gram" else ()

    def value(log_amplitude, log_length_scale):
        del kernel.log_amplitude, kernel.log_length_scale
        kernel.log_amplitude, kernel.log_length_scale = log_amplitude, log_length_scale
        return getattr(kernel, compute)(w, *other)

    inputs = (kernel.log_amplitude, kernel.log_length_scale)
    assert all(x.requires_grad for x in inputs)
    assert torch.autograd.gradcheck(value, inputs, atol=1e-7)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_bad_parameters_are_refused_by_name(bad):
    for name in ("amplitude", "length_scale", "period"):
        with pytest.raises(UserError, match=name.replace("_", " ")):
            Periodic(**{name: bad})
