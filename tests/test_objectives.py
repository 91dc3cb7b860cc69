import math

import pytest
import torch
from torch.distributions import Normal

from fgpvae.errors import UserError
from fgpvae.models import Terms
from fgpvae.training.objectives import OBJECTIVES, ObjectiveConfig, build
from tests.configs import generator

K = 784


def terms(P=4, Q=11, seed=0, error=0.05):
    g = generator(seed)
    squared = error * K * Q * (0.5 + torch.rand(P, generator=g))
    kl = 50 * torch.rand(P, dtype=torch.float64, generator=g)
    return Terms(squared, torch.full((P,), Q * K), kl)


def doubled(t):
    return Terms(*(torch.cat([x, x]) for x in (t.squared_error, t.pixels, t.kl)))


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_loss_is_a_mean_over_digits(name):
    losses, gradients = [], []
    for batch in (terms(), doubled(terms())):
        leaves = [x.clone().requires_grad_() for x in (batch.squared_error, batch.kl)]
        loss = build(ObjectiveConfig(name)).eval()(Terms(leaves[0], batch.pixels, leaves[1]))
        loss.backward()
        losses.append(loss.detach())
        gradients.append([x.grad for x in leaves])
    torch.testing.assert_close(*losses, rtol=1e-6, atol=0)
    for once, twice in zip(*gradients, strict=True):
        torch.testing.assert_close(once, 2 * twice[:4], rtol=1e-6, atol=0)


def test_the_elbo_is_the_likelihood_of_every_pixel_minus_the_kl():
    y = torch.rand(3, 5, 20, generator=generator())
    mean = torch.rand(3, 5, 20, generator=generator(1))
    kl = torch.tensor([1.0, 2.0, 3.0])
    batch = Terms((y - mean).square().sum((1, 2)), torch.full((3,), 100), kl)
    for noise in (0.004, 0.01, 1.0):
        likelihood = Normal(mean, noise**0.5).log_prob(y).sum((1, 2))
        loss = build(ObjectiveConfig("elbo", pixel_variance=noise))(batch)
        torch.testing.assert_close(loss, -(likelihood - kl).mean(), rtol=1e-5, atol=0)


def test_the_noise_that_is_learned_is_the_mean_squared_error():
    objective = build(ObjectiveConfig("elbo", pixel_variance=0.5, learn_pixel_variance=True))
    batch = terms(error=0.03)
    optimizer = torch.optim.Adam(objective.parameters(), lr=0.1)
    for _ in range(300):
        optimizer.zero_grad()
        objective(batch).backward()
        optimizer.step()
    mse = float(batch.squared_error.sum() / batch.pixels.sum())
    assert float(objective.log_pixel_variance.detach().exp()) == pytest.approx(mse, rel=1e-3)
    assert objective.multiplier() == pytest.approx(0.5 / mse, rel=1e-3)


@pytest.mark.parametrize(("noise", "Q"), [(0.004, 1), (0.04, 11)])
def test_geco_is_the_elbo_when_the_multiplier_says_so(noise, Q):
    """λ = QK / (2σ²): the same loss up to a constant, hence the same gradient."""
    multiplier = Q * K / (2 * noise)
    geco = build(ObjectiveConfig("geco", multiplier=multiplier, multiplier_max=1e9)).eval()
    elbo = build(ObjectiveConfig("elbo", pixel_variance=noise))
    differences = []
    for seed in range(2):
        batch = terms(Q=Q, seed=seed)
        gradients = []
        for objective in (geco, elbo):
            leaves = [x.clone().requires_grad_() for x in (batch.squared_error, batch.kl)]
            loss = objective(Terms(leaves[0], batch.pixels, leaves[1]))
            gradients.append(torch.autograd.grad(loss, leaves))
        for a, b in zip(*gradients, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-5, atol=0)
        differences.append(float(geco(batch) - elbo(batch)))
    assert differences[0] == pytest.approx(differences[1], rel=1e-4)


def test_the_multiplier_is_the_product_of_exponentials_of_the_moving_average():
    config = ObjectiveConfig("geco", kappa_squared=0.02, multiplier=1e3, decay=0.9)
    geco, expected, average = build(config), 1e3, None
    for seed in range(10):
        batch = terms(seed=seed, error=0.05)
        geco(batch)
        constraint = float(batch.squared_error.double().sum() / batch.pixels.sum()) - 0.02
        average = constraint if average is None else 0.9 * average + 0.1 * constraint
        expected *= math.exp(average)
        assert geco.multiplier() == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("error", "bound"), [(0.9, 2e3), (0.0, 5e2)])
def test_the_multiplier_is_bounded(error, bound):
    config = ObjectiveConfig(
        "geco", kappa_squared=0.5, multiplier=1e3, multiplier_min=5e2, multiplier_max=2e3
    )
    geco = build(config)
    for _ in range(100):
        loss = geco(terms(error=error))
        assert loss.isfinite()
        assert 5e2 <= geco.multiplier() <= 2e3
    assert geco.multiplier() == bound


@pytest.mark.parametrize("name", OBJECTIVES)
def test_ragged_digits_weigh_by_their_pixels(name):
    """A digit with more views has more pixels; the error of a pixel counts the same."""
    squared = torch.tensor([10.0, 40.0], requires_grad=True)
    batch = Terms(squared, torch.tensor([1 * K, 4 * K]), torch.zeros(2))
    build(ObjectiveConfig(name)).eval()(batch).backward()
    assert float(squared.grad[0]) == pytest.approx(float(squared.grad[1]))


def test_the_first_multiplier_lies_between_its_bounds():
    for wrong in (1e7, 0.1):
        with pytest.raises(UserError, match="between the smallest and largest"):
            ObjectiveConfig(multiplier=wrong)
