"""What every model in the registry promises."""

import dataclasses
from functools import cache

import pytest
import torch

from fgpvae.batches import FixedViews
from fgpvae.checkpoints import load_model, save_model
from fgpvae.configs import RunConfig, TrainingConfig
from fgpvae.data import ANGLES, HELD_OUT_INDEX, Views, embedded, rotate
from fgpvae.errors import UserError
from fgpvae.models import MODELS, GPVAEConfig, build, find
from fgpvae.networks import NetworkConfig
from fgpvae.objectives import ObjectiveConfig
from fgpvae.training import Trainer
from tests.configs import model_config

JOINT = tuple(name for name, kind in MODELS.items() if kind.fixed_angles)
every_model = pytest.mark.parametrize("name", MODELS)
NETWORKS = {
    "paper": NetworkConfig(),
    "wide": NetworkConfig("convolutional", filters=(4, 8), hidden=32, dropout=0.1),
    "gated": NetworkConfig("dense", widths=(16,), gated=True),
    "told": NetworkConfig("dense", widths=(16, 12), product=True, harmonics=4),
}


@cache
def digits(count=8, views=6):
    """Ragged views of threes, at angles other than the held-out one."""
    source = torch.Generator().manual_seed(0)
    seen = torch.tensor([i for i in range(len(ANGLES)) if i != HELD_OUT_INDEX])
    chosen = torch.stack([seen[torch.randperm(15, generator=source)[:views]] for _ in range(count)])
    angles = torch.as_tensor(ANGLES)[chosen]
    images = torch.as_tensor(rotate(embedded((3,)).images[:count], angles.numpy())).float()
    observed = torch.rand(count, views, generator=source) < 0.8
    observed[:, 0] = True
    observed[0, -1] = False
    images = torch.where(observed[..., None, None], images, 0.0)
    return Views(images, angles, observed, torch.arange(count) * 2, torch.full((count,), 3))


def fresh(name, network="paper", **settings):
    """A model that has met its data; a joint GP in its last phase, where everything is learned."""
    torch.manual_seed(0)
    settings = {"latents": 6, "local": 3, "digit_rank": 3, **settings}
    model = build(model_config(name=name, network=NETWORKS[network], **settings))
    model.prepare(digits)
    model.start_epoch(digits, 1.0)
    model.condition(digits)
    return model


def generated(model, views, at, **options):
    return model.generate(views.images, views.angles, at, views.observed, ids=views.ids, **options)


def config(name, epochs, network="paper", **training):
    return RunConfig(
        model=model_config(name=name, latents=8, local=4, network=NETWORKS[network]),
        objective=ObjectiveConfig("elbo", pixel_variance=0.003),
        training=TrainingConfig(epochs=epochs, batch=4, learning_rate=3e-3, **training),
    )


@every_model
@pytest.mark.parametrize("network", NETWORKS)
def test_shapes(name, network):
    model, views = fresh(name, network), digits()
    terms = model.terms(views)
    assert terms.squared_error.shape == terms.kl.shape == terms.pixels.shape == (8,)
    assert torch.equal(terms.pixels, views.observed.sum(-1) * 784)
    at = torch.rand(8, 5)
    for sample in (False, True):
        images = generated(model.eval(), views, at, sample=sample)
        assert images.shape == (8, 5, 28, 28)
        assert images.dtype == torch.float32
        assert images.isfinite().all()


@every_model
@pytest.mark.parametrize("network", NETWORKS)
def test_every_parameter_has_a_finite_gradient(name, network):
    options = {"learn_kernel": True, "mean_function": True}
    model = fresh(name, network, **options)
    terms = model.terms(digits())
    (terms.squared_error.sum() + terms.kl.sum() + model.log_prior()).backward()
    for label, parameter in model.named_parameters():
        assert parameter.grad is not None, label
        assert parameter.grad.isfinite().all(), label
        assert parameter.grad.any(), label
    grouped = [p for parameters, _ in model.parameter_groups() for p in parameters]
    assert sorted(map(id, grouped)) == sorted(map(id, model.parameters()))


def spoiled(views):
    """The same observed views with nonsense in the others."""
    nonsense = torch.full_like(views.images, 1e6)
    images = torch.where(views.observed[..., None, None], views.images, nonsense)
    angles = torch.where(views.observed, views.angles, 17.0)
    return Views(images, angles, views.observed, views.ids, views.labels)


