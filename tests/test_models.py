"""The contract of every model in the registry."""

import dataclasses
from functools import cache

import numpy as np
import pytest
import torch
from torch.distributions import Normal, kl_divergence

import fgpvae
from fgpvae.data import ANGLES, HELD_OUT_INDEX, Task, Views, embedded, rotate
from fgpvae.errors import UserError
from fgpvae.evaluation.protocol import task_mse
from fgpvae.models import MODELS, GPVAEConfig, build, find
from fgpvae.networks.standard import NetworkConfig
from fgpvae.runs.checkpoints import load_model, save_model
from fgpvae.training.batches import FixedViews
from fgpvae.training.configs import RunConfig, TrainingConfig
from fgpvae.training.objectives import ObjectiveConfig
from fgpvae.training.trainer import Trainer
from tests.configs import model_config

AT = torch.linspace(0, 6, 24, dtype=torch.float64).reshape(8, 3)
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


def infer(model, views):
    return model.infer(views.images, views.angles, views.observed, views.ids)


def trainer(name, epochs, network="paper", views=None, **training):
    config = RunConfig(
        model=model_config(name=name, latents=8, local=4, network=NETWORKS[network]),
        objective=ObjectiveConfig("elbo", pixel_variance=0.003),
        training=TrainingConfig(epochs=epochs, batch=4, learning_rate=3e-3, **training),
    )
    return Trainer(config, FixedViews(views or digits(), 4, 0))


def score(model, views):
    torch.manual_seed(1)
    return model.terms(views)


@every_model
@pytest.mark.parametrize("network", NETWORKS)
def test_shapes_gradients_saving(name, network, tmp_path):
    model, views = fresh(name, network, learn_kernel=True, mean_function=True), digits()
    terms = model.terms(views)
    assert terms.squared_error.shape == terms.kl.shape == (8,)
    assert torch.equal(terms.pixels, views.observed.sum(-1) * 784)
    (terms.squared_error.sum() + terms.kl.sum() + model.log_prior()).backward()
    for label, parameter in model.named_parameters():
        assert parameter.grad is not None, label
        assert parameter.grad.isfinite().all(), label
        assert parameter.grad.any(), label
    grouped = [p for parameters, _ in model.parameter_groups() for p in parameters]
    assert sorted(map(id, grouped)) == sorted(map(id, model.parameters()))

    model.eval()
    save_model(model, tmp_path / "model.safetensors")
    copy = load_model(tmp_path / "model.safetensors")
    assert (type(copy), copy.config, copy.training) == (type(model), model.config, False)
    images = generated(model, views, AT)
    assert images.shape == (8, 3, 28, 28)
    assert images.dtype == torch.float32
    assert images.isfinite().all()
    assert torch.equal(images, model.decode(infer(model, views).mean(AT)))
    assert torch.equal(images, generated(copy, views, AT))
    for field in dataclasses.fields(terms):
        assert torch.equal(*(getattr(score(m, views), field.name) for m in (model, copy)))


@every_model
def test_unobserved_views_have_no_influence(name):
    model, views = fresh(name), digits()
    nonsense = torch.full_like(views.images, 1e6)
    images = torch.where(views.observed[..., None, None], views.images, nonsense)
    angles = torch.where(views.observed, views.angles, torch.nan)
    scores, drawn = [], []
    for x in (views, Views(images, angles, views.observed, views.ids, views.labels)):
        source = torch.Generator().manual_seed(0)
        drawn.append(generated(model, x, AT, sample=True, generator=source))
        model.start_epoch(lambda x=x: x, 1.0)
        scores.append(score(model, x))
    assert torch.equal(*drawn)
    for field in dataclasses.fields(scores[0]):
        assert torch.equal(*(getattr(each, field.name) for each in scores))
    (scores[1].squared_error.sum() + scores[1].kl.sum()).backward()
    assert all(p.grad.isfinite().all() for p in model.parameters() if p.grad is not None)


