"""The joint GP against dense matrices written from the formula of its kernel."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal

from fgpvae.data import Views
from fgpvae.errors import UserError
from fgpvae.gp.kernels import Periodic
from fgpvae.models import build
from fgpvae.models.gpvae import GP_ONLY, JOINT, PLAIN, expected_log_prior, product_features
from fgpvae.training.batches import FixedViews
from fgpvae.training.configs import RunConfig, TrainingConfig
from fgpvae.training.objectives import ObjectiveConfig
from fgpvae.training.trainer import Trainer
from tests.configs import generator, model_config


def ragged(P=5, Q=4, seed=0, ids=None):
    """Digits with different numbers of views at angles that are on no grid."""
    source = generator(seed)
    observed = torch.rand(P, Q, generator=source) < 0.7
    observed[:, 0] = True
    observed[0, -1] = False
    images = torch.rand(P, Q, 28, 28, generator=source) * observed[..., None, None]
    angles = 2 * math.pi * torch.rand(P, Q, dtype=torch.float64, generator=source)
    ids = torch.arange(P).flip(0) * 3 if ids is None else ids
    return Views(images, angles, observed, ids, torch.full((P,), 3))


def prepared(name, views, progress=1.0, **settings):
    torch.manual_seed(1)
    model = build(model_config(name=name, latents=3, local=0, digit_rank=2, **settings))
    model.prepare(lambda: views)
    with torch.no_grad():  # values that no symmetry makes special
        model.kernel.log_amplitude.fill_(0.3)
        model.kernel.log_length_scale.fill_(-0.2)
        model.log_alpha.fill_(-0.7)
    model.start_epoch(lambda: views, progress)
    return model


def dense_gram(d, w, sigma, r):
    """(d_i·d_j) σ² exp(-2 sin²((w_i - w_j)/2)/r²) for images with vectors [N, m], angles [N]."""
    half = 0.5 * (w[:, None] - w[None, :])
    return (d @ d.mT) * sigma**2 * torch.exp(-2 * torch.sin(half) ** 2 / r**2)


def dense_kernel(model, d, w):
    sigma, r, alpha = (p.double().exp() for p in model.kernel_parameters())
    return dense_gram(d.double(), w, sigma, r), alpha


def dense_kl(model, views):
    """-(E_q log N(Z | 0, K) + entropy of q) over all images, from the N x N matrix K."""
    observed = views.observed
    mu, var = (x[observed].double() for x in model.encode(views.images, views.angles, observed))
    rows, _ = model.rows(views.ids)
    d = model.digit_vectors(views.images, observed, rows)
    each = d[:, None].expand(-1, observed.shape[1], -1)[observed]
    gram, alpha = dense_kernel(model, each, views.angles[observed])
    K = gram + alpha * torch.eye(len(gram))
    inverse = torch.linalg.inv(K)
    total = 0
    for c in range(mu.shape[1]):
        total = total - 0.5 * (
            mu[:, c] @ inverse @ mu[:, c]
            + (inverse.diagonal() * var[:, c]).sum()
            + torch.logdet(K)
            + len(K) * math.log(2 * math.pi)
        )
    return -(total + 0.5 * (2 * math.pi * math.e * var).log().sum())


@settings(max_examples=30)
@given(
    r=st.floats(0.4, 3),
    sigma=st.floats(0.1, 3),
    alpha=st.floats(1e-3, 2),
    P=st.integers(1, 5),
    m=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_low_rank_evidence_is_the_dense_one(r, sigma, alpha, P, m, seed):
    source = np.random.default_rng(seed)
    counts = source.integers(1, 6, P)  # ragged
    digit = np.repeat(np.arange(P), counts)
    N, L = len(digit), 2
    d, w = source.normal(size=(P, m)), source.uniform(-7, 7, N)
    mu, var = source.normal(size=(N, L)), source.uniform(0.01, 2, (N, L))
    K = np.empty((N, N))
    for i in range(N):
        for j in range(N):
            angle = sigma**2 * math.exp(-2 * math.sin((w[i] - w[j]) / 2) ** 2 / r**2)
            K[i, j] = d[digit[i]] @ d[digit[j]] * angle + alpha * (i == j)
    inverse = np.linalg.inv(K)
    dense = sum(
        multivariate_normal(np.zeros(N), K).logpdf(mu[:, c])
        - 0.5 * np.trace(inverse @ np.diag(var[:, c]))
        for c in range(L)
    )
    phi = Periodic(sigma, r).features(torch.tensor(w))[:, None]  # [N, 1, H]
    v = product_features(torch.tensor(d)[digit], phi)[:, 0]
    value = expected_log_prior(
        v, torch.tensor(alpha, dtype=torch.float64), torch.tensor(mu), torch.tensor(var)
    )
    assert float(value.detach()) == pytest.approx(dense, rel=1e-7)


@pytest.mark.parametrize("name", ["gpvae", "gpvae-amortised"])
def test_batch_gradients_are_those_of_the_dense_evidence(name):
    views = ragged()
    model = prepared(name, views)
    wanted = [p for n, p in model.named_parameters() if not n.startswith("decoder")]
    dense = dense_kl(model, views)
    truth = torch.autograd.grad(dense, wanted)

    kl, parts = 0.0, [torch.zeros_like(p) for p in wanted]
    for batch in ([3, 0], [1], [4, 2]):
        part = model.terms(views[batch]).kl.sum()
        kl += float(part.detach())
        for total, g in zip(parts, torch.autograd.grad(part, wanted), strict=True):
            total += g
    assert kl == pytest.approx(float(dense.detach()), rel=1e-5)
    for got, expected in zip(parts, truth, strict=True):
        assert expected.abs().max() > 1e-3
        torch.testing.assert_close(
            got, expected, rtol=1e-3, atol=1e-4 * float(expected.abs().max())
        )


def test_expansion_is_of_first_order_and_its_coefficients_stand_still():
    views = ragged()
    model = prepared("gpvae", views)
    start = [p.detach().clone() for p in model.gp_parameters()]
    source = generator(3)
    direction = [torch.randn(p.shape, dtype=p.dtype, generator=source) for p in start]

    def error(step):
        with torch.no_grad():
            for p, p0, delta in zip(model.gp_parameters(), start, direction, strict=True):
                p.copy_(p0 + step * delta)
            return abs(float(model.terms(views).kl.sum() - dense_kl(model, views)))

    coarse, fine = error(0.08), error(0.04)
    assert coarse > 0.01
    assert coarse / fine == pytest.approx(4, rel=0.25)


def dense_prediction(model, d, w, mu, var, asked_d, asked_w):
    """Mean and variance [S, L] of z at new images, k_*K⁻¹μ and so on."""
    both = dense_kernel(model, torch.cat([d, asked_d]), torch.cat([w, asked_w]))
    gram, alpha = both[0].detach(), both[1].detach()
    N = len(d)
    gain = gram[N:, :N] @ torch.linalg.inv(gram[:N, :N] + alpha * torch.eye(N))
    prior = gram.diagonal()[N:] + alpha - (gain * gram[N:, :N]).sum(-1)
    return gain @ mu, prior[:, None] + gain.square() @ var


def images_of(views, vectors):
    return vectors[:, None].expand(-1, views.observed.shape[1], -1)[views.observed]


def test_prediction_for_training_digits_is_the_dense_posterior():
    views = ragged()
    model = prepared("gpvae", views)
    model.condition(lambda: views)
    observed, vectors = views.observed, model.vectors.detach()[model.rows(views.ids)[0]]
    mu, var = (
        x[observed].detach().double() for x in model.encode(views.images, views.angles, observed)
    )
    at = torch.tensor([[0.1, 2.0], [3.0, 5.5]], dtype=torch.float64)
    asked = vectors[[2, 0]].repeat_interleave(2, 0)
    mean, spread = dense_prediction(
        model, images_of(views, vectors), views.angles[observed], mu, var, asked, at.flatten()
    )
    part = views[[2, 0]]
    posterior = model.infer(part.images, part.angles, part.observed, part.ids)
    torch.testing.assert_close(posterior.mean(at).reshape(4, 3), mean, rtol=1e-5, atol=1e-6)
    found = posterior.variance(at).detach().reshape(4, 3)
    torch.testing.assert_close(found, spread, rtol=1e-5, atol=1e-6)
    source = generator()
    drawn = torch.stack([posterior.sample(at, source) for _ in range(1000)])
    drawn = drawn.reshape(-1, 4, 3)
    assert (drawn.mean(0) - mean).abs().max() < 5 * (spread.max() / 1000).sqrt()
    torch.testing.assert_close(drawn.var(0), spread, rtol=0.25, atol=0)


def test_new_digit_joins_the_training_set():
    views, new = ragged(), ragged(2, 4, seed=9, ids=torch.tensor([100, 200]))
    model = prepared("gpvae-amortised", views)
    model.condition(lambda: views)
    at = torch.tensor([[0.1, 2.0, 4.0]] * 2, dtype=torch.float64)
    posterior = model.infer(new.images, new.angles, new.observed, new.ids)
    codes, variance = posterior.mean(at), posterior.variance(at)
    for p in range(2):
        everything = [views, new[p]]
        d, w, mu, var = (
            torch.cat(x).detach()
            for x in zip(*((encoded(model, part)) for part in everything), strict=True)
        )
        own = model.represent(new.images[p : p + 1], new.observed[p : p + 1]).detach()
        mean, spread = dense_prediction(model, d, w, mu, var, own.expand(3, -1), at[p])
        torch.testing.assert_close(codes[p], mean, rtol=1e-5, atol=1e-6)
        torch.testing.assert_close(variance[p].detach(), spread, rtol=1e-5, atol=1e-6)


def encoded(model, views):
    observed = views.observed
    mu, var = model.encode(views.images, views.angles, observed)
    d = images_of(views, model.represent(views.images, observed))
    return d, views.angles[observed], mu[observed].double(), var[observed].double()


def test_views_of_a_training_digit_count_once():
    views = ragged()
    model = prepared("gpvae-amortised", views)
    model.condition(lambda: views)
    d, w, mu, var = (x.detach() for x in encoded(model, views))
    part, at = views[1], torch.tensor([[0.1, 2.0, 4.0]], dtype=torch.float64)
    own = model.represent(part.images, part.observed).detach()
    mean, spread = dense_prediction(model, d, w, mu, var, own.expand(3, -1), at[0])
    known = model.infer(part.images, part.angles, part.observed, part.ids)
    torch.testing.assert_close(known.mean(at)[0], mean, rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(known.variance(at)[0].detach(), spread, rtol=1e-5, atol=1e-6)
    new = model.infer(part.images, part.angles, part.observed)
    assert not torch.allclose(new.mean(at)[0], mean, rtol=1e-3, atol=1e-4)


def test_each_phase_moves_what_it_should():
    views = ragged(6)
    config = RunConfig(
        model=model_config(name="gpvae", latents=3, local=0, digit_rank=2, phases=(1 / 3, 2 / 3)),
        objective=ObjectiveConfig("elbo"),
        training=TrainingConfig(epochs=3, batch=3),
    )
    trainer = Trainer(config, FixedViews(views, 3, 0))
    moved = []
    for epoch in range(3):
        before = {n: p.detach().clone() for n, p in trainer.model.named_parameters()}
        trainer.advance()
        trainer.advance()
        assert int(trainer.model.phase) == (PLAIN, GP_ONLY, JOINT)[epoch]
        after = trainer.model.named_parameters()
        moved.append({n for n, p in after if not torch.equal(p, before[n])})
    gp = {"vectors", "log_alpha", "kernel.log_amplitude", "kernel.log_length_scale"}
    everything = set(before)
    assert moved == [everything - gp, gp, everything]


def test_training_on_anything_but_the_prepared_views_is_refused():
    views = ragged()
    model = prepared("gpvae", views)
    with pytest.raises(UserError, match="context dropout"):
        model.terms(views, torch.zeros_like(views.observed))
    turned = Views(views.images, views.angles + 0.1, views.observed, views.ids, views.labels)
    with pytest.raises(UserError, match="same angles"):
        model.terms(turned)
    with pytest.raises(UserError, match="prepared for"):
        model.terms(ragged(ids=torch.arange(50, 55)))
