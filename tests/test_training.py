import math
from dataclasses import fields, replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from fgpvae import data
from fgpvae.errors import UserError
from fgpvae.models import MODELS, FGPVAEConfig
from fgpvae.networks.standard import NetworkConfig
from fgpvae.settings import setting_of
from fgpvae.training import presets
from fgpvae.training.batches import (
    FixedViews,
    FreshViews,
    Source,
    random_context,
)
from fgpvae.training.configs import DataConfig, RunConfig, TrainingConfig
from fgpvae.training.objectives import ObjectiveConfig
from fgpvae.training.trainer import Trainer

SMALL = NetworkConfig("dense", widths=(16,), gated=True, dropout=0.1)


def config(average=0.0, objective="elbo", **training) -> RunConfig:
    defaults = {"epochs": 3, "batch": 5, "average": average}
    return RunConfig(
        model=FGPVAEConfig(latents=6, local=2, mean_function=True, network=SMALL),
        objective=ObjectiveConfig(objective, learn_pixel_variance=objective == "elbo"),
        training=TrainingConfig(**(defaults | training)),
    )


@pytest.fixture(scope="module")
def views() -> data.Views:
    return data.shuffled()[:12]  # ragged


def trainer(config: RunConfig, views: data.Views) -> Trainer:
    return Trainer(config, FixedViews(views, config.training.batch, config.seed, config.data.warp))