@every_model
def test_a_batch_is_its_singles(name):
    model, views = fresh(name), digits()
    together = generated(model, views, AT)
    for p in range(8):
        alone = generated(model, views[p], AT[p : p + 1])
        torch.testing.assert_close(alone[0], together[p], rtol=1e-4, atol=1e-5)
    if model.joint_batches:
        return
    kl = model.terms(views).kl
    alone = torch.cat([model.terms(views[p]).kl for p in range(8)])
    torch.testing.assert_close(alone, kl, rtol=1e-4, atol=1e-4)


@every_model
def test_a_posterior_has_a_mean_a_variance_and_samples_of_just_those(name):
    model, views = fresh(name).eval(), digits()
    posterior = infer(model, views)
    with torch.no_grad():
        mean, variance = posterior.mean(AT), posterior.variance(AT)
        source, count = torch.Generator().manual_seed(0), 600
        drawn = torch.stack([posterior.sample(AT, source) for _ in range(count)])
        again = posterior.sample(AT, torch.Generator().manual_seed(0))
    assert torch.equal(again, drawn[0])
    assert mean.shape == variance.shape == drawn.shape[1:]
    assert mean.shape[:2] == (8, 3)
    sd = variance.sqrt() + 1e-9
    assert ((drawn.mean(0) - mean).abs() < 6 * sd / count**0.5 + 1e-6).all()
    torch.testing.assert_close(drawn.var(0), variance, rtol=0.25, atol=1e-6)


@every_model
def test_what_a_model_says_it_can_do_it_does_and_the_rest_it_refuses(name):
    model, views = fresh(name, mean_function=True).eval(), digits()
    posterior, grid = infer(model, views), torch.linspace(0, 6, 5, dtype=torch.float64)

    def asked(able, question):
        if able:
            return question()
        with pytest.raises(UserError, match=model.title):
            question()
        return None

    style = asked(model.separates_style, posterior.style)
    if style is not None:
        assert style[0].shape == style[1].shape == (8, len(model.styles))
        own = posterior.mean(AT)[..., list(model.styles)]
        torch.testing.assert_close(own, style[0][:, None].expand_as(own).to(own))
    belief = asked(model.tells_angle, lambda: model.orientation(views.images[:, 0], grid))
    assert belief is None or belief.shape == (8, 5)
    left = asked(model.tells_certainty, lambda: posterior.unknown(AT))
    assert left is None or ((left > 0) & (left <= 1 + 1e-9)).all()
    evidence = asked("local" in model.blocks, posterior.log_evidence)
    assert evidence is None or evidence.shape == (8,)
    asked(model.knows_angles, model.harmonics)
    assert model.divides_channels == ({"local", "global"} == set(model.blocks))
    assert (model.stored_views(views.ids) is None) == model.takes_new_digits


@every_model
@pytest.mark.parametrize("dtype", [np.float16, np.float64])
def test_arrays_in_arrays_out(name, dtype):
    model, views = fresh(name).eval(), digits()
    given = (views.images.numpy().astype(dtype), views.angles.numpy(), AT.numpy())
    given[0].setflags(write=False)
    images = model.generate(*given, views.observed.numpy(), views.ids.numpy())
    assert isinstance(images, np.ndarray)
    assert images.dtype == dtype
    expected = generated(model, views, AT).numpy()
    np.testing.assert_allclose(images, expected, atol=2e-2 if dtype == np.float16 else 1e-5)
    assert infer(model, views).mean(AT.float()).dtype == torch.float32


@every_model
def test_bad_input_is_refused(name):
    model, views = fresh(name), digits()
    arguments = (views.images, views.angles, views.angles, views.observed, views.ids)
    for position, value in (
        (0, views.images[:, :2]),
        (0, torch.full_like(views.images, torch.nan)),
        (1, torch.full_like(views.angles, torch.inf)),
        (2, views.angles[:3]),
        (2, torch.full_like(views.angles, torch.nan)),
        (3, views.observed.float()),
    ):
        with pytest.raises(UserError):
            model.generate(*arguments[:position], value, *arguments[position + 1 :])
    with pytest.raises(UserError, match="Give at least one view"):
        model.generate(views.images[:, :0], views.angles[:, :0], views.angles, ids=views.ids)


