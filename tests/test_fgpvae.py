import math
from dataclasses import replace

import pytest
import torch
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from fgpvae.data import Views
from fgpvae.errors import UserError
from fgpvae.gp import posterior
from fgpvae.gp.kernels import Periodic
from fgpvae.gp.posterior import DensePosterior, FourierPosterior, global_posterior
from fgpvae.models import FGPVAE, FGPVAEConfig
from fgpvae.networks.standard import NetworkConfig
from tests.configs import generator

SMALL = NetworkConfig("dense", widths=(12,), shape=(1, 8, 8))
CONFIG = FGPVAEConfig(latents=5, local=3, amplitude=1.4, length_scale=0.9, network=SMALL)
VARIANTS = {
    "plain": CONFIG,
    "mean function": replace(CONFIG, mean_function=True, amplitude=0.3),
    "learned kernel": replace(CONFIG, learn_kernel=True, amplitude=0.7),
    "period π": replace(CONFIG, period=math.pi, amplitude=1.0),
    "all local": replace(CONFIG, local=5),
    "all global": replace(CONFIG, local=0),
    "gated": replace(CONFIG, network=replace(SMALL, gated=True)),
    "paper": FGPVAEConfig(),
}
variants = pytest.mark.parametrize("config", VARIANTS.values(), ids=VARIANTS.keys())


def build(config=CONFIG, spread=2.0):
    """A model whose variances differ from view to view and channel to channel."""
    torch.manual_seed(0)
    model = FGPVAE(config)
    last = [x for x in model.encoder.modules() if isinstance(x, torch.nn.Linear)][-1]
    last.weight.data *= spread
    last.bias.data[config.latents :] -= 1
    return model


def views(config=CONFIG, P=3, Q=5, share=1.0, seed=0):
    g = generator(seed)
    channels, height, width = config.network.shape
    side = (height, width) if channels == 1 else (channels, height, width)
    observed = torch.rand(P, Q, generator=g) <= share
    observed[:, 0] = True
    return Views(
        images=torch.rand(P, Q, *side, generator=g),
        angles=2 * math.pi * torch.rand(P, Q, dtype=torch.float64, generator=g),
        observed=observed,
        ids=torch.arange(P),
        labels=torch.zeros(P, dtype=torch.int64),
    )


def score(model, *args):
    torch.manual_seed(1)
    return model.terms(*args)


def naive_kl(model, data, context):
    """KL(q || p) [P] of the Gaussians themselves, by torch's formulas, one channel at a time."""
    mu, var = (x.double() for x in model.encode(data.images, data.angles, context))
    j, kernel = model.config.local, model.kernel
    totals = []
    for p in range(len(data)):
        seen = context[p]
        w, total = data.angles[p, seen], torch.zeros(())
        gram = kernel.gram(w, w)
        prior_mean = torch.zeros(len(w), j) if not model.mean_function else model.mean_function(w)
        for c in range(model.config.latents):
            m, s = mu[p, seen, c], var[p, seen, c]
            if c < j:
                gain = gram @ torch.linalg.inv(gram + torch.diag(s))
                prior = MultivariateNormal(prior_mean[:, c].double(), gram)
                mean = prior.mean + gain @ (m - prior.mean)
                covariance = gram - gain @ gram
                q = MultivariateNormal(mean, 0.5 * (covariance + covariance.mT))
            else:
                prior = Normal(torch.zeros(()).double(), 1.0)
                precision = 1 + (1 / s).sum()
                q = Normal((m / s).sum() / precision, precision.rsqrt())
            total = total + kl_divergence(q, prior)
        totals.append(total)
    return torch.stack(totals)


