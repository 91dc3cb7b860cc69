"""One interface for every model: what goes in, what comes out, what is refused."""

import subprocess
import sys

import numpy as np
import pytest
import torch

import fgpvae
from fgpvae.batches import FixedViews
from fgpvae.configs import RunConfig
from fgpvae.data import Task, Views
from fgpvae.errors import UserError
from fgpvae.evaluation import task_mse
from fgpvae.models import MODELS
from fgpvae.training import Trainer
from tests.test_models import config, digits, every_model, fresh

AT = torch.linspace(0, 6, 24, dtype=torch.float64).reshape(8, 3)


def infer(model, views):
    return model.infer(views.images, views.angles, views.observed, views.ids)


@every_model
def test_a_posterior_has_a_mean_a_variance_and_samples_of_just_those(name):
    model, views = fresh(name).eval(), digits()
    posterior = infer(model, views)
    with torch.no_grad():
        mean, variance = posterior.mean(AT), posterior.variance(AT)
        source, count = torch.Generator().manual_seed(0), 600
        drawn = torch.stack([posterior.sample(AT, source) for _ in range(count)])
    assert mean.shape == variance.shape == drawn.shape[1:]
    assert mean.shape[:2] == (8, 3)
    sd = variance.sqrt() + 1e-9
    assert ((drawn.mean(0) - mean).abs() < 6 * sd / count**0.5 + 1e-6).all()
    torch.testing.assert_close(drawn.var(0), variance, rtol=0.25, atol=1e-6)


@every_model
def test_generate_decodes_what_the_posterior_says(name):
    model, views = fresh(name).eval(), digits()
    with torch.no_grad():
        expected = model.decode(infer(model, views).mean(AT))
    images = model.generate(views.images, views.angles, AT, views.observed, views.ids)
    assert torch.equal(images, expected)


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
    assert (model.remembered(views.ids) is None) == model.takes_new_digits


@every_model
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_arrays_in_arrays_out(name, dtype):
    model, views = fresh(name).eval(), digits()
    tensors = model.generate(views.images, views.angles, AT, views.observed, views.ids)
    given = (views.images.numpy().astype(dtype), views.angles.numpy(), AT.numpy())
    images = model.generate(*given, views.observed.numpy(), views.ids.numpy())
    assert isinstance(images, np.ndarray)
    assert images.dtype == dtype
    np.testing.assert_allclose(images, tensors.numpy(), atol=2e-2 if dtype == np.float16 else 1e-5)
    single = infer(model, views).mean(AT.float())
    assert single.dtype == torch.float32
    read_only = given[0].copy()
    read_only.setflags(write=False)
    again = model.generate(read_only[::-1], *given[1:], ids=views.ids[0].expand(8).numpy())
    assert again.shape == images.shape


@every_model
def test_double_precision_all_through(name):
    model, views = fresh(name).eval(), digits()
    at = AT
    single = model.generate(views.images, views.angles, at, views.observed, views.ids)
    model.double()
    images = model.generate(views.images.double(), views.angles, at, views.observed, views.ids)
    assert images.dtype == torch.float64
    torch.testing.assert_close(images.float(), single, rtol=1e-3, atol=1e-4)
    terms = model.terms(Views(views.images.double(), *tuple(vars(views).values())[1:]))
    assert terms.squared_error.dtype == torch.float64


@every_model
def test_a_default_of_double_precision_changes_nothing_that_is_said(name, tmp_path):
    model, views = fresh(name).eval(), digits()
    expected = model.generate(views.images, views.angles, AT, views.observed, views.ids)
    fgpvae.checkpoints.save_model(model, tmp_path / "model.safetensors")
    torch.set_default_dtype(torch.float64)
    try:
        copy = fgpvae.load_pretrained(tmp_path / "model.safetensors")
        images = copy.generate(views.images, views.angles, AT, views.observed, views.ids)
        copy.terms(views)
    finally:
        torch.set_default_dtype(torch.float32)
    torch.testing.assert_close(images, expected, rtol=1e-3, atol=1e-4)


@every_model
def test_whatever_is_made_on_the_way_is_made_where_the_model_is(name):
    """With another device as the default, a tensor made without saying where has no values."""
    model, views = fresh(name, mean_function=True), digits()
    given = (views.images, views.angles, AT, views.observed, views.ids)
    expected = model.eval().generate(*given)
    with torch.device("meta"):
        images = model.generate(*given)
        model.generate(*given, sample=True)
        infer(model, views).variance(AT)
        terms = model.terms(views, generator=torch.Generator("cpu").manual_seed(0))
        loss = terms.squared_error.sum() + terms.kl.sum() + model.log_prior()
    loss.backward()
    with torch.device("meta"):
        model.start_epoch(lambda: views, 1.0)
        model.condition(lambda: views)
    assert torch.equal(images, expected)