@every_model
def test_interrupted_in_mid_epoch_it_ends_with_the_same_weights(name, tmp_path):
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    whole, resumed = (trainer(name, 4, average=0.9) for _ in range(2))
    for step in whole.steps():
        if step.step == 5:  # in the third epoch, where a joint GP is in its last phase
            torch.save(whole.state(), tmp_path / "state")
    assert torch.equal(torch.rand(3), expected)  # the caller's random numbers are left alone
    resumed.load_state(torch.load(tmp_path / "state", weights_only=True))
    for _ in resumed.steps():
        torch.rand(1)
    expected, got = (t.result().state_dict() for t in (whole, resumed))
    for label, value in expected.items():
        assert torch.equal(got[label], value), label


@pytest.mark.slow
@every_model
def test_better_than_the_mean_image_after_a_short_run(name):
    views = digits(16, 8)
    run = trainer(name, 25, "wide", views)
    for _ in run.steps():
        pass
    images = generated(run.result(), views, views.angles)
    seen = views.images[views.observed]
    error = (images[views.observed] - seen).square().mean()
    assert error < 0.95 * (seen - seen.mean(0)).square().mean()


@pytest.mark.parametrize("name", sorted(set(MODELS) - set(JOINT)))
def test_the_kl_depends_on_the_context_alone(name):
    model, views = fresh(name), digits()
    context = views.observed.clone()
    context[:, 1:] = False
    part = model.terms(views, context)
    assert torch.equal(part.pixels, model.terms(views).pixels)
    images = torch.where(context[..., None, None], views.images, 0.5)
    other = dataclasses.replace(views, images=images)
    assert torch.equal(model.terms(other, context).kl, part.kl)


def test_vae_reconstructs_what_it_saw_and_decodes_the_prior_elsewhere():
    model, views = fresh("vae"), digits()
    mu, var = model.encode(views.images, views.angles, views.observed)
    images = generated(model, views, views.angles + 2 * torch.pi)
    torch.testing.assert_close(images[views.observed], model.decode(mu)[views.observed])
    prior = model.decode(torch.zeros(1, 6))[0]
    elsewhere = generated(model, views, views.angles + 0.1)
    torch.testing.assert_close(elsewhere, prior.expand_as(elsewhere))
    torch.testing.assert_close(images[~views.observed], prior.expand_as(images[~views.observed]))
    q = Normal(mu[views.observed], var[views.observed].sqrt())
    expected = kl_divergence(q, Normal(0.0, 1.0)).sum()
    torch.testing.assert_close(model.terms(views).kl.sum(), expected, rtol=1e-4, atol=1e-4)


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


@pytest.mark.parametrize("learned", [False, True])
def test_a_posterior_has_the_right_gradient_by_the_angle(learned):
    model, views = fresh("fgpvae", learn_kernel=learned, mean_function=True).eval(), digits()
    posterior = infer(model, views)
    w = AT.clone().requires_grad_()
    assert torch.autograd.gradcheck(posterior.mean, w)
    assert torch.autograd.gradcheck(posterior.variance, w)


def test_views_tasks_and_models_that_do_not_fit_are_refused():
    views, task = digits(), fgpvae.data.one_view()
    parts = (views.images, views.angles, views.observed, views.ids, views.labels)
    with pytest.raises(UserError, match="tested has the shape"):
        Views(*parts, tested=torch.ones(3, dtype=torch.bool))
    with pytest.raises(UserError, match="asked has the shape"):
        Task(task.context, task.targets, task.at, torch.ones(2, 2, dtype=torch.bool))
    with pytest.raises(UserError, match="observed has the shape"):
        Views(views.images, views.angles, views.observed[:, :2], views.ids, views.labels)
    with pytest.raises(UserError, match="no target image"):
        task_mse(fresh("fgpvae").eval(), task[torch.zeros(0, dtype=torch.int64)])
    with pytest.raises(UserError, match="no model 'gan'"):
        find("gan")
    with pytest.raises(UserError, match="phases"):
        GPVAEConfig(phases=(0.6, 0.5))