def weights(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    return {name: value.clone() for name, value in model.state_dict().items()}


def same(a: dict[str, torch.Tensor], b: dict[str, torch.Tensor]) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@given(st.integers(1, 40), st.integers(1, 50), st.integers(0, 2**32 - 1))
def test_an_epoch_takes_every_digit_once_in_an_order_of_its_own(digits, size, seed):
    shuffle = Source(digits, size, seed)
    epochs = [
        [shuffle.rows(epoch * shuffle.steps + k).tolist() for k in range(shuffle.steps)]
        for epoch in range(2)
    ]
    for batches in epochs:
        assert sorted(row for batch in batches for row in batch) == list(range(digits))
        assert all(len(batch) == size for batch in batches[:-1])
    if digits > 15:
        assert epochs[0] != epochs[1]
    assert shuffle.rows(0).tolist() == epochs[0][0]  # whatever was asked for before


def test_fixed_views_are_the_training_set_and_warped_ones_keep_its_angles(views):
    plain, warped = FixedViews(views, 5, 0), FixedViews(views, 5, 0, 1.0)
    for step in range(plain.steps):
        batch, bent = plain.batch(step), warped.batch(step)
        rows = [views.ids.tolist().index(i) for i in batch.ids.tolist()]
        assert torch.equal(batch.images, views.images[rows])
        assert torch.equal(bent.angles, batch.angles)
        assert torch.equal(bent.observed, batch.observed)
        assert not torch.equal(bent.images, batch.images)
        assert torch.equal(bent.images, warped.batch(step).images)
    assert not torch.equal(warped.batch(0).images, warped.batch(plain.steps).images)


def test_fresh_views_are_the_digits_turned_to_new_angles():
    digits = data.embedded((3, 8))[::40]
    source = FreshViews(digits, 6, 3, seed=1)
    seen = []
    for step in range(2 * source.steps):
        batch = source.batch(step)
        seen += batch.angles.flatten().tolist()
        for row, digit in enumerate(batch.ids.tolist()):
            assert batch.labels[row] == digits.labels[digit]
            exact = data.rotate(digits.images[[digit]], batch.angles[[row]].numpy())
            assert ((batch.images[row].numpy() - exact[0]) ** 2).mean() < 1e-3
        assert torch.equal(batch.images, source.batch(step).images)
    assert min(seen) >= 0
    assert max(seen) < 2 * math.pi
    assert len(set(seen)) == len(seen) == 2 * 20 * 3
    assert torch.equal(source.everything().images, source.everything().images)


@given(st.integers(1, 8), st.integers(1, 9), st.floats(0, 1), st.integers(0, 10**6))
def test_a_random_context_is_a_part_of_what_is_observed_and_never_empty(P, Q, share, seed):
    generator = torch.Generator().manual_seed(seed)
    observed = torch.rand(P, Q, generator=generator) < 0.6
    context = random_context(observed, share, generator)
    assert not (context & ~observed).any()
    assert torch.equal(context.any(-1), observed.any(-1))


def test_context_and_samples_of_a_step_come_from_different_random_numbers(views):
    """With one stream for both, a view's noise would depend on whether it is context."""
    drawn = {}

    def terms(views, context, generator):
        drawn["noise"] = torch.rand(context.shape, generator=generator).masked_fill(
            ~views.observed, 2.0
        )
        drawn["context"] = context
        raise StopIteration

    run = trainer(config(context_dropout=1.0), views)
    run.model.terms = terms
    with pytest.raises(StopIteration):
        run.advance()
    lowest = drawn["noise"].argsort(-1).argsort(-1) < drawn["context"].sum(-1, keepdim=True)
    assert not torch.equal(lowest, drawn["context"])


def test_learning_rates_warm_up_and_follow_a_cosine(views):
    steps = 3 * math.ceil(12 / 5)
    run = trainer(config(learning_rate=0.01, warmup=3, schedule="cosine"), views)
    rates = []
    for _ in run.steps():
        (rate,) = {group["lr"] for group in run.optimizer.param_groups}
        rates.append(rate)
    cosine = [0.01 + 0.99 * (1 + math.cos(math.pi * k / steps)) / 2 for k in range(steps)]
    ramp = [0.25, 0.5, 0.75] + [1.0] * (steps - 3)
    assert rates == pytest.approx([0.01 * a * b for a, b in zip(cosine, ramp, strict=True)])
    constant = trainer(config(learning_rate=0.01), views)
    assert {constant.learning_rate() for _ in constant.steps()} == {0.01}


def test_the_averaged_weights_are_the_moving_average_of_the_weights(views):
    run = trainer(config(average=0.8), views)
    expected = {name: p.detach().double() for name, p in run.model.named_parameters()}
    for n, _ in enumerate(run.steps(), start=1):
        decay = min(0.8, n / (n + 10))
        for name, parameter in run.model.named_parameters():
            new = parameter.detach().double()
            expected[name] = decay * expected[name] + (1 - decay) * new
    for name, parameter in run.result().named_parameters():
        assert torch.allclose(parameter.double(), expected[name], atol=1e-6)
    assert not same(weights(run.averaged), weights(run.model))


def test_gradients_are_clipped(views):
    free, clipped = trainer(config(), views), trainer(config(clip=0.5), views)
    norms = []
    for run in (free, clipped):
        run.advance()
        grads = [p.grad.flatten() for p in run.model.parameters() if p.grad is not None]
        norms.append(float(torch.cat(grads).double().norm()))
    assert norms[0] > 1
    assert norms[1] == pytest.approx(0.5, rel=1e-3)


@pytest.mark.parametrize("objective", ["elbo", "geco"])
def test_a_run_resumed_at_any_step_ends_with_the_same_weights(views, objective, tmp_path):
    setting = config(0.9, objective, schedule="cosine", context_dropout=0.5, weight_decay=0.1)
    setting = replace(setting, data=DataConfig(warp=0.5))
    whole = trainer(setting, views)
    course = list(whole.steps())
    for cut in (0, 1, 4, len(course) - 1):
        first = trainer(setting, views)
        for _ in range(cut):
            first.advance()
        torch.save(first.state(), tmp_path / "state")
        second = trainer(setting, views)
        second.load_state(torch.load(tmp_path / "state", weights_only=True))
        assert list(second.steps()) == course[cut:]
        assert same(weights(second.result()), weights(whole.result()))
        assert same(weights(second.model), weights(whole.model))


def test_a_loss_that_is_not_finite_stops_the_run_and_names_the_cause(views):
    images = views.images.clone()
    images[7, 0, 3, 3] = math.nan
    run = trainer(config(), replace(views, images=images))
    with pytest.raises(UserError, match=r"stopped at step \d: .*not a finite number") as stop:
        list(run.steps())
    assert "last good checkpoint is kept" in str(stop.value)
    run.check_finite()  # the step was not taken


CONFIGS = [NetworkConfig, DataConfig, ObjectiveConfig, TrainingConfig, RunConfig]


@pytest.mark.parametrize("kind", [*(model.Config for model in MODELS.values()), *CONFIGS])
def test_a_value_that_a_setting_does_not_take_is_named(kind):
    for each in fields(kind):
        found, wrong = setting_of(each), []
        if found and found.bounds:
            wrong = [found.bounds[0] - 1, 2 * found.bounds[1] + 1, math.nan]
        elif found and found.choices and not found.open:
            wrong = ["something else"]
        for value in wrong:
            value = (value,) if isinstance(each.default, tuple) else value
            with pytest.raises(UserError, match=rf"^{each.name}\b.* must be .*\.$|one class"):
                kind(**{each.name: value})


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ("data.classes=[]", "class"),
        ("data.classes=[3,3]", "only once"),
        ("data.views=16", "15 angles"),
        ("model.name=gan", "no model"),
        ("training.batch=4096", "16384 images"),
        ("model.kernel=matern32", "turn on a circle: their kernel is periodic"),
    ],
)
def test_settings_that_cannot_be_are_refused_with_a_sentence(change, word):
    with pytest.raises(UserError, match=word) as refused:
        presets.preset("paper", [change])
    assert str(refused.value).endswith(".")