@every_model
def test_no_digits_and_no_angles_are_answered_with_nothing(name):
    model, views = fresh(name).eval(), digits()
    none = views[torch.zeros(0, dtype=torch.int64)]
    for sample in (False, True):
        images = model.generate(
            none.images, none.angles, AT[:0], none.observed, none.ids, sample=sample
        )
        assert images.shape == (0, 3, 28, 28)
        images = model.generate(
            views.images, views.angles, AT[:, :0], views.observed, views.ids, sample=sample
        )
        assert images.shape == (8, 0, 28, 28)
    assert infer(model, none).variance(AT[:0]).shape[:2] == (0, 3)


def test_an_empty_task_is_refused_in_one_sentence():
    task = fgpvae.data.one_view()
    with pytest.raises(UserError, match="asks for no image"):
        task_mse(fresh("fgpvae").eval(), task[torch.zeros(0, dtype=torch.int64)])


def test_views_and_tasks_whose_parts_do_not_fit_are_refused():
    views, task = digits(), fgpvae.data.one_view()
    parts = (views.images, views.angles, views.observed, views.ids, views.labels)
    with pytest.raises(UserError, match="tested has the shape"):
        Views(*parts, tested=torch.ones(3, dtype=torch.bool))
    with pytest.raises(UserError, match="asked has the shape"):
        Task(task.context, task.targets, task.at, torch.ones(2, 2, dtype=torch.bool))
    with pytest.raises(UserError, match="observed has the shape"):
        Views(views.images, views.angles, views.observed[:, :2], views.ids, views.labels)


@every_model
def test_nan_as_the_angle_of_padding_does_not_spread(name):
    model, views = fresh(name), digits()
    angles = torch.where(views.observed, views.angles, torch.nan)
    padded = Views(views.images, angles, views.observed, views.ids, views.labels)
    images = model.generate(views.images, angles, AT, views.observed, views.ids)
    expected = model.generate(views.images, views.angles, AT, views.observed, views.ids)
    assert torch.equal(images, expected)
    terms = model.terms(padded)
    (terms.squared_error.sum() + terms.kl.sum()).backward()
    for label, parameter in model.named_parameters():
        if parameter.grad is not None:
            assert parameter.grad.isfinite().all(), label


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("network", ["paper", "wide"])
def test_training_leaves_the_random_numbers_of_the_caller_alone(name, network):
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    trainer = Trainer(config(name, 2, network), FixedViews(digits(), 4, 0))
    for _ in trainer.steps():
        pass
    assert torch.equal(torch.rand(3), expected)
    again = Trainer(config(name, 2, network), FixedViews(digits(), 4, 0))
    for _ in again.steps():  # and does not depend on them
        torch.rand(1)
    for a, b in zip(trainer.model.parameters(), again.model.parameters(), strict=True):
        assert torch.equal(a, b)


@pytest.mark.parametrize("learned", [False, True])
def test_a_posterior_has_the_right_gradient_by_the_angle(learned):
    model, views = fresh("fgpvae", learn_kernel=learned, mean_function=True).eval(), digits()
    posterior = infer(model, views)
    w = AT.clone().requires_grad_()
    assert torch.autograd.gradcheck(posterior.mean, w)
    assert torch.autograd.gradcheck(posterior.variance, w)


@pytest.mark.slow
def test_a_model_that_is_only_used_loads_nothing_that_trains():
    code = (
        "import sys, fgpvae, numpy as np\n"
        "model = fgpvae.load_pretrained('paper')\n"
        "model.generate(np.zeros((1, 1, 28, 28)), np.zeros((1, 1)), np.zeros((1, 2)))\n"
        "trains = {'fgpvae.training', 'fgpvae.distributed', 'fgpvae.batches', 'sklearn'}\n"
        "trains |= {'torch.distributed.distributed_c10d'} - before\n"
        "print(sorted(trains & set(sys.modules)))"
    )
    code = "import sys, torch\nbefore = set(sys.modules)\n" + code
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow
def test_the_package_can_be_used_where_there_is_no_fcntl():
    code = (
        "import sys; sys.modules['fcntl'] = None\n"
        "import fgpvae, fgpvae.runs, fgpvae.background, fgpvae.timing\n"
        "print(fgpvae.load_pretrained('paper').title)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "FGP-VAE"


def test_every_public_name_is_there():
    for name in fgpvae.__all__:
        assert getattr(fgpvae, name) is not None
    with pytest.raises(AttributeError):
        _ = fgpvae.nothing
    assert fgpvae.RunConfig is RunConfig
