import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
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


def test_gradients():
    generator = torch.Generator().manual_seed(0)
    args = [torch.rand(3, dtype=torch.float64, generator=generator) + 0.5 for _ in range(4)]
    args = [x.requires_grad_() for x in args]
    assert torch.autograd.gradcheck(gaussian.log_density, args[:3])
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
