"""Sparse Gaussian processes against dense matrices written from the formula of the kernel."""

import math

import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from fgpvae import data
from fgpvae.gp import sparse
from fgpvae.gp.sparse import InducingPosterior
from fgpvae.models import build
from tests.configs import model_config
from tests.test_gpvae import dense_gram, generator, ragged

N, L = 18, 2


def inputs(count=N, seed=0):
    """Digit vectors [n, 3] and angles [n]."""
    source = generator(seed)
    d = torch.randn(count, 3, dtype=torch.float64, generator=source)
    return d, 2 * math.pi * torch.rand(count, dtype=torch.float64, generator=source)


def codes(seed=1):
    source = generator(seed)
    mu = torch.randn(N, L, dtype=torch.float64, generator=source)
    return mu, 0.05 + torch.rand(N, L, dtype=torch.float64, generator=source)


def gram(a, b, sigma=1.3, r=0.8):
    """The kernel between inputs (d, w), from the dense formula over both."""
    d, w = torch.cat([a[0], b[0]]), torch.cat([a[1], b[1]])
    return dense_gram(d, w, sigma, r)[: len(a[1]), len(a[1]) :]


def through(inducing, x, mu, var, times=1.0):
    """q(u) of inducing inputs given codes at x, and features of x."""
    C = sparse.factor(gram(inducing, inducing))
    phi = sparse.features(gram(x, inducing), C)
    return InducingPosterior.given(*sparse.information(phi, mu, times / var)), phi, C


def bound(inducing, x, mu, var):
    """Hensman's bound on the evidence of the codes: Σ E_q log N(μ | z, s²) - KL(q(u) || p(u))."""
    q, phi, _ = through(inducing, x, mu, var)
    mean, spread = q.at(phi, gram(x, x).diagonal())
    likelihood = Normal(mean, var.sqrt()).log_prob(mu) - 0.5 * spread / var
    return float(likelihood.sum() - q.kl())


def test_the_bound_rises_to_the_evidence_of_the_exact_gp_with_the_inducing_points():
    x, (mu, var) = inputs(), codes()
    K = gram(x, x).numpy()
    exact = sum(
        multivariate_normal(np.zeros(N), K + np.diag(var[:, c].numpy())).logpdf(mu[:, c].numpy())
        for c in range(L)
    )
    bounds = [bound((x[0][:M], x[1][:M]), x, mu, var) for M in (1, 4, 8, 12, N)]
    assert bounds == sorted(bounds)
    assert bounds[-2] < exact - 0.1
    assert bounds[-1] == pytest.approx(exact, abs=1e-3)
    assert bounds[-1] <= exact


def test_with_all_inputs_as_inducing_points_the_posterior_is_the_exact_one():
    x, new, (mu, var) = inputs(), inputs(5, seed=9), codes()
    q, _, C = through(x, x, mu, var)
    mean, variance = q.at(sparse.features(gram(new, x), C), gram(new, new).diagonal())
    for c in range(L):
        known = torch.linalg.solve(gram(x, x) + torch.diag(var[:, c]), gram(x, new))  # [N, 5]
        torch.testing.assert_close(mean[:, c], known.mT @ mu[:, c], rtol=1e-4, atol=1e-4)
        left = (gram(new, new) - gram(new, x) @ known).diagonal()
        torch.testing.assert_close(variance[:, c], left, rtol=1e-4, atol=1e-4)


def test_posterior_of_a_batch_is_that_of_the_published_equations():
    x, inducing, (mu, var) = inputs(), inputs(6, seed=5), codes()
    q, phi, C = through(inducing, x, mu, var, times=7.0)
    K_mm, K_nm = C @ C.mT, gram(x, inducing)
    for c in range(L):
        S = torch.diag(7.0 / var[:, c])
        inverse = torch.linalg.inv(K_mm + K_nm.mT @ S @ K_nm)
        mean = K_nm @ inverse @ K_nm.mT @ S @ mu[:, c]
        A = K_mm @ inverse @ K_mm
        torch.testing.assert_close(phi @ q.mean[c], mean)
        covariance = C @ q.root[c] @ q.root[c].mT @ C.mT
        torch.testing.assert_close(covariance, A)


def test_kl_of_inducing_values_is_that_of_torch():
    x, inducing, (mu, var) = inputs(), inputs(6, seed=5), codes()
    q, _, _ = through(inducing, x, mu, var)
    prior = MultivariateNormal(torch.zeros(6).double(), torch.eye(6).double())
    each = [MultivariateNormal(q.mean[c], q.root[c] @ q.root[c].mT) for c in range(L)]
    torch.testing.assert_close(q.kl(), sum(kl_divergence(one, prior) for one in each))


def test_gradients_are_those_of_finite_differences():
    (d, w), (mu, var) = inputs(), codes()
    z_d, z_w = inputs(4, seed=5)

    def scores(*given):
        d, w, z_d, z_w, mu, var = given
        q, phi, _ = through((z_d, z_w), (d, w), mu, var, times=2.0)
        mean, spread = q.at(phi, gram((d, w), (d, w)).diagonal())
        return q.kl(), mean, spread

    given = [value.clone().requires_grad_() for value in (d, w, z_d, z_w, mu, var)]
    assert torch.autograd.gradcheck(scores, given, fast_mode=True)


def prepared(name, views, **settings):
    torch.manual_seed(1)
    sizes = {"latents": 3, "digit_rank": 2, "inducing": 5}
    model = build(model_config(name=name, **sizes, **settings))
    model.prepare(lambda: views)
    model.condition(lambda: views)
    return model


def test_half_of_a_doubled_training_set_says_what_all_of_it_says():
    half = ragged()
    both = data.Views(
        *(torch.cat([x, x]) for x in (half.images, half.angles, half.observed)),
        torch.arange(10),
        half.labels.repeat(2),
    )
    model = prepared("svgpvae", both)
    with torch.no_grad():
        model.vectors[5:] = model.vectors[:5]
    every, part = (model.terms(v, generator=generator()) for v in (both, both[:5]))
    torch.testing.assert_close(every.kl[:5], part.kl)


def test_views_of_a_training_digit_count_once_and_those_of_a_new_one_are_added():
    views = ragged()
    model = prepared("svgpvae-amortised", views)
    at = torch.rand(5, 3, dtype=torch.float64, generator=generator(3))
    images = views.images
    same = model.infer(images, views.angles, views.observed, views.ids)
    q = InducingPosterior.given(*model.training_information())
    mean, var = q.at(*model.features(model.known_vectors, at.flip(0)))  # ids descend
    torch.testing.assert_close(same.mean(at), mean.flip(0), rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(same.variance(at), var.flip(0), rtol=1e-4, atol=1e-5)
    weights = dict(model.named_parameters())

    def trained_on(count):
        """The same weights with another memory."""
        other = prepared("svgpvae-amortised", views[:count])
        other.load_state_dict({**other.state_dict(), **weights})
        other.condition(lambda: views[:count])
        return other

    three, four = trained_on(3), trained_on(4)
    new = three.infer(images[3:4], views.angles[3:4], views.observed[3:4])
    known = four.infer(images[3:4], views.angles[3:4], views.observed[3:4], views.ids[3:4])
    torch.testing.assert_close(new.mean(at[:1]), known.mean(at[:1]), rtol=1e-4, atol=1e-5)
    assert not torch.allclose(
        new.mean(at[:1]),
        three.infer(images[3:4], views.angles[3:4], torch.zeros_like(views.observed[3:4])).mean(
            at[:1]
        ),
    )