@every_model
def test_masked_views_have_no_influence(name):
    model, views, other = fresh(name), digits(), spoiled(digits())
    at = torch.rand(8, 3)
    for sample in (False, True):
        images = [
            generated(model, x, at, sample=sample, generator=torch.Generator().manual_seed(0))
            for x in (views, other)
        ]
        assert torch.equal(*images)
    scores = []
    for x in (views, other):
        model.start_epoch(lambda x=x: x, 1.0)
        torch.manual_seed(1)
        scores.append(model.terms(x))
    for field in dataclasses.fields(scores[0]):
        assert torch.equal(*(getattr(score, field.name) for score in scores))


@every_model
def test_removing_masked_views_changes_nothing(name):
    model, views = fresh(name), digits()
    keep = views.observed[2]
    one = views[2]
    short = Views(
        one.images[:, keep], one.angles[:, keep], one.observed[:, keep], one.ids, one.labels
    )
    at = torch.tensor([[0.3, 1.0, 5.0]])
    torch.testing.assert_close(generated(model, one, at), generated(model, short, at))


@every_model
def test_a_batch_is_its_singles(name):
    model, views = fresh(name), digits()
    at = torch.rand(8, 3)
    together = generated(model, views, at)
    for p in range(8):
        alone = generated(model, views[p], at[p : p + 1])
        torch.testing.assert_close(alone[0], together[p], rtol=1e-4, atol=1e-5)
    if model.joint_batches:
        return
    kl = model.terms(views).kl
    alone = torch.cat([model.terms(views[p]).kl for p in range(8)])
    torch.testing.assert_close(alone, kl, rtol=1e-4, atol=1e-4)


@every_model
@pytest.mark.parametrize("network", NETWORKS)
def test_save_and_load_are_identical(name, network, tmp_path):
    model, views = fresh(name, network).eval(), digits()
    save_model(model, tmp_path / "model.safetensors")
    copy = load_model(tmp_path / "model.safetensors")
    at = torch.rand(8, 3)
    assert torch.equal(generated(model, views, at), generated(copy, views, at))
    scores = []
    for m in (model, copy):
        torch.manual_seed(1)
        scores.append(m.terms(views))
    assert torch.equal(scores[0].squared_error, scores[1].squared_error)
    assert torch.equal(scores[0].kl, scores[1].kl)


@every_model
def test_samples_follow_their_generator(name):
    model, views, at = fresh(name), digits(), torch.rand(8, 3)
    drawn = [
        generated(model, views, at, sample=True, generator=torch.Generator().manual_seed(seed))
        for seed in (0, 0, 1)
    ]
    assert torch.equal(drawn[0], drawn[1])
    assert not torch.equal(drawn[0], drawn[2])
    assert not torch.equal(drawn[0], generated(model, views, at))


@every_model
@pytest.mark.parametrize("average", [0.0, 0.9])
def test_interrupted_in_mid_epoch_it_ends_with_the_same_weights(name, average):
    source = FixedViews(digits(), 4, 0)
    settings = config(name, 4, average=average)
    whole = Trainer(settings, source)
    for step in whole.steps():
        if (
            step.step == 5
        ):  # in the middle of the third epoch, where a joint GP is in its last phase
            state = {k: _copy(v) for k, v in whole.state().items()}
    resumed = Trainer(settings, source)
    resumed.load_state(state)
    for _ in resumed.steps():
        pass
    expected, got = (t.result().state_dict() for t in (whole, resumed))
    for label, value in expected.items():
        assert torch.equal(got[label], value), label


def _copy(value):
    if isinstance(value, torch.Tensor):
        return value.clone()
    if isinstance(value, dict):
        return {k: _copy(v) for k, v in value.items()}
    return value


@pytest.mark.slow
@every_model
def test_better_than_the_mean_image_after_a_short_run(name):
    views = digits(16, 8)
    trainer = Trainer(config(name, 40, "wide"), FixedViews(views, 4, 0))
    for _ in trainer.steps():
        pass
    images = generated(trainer.result(), views, views.angles)
    seen = views.images[views.observed]
    error = (images[views.observed] - seen).square().mean()
    assert error < 0.95 * (seen - seen.mean(0)).square().mean()


