import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from torch.distributions import Normal, kl_divergence

from fgpvae import gaussian

means = st.floats(-5, 5)
variances = st.floats(0.01, 10)


def tensors(*values):
    return tuple(torch.tensor(value, dtype=torch.float64) for value in values)


def normal(mean, var):
    return Normal(mean, var.sqrt())


@given(means, means, variances)
@settings(max_examples=50, deadline=None)
def test_log_density(x, mean, var):
    x, mean, var = tensors(x, mean, var)
    torch.testing.assert_close(
        gaussian.log_density(x, mean, var), normal(mean, var).log_prob(x), rtol=1e-12, atol=1e-12
    )


@given(means, variances, means, variances)
@settings(max_examples=50, deadline=None)
def test_kl(mean_q, var_q, mean, var):
    mean_q, var_q, mean, var = tensors(mean_q, var_q, mean, var)
    expected = kl_divergence(normal(mean_q, var_q), normal(mean, var))
    torch.testing.assert_close(
        gaussian.kl(mean_q, var_q, mean, var), expected, rtol=1e-12, atol=1e-12
    )


@given(means, variances, means, variances)
@settings(max_examples=20, deadline=None)
def test_expected_log_density_is_the_integral(mean_q, var_q, mean, var):
    q, p = normal(*tensors(mean_q, var_q)), normal(*tensors(mean, var))

    def integrand(x):
        x = torch.tensor(x, dtype=torch.float64)
        return float(q.log_prob(x).exp() * p.log_prob(x))

    spread = 10 * var_q**0.5
    integral, _ = quad(integrand, mean_q - spread, mean_q + spread, points=[mean_q])
    ours = gaussian.expected_log_density(*tensors(mean_q, var_q, mean, var))
    assert float(ours) == pytest.approx(integral, rel=1e-6, abs=1e-6)


@given(means, variances, means, variances)
@settings(max_examples=20, deadline=None)
def test_kl_is_minus_entropy_minus_expected_log_density(mean_q, var_q, mean, var):
    args = tensors(mean_q, var_q, mean, var)
    entropy = normal(*args[:2]).entropy()
    torch.testing.assert_close(
        gaussian.kl(*args), -entropy - gaussian.expected_log_density(*args), rtol=1e-10, atol=1e-10
    )


def test_gradients():
    generator = torch.Generator().manual_seed(0)
    args = [torch.rand(3, dtype=torch.float64, generator=generator) + 0.5 for _ in range(4)]
    args = [x.requires_grad_() for x in args]
    assert torch.autograd.gradcheck(gaussian.log_density, args[:3])
    assert torch.autograd.gradcheck(gaussian.expected_log_density, args)
    assert torch.autograd.gradcheck(gaussian.kl, args)


def test_samples_have_the_moments_and_follow_the_generator():
    mean, var = torch.tensor([1.0, -2.0]).double(), torch.tensor([0.25, 4.0]).double()
    many = gaussian.sample(mean.expand(40_000, 2), var, torch.Generator().manual_seed(0))
    assert many.dtype == torch.float64
    np.testing.assert_allclose(many.mean(0), mean, atol=5 * (4.0 / 40_000) ** 0.5)
    np.testing.assert_allclose(many.var(0), var, rtol=5 * (2 / 40_000) ** 0.5)
    again = gaussian.sample(mean.expand(40_000, 2), var, torch.Generator().manual_seed(0))
    assert torch.equal(many, again)


def test_sample_is_reparametrised():
    mean = torch.tensor([1.0], dtype=torch.float64, requires_grad=True)
    var = torch.tensor([4.0], dtype=torch.float64, requires_grad=True)
    drawn = gaussian.sample(mean, var, torch.Generator().manual_seed(3))
    drawn.sum().backward()
    noise = (drawn.detach() - 1) / 2
    assert float(mean.grad) == 1
    torch.testing.assert_close(var.grad, noise / 4)