@variants
def test_kl_is_that_of_the_gaussians(config):
    model, data = build(config), views(config, Q=6, share=0.8)
    part = data.observed & (torch.rand(3, 6, generator=generator(5)) < 0.5)
    part[:, 0] = True
    assert (part.sum(-1) < data.observed.sum(-1)).any()
    for context in (data.observed, part):
        terms = score(model, data, context)
        expected = naive_kl(model, data, context)
        torch.testing.assert_close(terms.kl, expected.double(), atol=1e-6, rtol=1e-8)
        # while all observed views are reconstructed
        assert torch.equal(terms.pixels, data.observed.sum(-1) * data.images[0, 0].numel())


@pytest.mark.parametrize("name", ["plain", "mean function", "learned kernel", "paper"])
def test_gradients_of_the_kl_are_those_of_the_gaussians(name):
    config = VARIANTS[name]
    model, data = build(config), views(config, share=0.7)
    model.double()
    mu, var = model.encoder(data.images.reshape(-1, *config.network.shape).double())
    mu, var = (x.detach().view(3, 5, -1).requires_grad_() for x in (mu, var))
    model.encode = lambda images, angles, observed: (mu, var)
    model.decode = lambda z: torch.zeros(*z.shape[:-1], *data.images.shape[2:])
    parameters = [p for p in (*model.kernel.parameters(),) if p.requires_grad]
    parameters += list(model.mean_function.parameters()) if model.mean_function else []
    inputs = (mu, var, *parameters)
    ours = torch.autograd.grad(score(model, data).kl.sum(), inputs)
    theirs = torch.autograd.grad(naive_kl(model, data, data.observed).sum(), inputs)
    for a, b in zip(ours, theirs, strict=True):
        assert float(b.abs().max()) > 0
        torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-6)


def test_the_error_is_summed_over_the_observed_views():
    model, data = build(), views(share=0.6)
    z = torch.randn(3, 5, 5, generator=generator())
    error, pixels = model.squared_error(z, data)
    for p in range(3):
        expected = torch.zeros(())
        for q in range(5):
            if data.observed[p, q]:
                image = model.decode(z[p, q][None])[0]
                expected = expected + (image - data.images[p, q]).square().sum()
        torch.testing.assert_close(error[p], expected, rtol=1e-5, atol=0)
        assert int(pixels[p]) == 64 * int(data.observed[p].sum())


def test_codes_are_drawn_from_the_posterior():
    """The mean and the variance of the sampled codes, over many copies of one digit."""
    model = build()
    one = views(P=1, Q=4)
    count = 4000
    many = one[torch.zeros(count, dtype=torch.int64)]
    drawn = []
    model.squared_error = lambda z, data: (drawn.append(z), (z.sum((1, 2)), data.observed.sum(-1)))[
        1
    ]
    score(model, many)
    z = drawn[0].double()  # [count, Q, L]
    q = model.infer(one.images, one.angles, one.observed)
    mean, var = q.mean(one.angles)[0], q.variance(one.angles)[0]
    assert ((z.mean(0) - mean).abs() < 5 * (var / count).sqrt() + 1e-6).all()
    torch.testing.assert_close(z.var(0), var, rtol=5 * (2 / count) ** 0.5, atol=1e-6)
    assert torch.equal(z[:, 0, 3:], z[:, 3, 3:])  # one style a digit


@pytest.mark.parametrize("name", ["plain", "mean function"])
def test_the_posterior_joins_local_and_global_channels(name):
    model, data = build(VARIANTS[name]), views(share=0.7)
    q = model.infer(data.images, data.angles, data.observed)
    mu, var = (x.detach().double() for x in model.encode(data.images, data.angles, data.observed))
    at = data.angles + 0.5
    shift = model.mean_function if model.mean_function else lambda w: torch.zeros(*w.shape, 3)
    local = DensePosterior(
        model.kernel, data.angles, mu[..., :3] - shift(data.angles), var[..., :3], data.observed
    )
    style, _, style_evidence = global_posterior(mu[..., 3:], var[..., 3:], data.observed)
    mean = q.mean(at)
    torch.testing.assert_close(mean[..., :3], local.at(at)[0] + shift(at), atol=1e-10, rtol=0)
    torch.testing.assert_close(mean[..., 3:], style[:, None].expand(-1, 5, -1))
    expected = local.log_evidence.sum(-1) + style_evidence.sum(-1)
    torch.testing.assert_close(q.log_evidence(), expected, atol=1e-9, rtol=0)


