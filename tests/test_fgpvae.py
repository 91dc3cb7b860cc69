import math
from dataclasses import replace

import pytest
import torch
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from fgpvae import posterior
from fgpvae.data import Views
from fgpvae.errors import UserError
from fgpvae.kernels import Periodic
from fgpvae.models import FGPVAE, FGPVAEConfig
from fgpvae.networks import NetworkConfig
from fgpvae.posterior import DensePosterior, FourierPosterior, global_posterior

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


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


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


# The evidence lower bound


@variants
@pytest.mark.parametrize("share", [1.0, 0.6])
def test_kl_is_that_of_the_gaussians(config, share):
    model, data = build(config), views(config, share=share)
    kl = score(model, data).kl
    expected = naive_kl(model, data, data.observed)
    torch.testing.assert_close(kl, expected.double(), atol=1e-6, rtol=1e-8)
    assert (kl > 0).all()


@variants
def test_kl_of_a_context_smaller_than_the_observed_views(config):
    model, data = build(config), views(config, Q=6, share=0.8)
    context = data.observed & (torch.rand(3, 6, generator=generator(5)) < 0.5)
    context[:, 0] = True
    assert (context.sum(-1) < data.observed.sum(-1)).any()
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


def test_a_context_may_not_go_beyond_what_is_observed():
    model, data = build(), views(share=0.5)
    everything = torch.ones_like(data.observed)
    assert torch.equal(score(model, data, everything).kl, score(model, data).kl)


def test_a_digit_without_context_costs_nothing_and_is_drawn_from_the_prior():
    model, data = build(), views()
    context = data.observed.clone()
    context[1] = False
    terms = score(model, data, context)
    assert abs(float(terms.kl[1].detach())) < 1e-12
    assert terms.squared_error.isfinite().all()


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


@variants
def test_every_learnable_parameter_gets_a_finite_gradient(config):
    model, data = build(config), views(config, share=0.7)
    terms = score(model, data)
    (terms.kl.sum() + terms.squared_error.sum() - model.log_prior()).backward()
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            assert parameter.grad is not None, name
            assert parameter.grad.isfinite().all(), name
            assert parameter.grad.abs().max() > 0, name


# Masks, batches


def with_junk(data, junk):
    images = torch.where(data.observed[..., None, None], data.images, junk)
    return replace(data, images=images, angles=data.angles.clone())


@pytest.mark.parametrize("name", ["plain", "mean function"])
@pytest.mark.parametrize("junk", [7.0, math.nan, math.inf])
def test_views_that_are_not_observed_have_no_influence(name, junk):
    model, data = build(VARIANTS[name]), views(share=0.6)
    results = []
    for batch in (data, with_junk(data, junk)):
        model.zero_grad()
        terms = score(model, batch)
        (terms.kl.sum() + terms.squared_error.sum()).backward()
        gradient = torch.cat([p.grad.flatten() for p in model.parameters() if p.requires_grad])
        results.append((terms.kl, terms.squared_error, gradient))
    for ours, theirs in zip(*results, strict=True):
        assert ours.isfinite().all()
        torch.testing.assert_close(ours, theirs, atol=1e-10, rtol=1e-6)


@pytest.mark.parametrize("name", ["plain", "mean function"])
def test_a_batch_equals_its_singles(name):
    model, data = build(VARIANTS[name]), views(P=4, share=0.7)
    kl = score(model, data).kl
    q = model.infer(data.images, data.angles, data.observed)
    mean = q.mean(data.angles)
    for p in range(4):
        one = data[p]
        torch.testing.assert_close(score(model, one).kl[0], kl[p], atol=1e-5, rtol=1e-5)
        alone = model.infer(one.images, one.angles, one.observed)
        torch.testing.assert_close(alone.mean(one.angles)[0], mean[p], atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(
            alone.log_evidence()[0], q.log_evidence()[p], atol=1e-4, rtol=1e-5
        )


def test_the_order_of_the_views_does_not_matter():
    model, data = build(), views(share=0.7)
    order = torch.randperm(5, generator=generator())
    at = torch.tensor([[0.3, 4.0]]).double().expand(3, -1)
    ours = model.generate(data.images, data.angles, at, data.observed)
    theirs = model.generate(
        data.images[:, order], data.angles[:, order], at, data.observed[:, order]
    )
    torch.testing.assert_close(ours, theirs, atol=1e-5, rtol=1e-5)


# Posterior of all channels


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


@pytest.mark.parametrize("name", ["plain", "mean function"])
def test_a_sample_is_smooth_in_the_angle_with_one_style(name):
    model, data = build(VARIANTS[name]), views(share=0.7)
    q = model.infer(data.images, data.angles, data.observed)
    jumps = []
    for count in (100, 1000):
        at = torch.linspace(0, 2 * math.pi, count + 1).double().expand(3, -1)
        z = q.sample(at, generator())
        assert torch.equal(z[:, :1, 3:].expand(-1, count + 1, -1), z[..., 3:])
        torch.testing.assert_close(z[:, 0], z[:, -1], atol=1e-5, rtol=0)
        jumps.append(float(z.detach().diff(dim=1).abs().max()))
    assert jumps[1] < 0.15 * jumps[0]
    assert not torch.allclose(q.sample(at, generator(1)), z)


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


# The mean function and the orientation


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


def test_the_log_prior_is_that_of_standard_normal_weights():
    model = build(VARIANTS["mean function"])
    weights = model.mean_function.weights.detach()
    constant = 0.5 * math.log(2 * math.pi) * weights.numel()
    expected = Normal(0.0, 1.0).log_prob(weights).sum() + constant
    torch.testing.assert_close(model.log_prior().detach(), expected)
    assert float(build().log_prior()) == 0


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


# Numbers at the edge


@pytest.mark.parametrize("Q", [1, 500])
@pytest.mark.parametrize("length_scale", [0.01, 1.0, 100.0])
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


def test_nan_pixels_are_named_never_computed_with():
    model, data = build(), views()
    images = data.images.clone()
    images[1, 2, 3, 4] = math.nan
    with pytest.raises(UserError, match="not a finite number"):
        model.generate(images, data.angles, data.angles)
    with pytest.raises(UserError, match="not a finite number"):
        model.terms(replace(data, images=images))


def test_angles_in_single_precision_are_fine():
    model, data = build(), views()
    single = data.angles.float()
    ours = model.generate(data.images, single, single)
    theirs = model.generate(data.images, single.double(), single.double())
    torch.testing.assert_close(ours, theirs)


def test_colour_images_of_64_pixels():
    network = NetworkConfig("convolutional", filters=(2, 3), hidden=8, shape=(3, 64, 64))
    config = FGPVAEConfig(latents=4, local=2, network=network)
    model, data = build(config), views(config, P=2, Q=3, share=0.7)
    terms = score(model, data)
    assert torch.equal(terms.pixels, data.observed.sum(-1) * 3 * 64 * 64)
    out = model.generate(data.images, data.angles, torch.zeros(2, 4), data.observed)
    assert out.shape == (2, 4, 3, 64, 64)


@pytest.mark.parametrize(
    "bad",
    [
        {"latents": 0},
        {"local": -1},
        {"local": 6},
        {"amplitude": 0.0},
        {"amplitude": math.nan},
        {"length_scale": -1.0},
        {"length_scale": math.inf},
        {"period": 0.0},
    ],
)
def test_impossible_settings_are_refused(bad):
    with pytest.raises(UserError, match=next(iter(bad))):
        replace(CONFIG, **bad)