@every_model
def test_bad_input_is_refused_in_one_sentence(name):
    model, views = fresh(name), digits()
    arguments = (views.images, views.angles, views.angles, views.observed, views.ids)

    def refused(position, value):
        changed = [*arguments]
        changed[position] = value
        with pytest.raises(UserError):
            model.generate(*changed)

    refused(0, views.images[:, :2])
    refused(0, torch.full_like(views.images, torch.nan))
    refused(1, torch.full_like(views.angles, torch.inf))
    refused(2, views.angles[:3])
    refused(2, torch.full_like(views.angles, torch.nan))
    refused(3, views.observed.float())
    with pytest.raises(UserError, match="Give at least one view"):
        model.generate(views.images[:, :0], views.angles[:, :0], views.angles, ids=views.ids)


@pytest.mark.parametrize("name", [name for name, kind in MODELS.items() if kind.takes_new_digits])
def test_models_that_take_new_digits_need_no_ids(name):
    model, views = fresh(name), digits()
    others = Views(views.images, views.angles, views.observed, views.ids + 1, views.labels)
    at = torch.rand(8, 2)
    images = model.generate(others.images, others.angles, at, others.observed)
    assert torch.equal(images, generated(model, others, at))
    nothing = torch.zeros_like(views.observed)
    assert model.generate(views.images, views.angles, at, nothing).isfinite().all()


def test_context_dropout_is_a_bound_for_the_models_without_a_joint_gp():
    views = digits()
    context = views.observed.clone()
    context[:, 1:] = False
    for name in set(MODELS) - set(JOINT):
        model = fresh(name)
        part, everything = model.terms(views, context), model.terms(views)
        assert torch.equal(part.pixels, everything.pixels)
        other = Views(
            torch.where(context[..., None, None], views.images, 0.5),
            views.angles,
            views.observed,
            views.ids,
            views.labels,
        )
        assert torch.equal(model.terms(other, context).kl, part.kl)


def test_vae_reconstructs_what_it_saw_and_decodes_the_prior_elsewhere():
    model, views = fresh("vae"), digits()
    images = generated(model, views, views.angles + 2 * torch.pi)
    seen = model.decode(model.encode(views.images, views.angles, views.observed)[0])
    torch.testing.assert_close(images[views.observed], seen[views.observed])
    prior = model.decode(torch.zeros(1, 6))[0]
    elsewhere = generated(model, views, views.angles + 0.1)
    torch.testing.assert_close(elsewhere, prior.expand_as(elsewhere))
    torch.testing.assert_close(images[~views.observed], prior.expand_as(images[~views.observed]))


def test_cvae_identity_is_the_mean_latent_of_the_views():
    model, views = fresh("cvae"), digits()
    mean, var = model.infer(views.images, views.angles, views.observed).style()
    for p in range(8):
        codes = []
        for q in views.observed[p].nonzero().flatten().tolist():
            sine, cosine = views.angles[p, q].sin().float(), views.angles[p, q].cos().float()
            planes = [views.images[p, q], sine.expand(28, 28), cosine.expand(28, 28)]
            codes.append(model.encoder(torch.stack(planes)[None]))
        n = len(codes)
        torch.testing.assert_close(mean[p], sum(mu[0] for mu, _ in codes) / n)
        torch.testing.assert_close(var[p], sum(v[0] for _, v in codes) / n**2)
    at = torch.tensor([[0.4]] * 8)
    told = torch.tensor([[0.4]]).sin(), torch.tensor([[0.4]]).cos()
    z = torch.cat([*(x.expand(8, 1) for x in told), mean], -1)
    torch.testing.assert_close(generated(model, views, at)[:, 0], model.decode(z))


def test_kl_of_the_vae_is_that_of_torch():
    model, views = fresh("vae"), digits()
    mu, var = (x[views.observed] for x in model.encode(views.images, views.angles, views.observed))
    q, p = torch.distributions.Normal(mu, var.sqrt()), torch.distributions.Normal(0.0, 1.0)
    expected = torch.distributions.kl_divergence(q, p).sum()
    torch.testing.assert_close(model.terms(views).kl.sum(), expected, rtol=1e-4, atol=1e-4)


def test_unknown_model_is_refused():
    with pytest.raises(UserError, match="no model 'gan'"):
        find("gan")
    with pytest.raises(UserError, match="phases"):
        GPVAEConfig(phases=(0.6, 0.5))