def test_many_views_take_the_fourier_path_and_say_the_same(monkeypatch):
    config = replace(CONFIG, mean_function=True)
    model, data = build(config), views(P=2, Q=80, share=0.9)
    q = model.infer(data.images, data.angles, data.observed)
    assert isinstance(q.local, FourierPosterior)
    kl, mean, evidence = score(model, data).kl, q.mean(data.angles), q.log_evidence()
    monkeypatch.setattr("fgpvae.models.fgpvae.local_posterior", posterior.DensePosterior)
    q = model.infer(data.images, data.angles, data.observed)
    assert isinstance(q.local, DensePosterior)
    torch.testing.assert_close(score(model, data).kl, kl, atol=1e-8, rtol=1e-8)
    torch.testing.assert_close(q.mean(data.angles), mean, atol=1e-8, rtol=0)
    torch.testing.assert_close(q.log_evidence(), evidence, atol=1e-8, rtol=1e-8)


def test_the_prior_of_the_mean_function_is_a_gp_with_amplitude_one():
    model = build(VARIANTS["mean function"])
    function = model.mean_function
    features = len(function.weights)
    function.weights = torch.nn.Parameter(torch.eye(features))
    w = 2 * math.pi * torch.rand(30, dtype=torch.float64, generator=generator())
    phi = function(w).detach()  # [30, features]
    expected = Periodic(1.0, 0.9).gram(w, w)
    torch.testing.assert_close(phi @ phi.mT, expected, atol=1e-10, rtol=0)
    torch.testing.assert_close(function(w + 2 * math.pi).detach(), phi, atol=1e-10, rtol=0)


def test_the_orientation_is_the_evidence_of_one_view_at_each_angle():
    model, data = build(VARIANTS["mean function"]), views(P=2, Q=1)
    grid = 2 * math.pi * torch.arange(16, dtype=torch.float64) / 16
    ours = model.orientation(data.images[:, 0], grid)
    evidence = torch.stack(
        [model.infer(data.images, w.expand(2, 1), data.observed).log_evidence() for w in grid],
        -1,
    )
    torch.testing.assert_close(ours, evidence.softmax(-1), atol=1e-9, rtol=0)
    torch.testing.assert_close(ours.sum(-1), torch.ones(2).double())
    assert model.tells_angle
    assert not build().tells_angle
    with pytest.raises(UserError, match="cannot tell the angle"):
        build().orientation(data.images[:, 0], grid)


@pytest.mark.parametrize("Q", [1, 500])
@pytest.mark.parametrize("length_scale", [0.01, 100.0])
@pytest.mark.parametrize("bias", [-1e9, 1e9])
def test_extreme_encoders_and_kernels_train_and_generate(Q, length_scale, bias):
    """Variances at their floor and at their ceiling, one view and hundreds, some at one angle."""
    model = build(replace(CONFIG, length_scale=length_scale))
    last = [x for x in model.encoder.modules() if isinstance(x, torch.nn.Linear)][-1]
    last.bias.data[5:] = bias
    data = views(P=2, Q=Q)
    data.angles[0] = 0.5
    terms = score(model, data)
    assert terms.kl.isfinite().all()
    assert terms.squared_error.isfinite().all()
    (terms.kl.mean() + terms.squared_error.mean()).backward()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.requires_grad)
    at = torch.linspace(0, 6, 7).expand(2, -1)
    for sample in (False, True):
        out = model.generate(data.images, data.angles, at, sample=sample, generator=generator())
        assert out.isfinite().all()
