"""The conditional bound: all views of a digit given a part of them."""

from dataclasses import replace

import pytest
import torch
from torch.distributions import MultivariateNormal, Normal, kl_divergence

from fgpvae.errors import UserError
from fgpvae.gp import posterior
from fgpvae.runs import writer
from fgpvae.runs.checkpoints import load_run
from fgpvae.training import batches, presets
from fgpvae.training.batches import FixedViews
from fgpvae.training.trainer import Trainer
from tests.test_fgpvae import VARIANTS, build, generator, variants, views

SMALL = (
    "model.network.widths=[32,16]",
    "model.latents=8",
    "model.local=3",
    "training.warmup=0",
    "training.context_dropout=0",
    "objective.conditional=true",
)


def parts(data, seed=5):
    """A context of each digit; the first has none, the second all of its views."""
    context = batches.random_part(data.observed, generator(seed))
    context[0], context[1] = False, data.observed[1]
    return context


def dense(model, w, mu, var, seen, channel):
    """q of one channel of one digit at all of its angles, by plain matrices."""
    if channel >= model.config.local:
        precision = 1 + (1 / var[seen]).sum()
        return Normal((mu[seen] / var[seen]).sum() / precision, precision.rsqrt())
    gram = model.kernel.gram(w, w)
    prior = torch.zeros_like(mu) if not model.mean_function else model.mean_function(w)[:, channel]
    gain = gram[:, seen] @ torch.linalg.inv(gram[seen][:, seen] + torch.diag(var[seen]))
    covariance = gram - gain @ gram[seen]
    mean = prior + gain @ (mu - prior)[seen]
    return MultivariateNormal(mean, 0.5 * (covariance + covariance.mT))


def naive_divergence(model, data, mu, var, context):
    """KL(q(z | D) || q(z | C)) [P], by torch's formula, one channel at a time."""
    totals = []
    for p, there in enumerate(data.observed):
        w, seen = data.angles[p, there], context[p, there]
        total = torch.zeros(())
        for c in range(model.config.latents):
            given = (model, w, mu[p, there, c].double(), var[p, there, c].double())
            whole = dense(*given, torch.ones_like(seen), c)
            total = total + kl_divergence(whole, dense(*given, seen, c))
        totals.append(total)
    return torch.stack(totals)


def divergence(model, data, mu, var, context):
    whole = model.posterior(mu, var, data.angles, data.observed)
    return whole.divergence(model.posterior(mu, var, data.angles, context))


@variants
def test_the_divergence_is_that_of_the_gaussians(config):
    model, data = build(config), views(config, P=5, share=0.7)
    context = parts(data)
    mu, var = model.encode(data.images, data.angles, data.observed)
    ours = divergence(model, data, mu, var, context)
    expected = naive_divergence(model, data, mu, var, context)
    torch.testing.assert_close(ours, expected.double(), atol=1e-6, rtol=1e-7)
    torch.testing.assert_close(ours[0], model.terms(data).kl[0])  # to the prior
    assert ours[1].item() == pytest.approx(0, abs=1e-8)  # nothing is left to learn
    assert (ours[2:] >= 0).all()


def test_both_paths_have_the_same_divergence(monkeypatch):
    model, data = build(VARIANTS["mean function"]), views(P=4)
    encodings = model.encode(data.images, data.angles, data.observed)
    found = []
    for path in (posterior.DensePosterior, posterior.FourierPosterior):
        monkeypatch.setattr("fgpvae.models.fgpvae.local_posterior", path)
        found.append(divergence(model, data, *encodings, parts(data)))
    torch.testing.assert_close(*found, atol=1e-8, rtol=1e-8)


@pytest.mark.parametrize("name", ["plain", "mean function", "learned kernel"])
def test_gradients_of_the_divergence_are_those_of_the_gaussians(name):
    model, data = build(VARIANTS[name]).double(), views(VARIANTS[name], P=4)
    encodings = model.encode(data.images.double(), data.angles, data.observed)
    leaves = [x.detach().requires_grad_() for x in encodings]
    context = parts(data)
    inputs = [*leaves, *(p for p in model.kernel.parameters() if p.requires_grad)]
    inputs += [] if model.mean_function is None else list(model.mean_function.parameters())
    ours, theirs = (
        torch.autograd.grad(found(model, data, *leaves, context).sum(), inputs)
        for found in (divergence, naive_divergence)
    )
    for a, b in zip(ours, theirs, strict=True):
        assert float(b.abs().max()) > 0
        torch.testing.assert_close(a, b, atol=1e-6, rtol=1e-6)


def test_its_terms_are_a_drawn_code_and_the_mean_code_of_the_context():
    model, data = build(), views(P=4, share=0.8)
    context = parts(data)
    terms = model.conditional_terms(data, context, generator(3))
    encodings = model.encode(data.images, data.angles, data.observed)
    whole = model.posterior(*encodings, data.angles, data.observed)
    part = model.posterior(*encodings, data.angles, context)
    mean, var, _ = whole.local.at_views()
    mean = mean + whole.m(data.angles)
    g = generator(3)
    local = mean + var.sqrt() * torch.randn(mean.shape, dtype=mean.dtype, generator=g)
    style, style_var = whole.style()
    style = style + style_var.sqrt() * torch.randn(style.shape, dtype=style.dtype, generator=g)
    codes = (whole.join(local, style), part.mean(data.angles))
    errors = [(model.decode(z) - data.images).square().sum((-1, -2)) for z in codes]
    expected = [torch.where(data.observed, each, 0.0).sum(-1) for each in errors]
    drawn, foreseen = expected
    torch.testing.assert_close(terms.squared_error, 0.2 * drawn + 0.8 * foreseen)
    torch.testing.assert_close(terms.kl, 0.2 * divergence(model, data, *encodings, context))
    assert torch.equal(terms.pixels, data.observed.sum(-1) * 64)


def trainer(*changes):
    config = presets.preset("quick", [*SMALL, "training.epochs=2", "training.batch=10", *changes])
    return Trainer(config, FixedViews(batches.build_source(config)[0].views[:40], 10, 0))


def test_a_run_begins_with_the_weights_that_it_is_told(tmp_path):
    config = presets.preset("quick", [*SMALL, "training.epochs=1", "training.batch=90"])
    first, second = tmp_path / "first", tmp_path / "second"
    for _ in writer.execute(first, config):
        pass
    start = replace(config.training, start=str(first), learning_rate=1e-8)
    for _ in writer.execute(second, replace(config, training=start)):
        pass
    before, after = (load_run(path)[0].state_dict() for path in (first, second))
    for name in before:
        torch.testing.assert_close(before[name], after[name], atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("changes", "word"),
    [
        (["model.name=cvae", *SMALL[-2:]], "The CVAE has no conditional bound"),
        (["objective.conditional=true"], "set context dropout to 0"),
    ],
)
def test_settings_that_do_not_go_together_get_one_sentence(changes, word):
    with pytest.raises(UserError, match=word):
        presets.preset("quick", changes)