@pytest.mark.parametrize("name", ["gpvae", "gpvae-amortised"])
@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (["model.length_scale=0.01"], "needs more memory than a run may take"),
        (["model.digit_rank=64", "data.classes=[0,1,2,3,4,5,6,7,8,9]"], "more memory"),
        (["training.context_dropout=0.5"], "set context dropout to 0"),
    ],
)
def test_what_a_joint_gp_cannot_do_is_refused_before_it_is_built(name, changes, words):
    presets.preset(name, ["data.classes=[0,1,2,3,4,5,6,7,8,9]"])
    with pytest.raises(UserError, match=words):
        presets.preset(name, changes)


def test_a_batch_that_would_take_gigabytes_is_refused_before_anything_is_allocated():
    # typed into the form of a public page it would end the server: 9 billion activations
    wide = FGPVAEConfig(network=NetworkConfig("convolutional", filters=(512, 512), hidden=128))
    with pytest.raises(UserError, match="needs more memory"):
        RunConfig(model=wide, training=TrainingConfig(batch=1024))
    with pytest.raises(UserError, match="million weights"):
        RunConfig(model=FGPVAEConfig(network=NetworkConfig("dense", widths=(4096,) * 8)))
    # 20 digits, 128 channels, 512 x 512 covariances: 5.4 GB for each array of that size
    changes = ["model.latents=128", "model.local=128", "model.length_scale=0.01"]
    with pytest.raises(UserError, match="needs more memory"):
        presets.preset("paper", [*changes, "data.split=continuous", "data.views=512"])
    RunConfig(model=wide, training=TrainingConfig(batch=20))


TOLD = NetworkConfig("dense", widths=(16, 12), gated=True, harmonics=4)


def told(**training) -> RunConfig:
    model = FGPVAEConfig(latents=6, local=2, amplitude=0.1, mean_function=True, network=TOLD)
    return replace(config(**training), model=model)


def test_the_last_epochs_teach_the_recogniser_alone(views):
    started = trainer(told(epochs=24, recognition=12, learning_rate=1e-2), views)

    def misread() -> float:
        with torch.no_grad():
            return float(started.model.recognition(views, torch.Generator().manual_seed(0)).sum())

    while started.step < started.recognition:
        started.advance()
    before, first = weights(started.model), misread()
    for _ in started.steps():
        pass
    after = weights(started.model)
    changed = {name for name in after if not torch.equal(after[name], before[name])}
    assert changed == {name for name in after if ".layers.local." in name}
    assert misread() < first


def test_recognition_is_the_negative_log_density_of_the_priors_draws(views):
    model = trainer(told(), views).model
    found = model.recognition(views, torch.Generator().manual_seed(3))
    mu, var = model.encode(views.images, views.angles, views.observed)
    noise = torch.randn(
        *mu.shape[:2], 2, generator=torch.Generator().manual_seed(3), dtype=torch.float64
    )
    z = model.mean_function(views.angles) + 0.1 * noise
    q = torch.distributions.Normal(mu[..., :2].double(), var[..., :2].double().sqrt())
    expected = -(q.log_prob(z).sum(-1) * views.observed).sum(-1)
    torch.testing.assert_close(found, expected)
