"""The same digits through every model."""

import numpy as np
import pytest
import torch
from scipy import ndimage

from fgpvae import UserError, data
from fgpvae.data import ANGLES
from fgpvae.data.collections import Own
from fgpvae.data.objects import Objects
from fgpvae.evaluation import comparison
from fgpvae.evaluation.comparison import TRAINING, UNSEEN, UPRIGHT, Question
from fgpvae.evaluation.protocol import evaluate, task_mse
from fgpvae.models import FGPVAEConfig, build
from fgpvae.training import presets
from fgpvae.training.configs import DataConfig
from tests.configs import model_config


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return build(FGPVAEConfig()).eval()


@pytest.mark.parametrize(
    ("question", "first", "count"),
    [
        (Question(TRAINING), 0, 270),
        (Question(UNSEEN, views=2), 360, 40),
        (Question(UPRIGHT, angle=4), 360, 40),
    ],
)
def test_the_truth_is_the_spline_rotation_of_the_named_digits(question, first, count):
    numbers = comparison.numbers(question)
    assert numbers == list(range(first, first + count))
    upright = data.embedded((3,)).images[numbers[5]]
    degrees = float(np.rad2deg(ANGLES[question.angle]))
    expected = ndimage.rotate(upright.astype(np.float64), degrees, reshape=False)
    np.testing.assert_allclose(comparison.truth(question)[5], expected, atol=1e-6)


def test_errors_agree_with_the_protocol_and_with_their_maps(model):
    for question, task in (
        (Question(TRAINING), data.interpolation(data.factorized())),
        (Question(UNSEEN), data.extrapolation()),
    ):
        answer = comparison.answer(model, question)
        assert answer.mse == pytest.approx(task_mse(model, task), rel=1e-6)
        np.testing.assert_allclose((answer.differences**2).mean((1, 2)), answer.errors, rtol=1e-5)
        np.testing.assert_allclose(
            answer.images - answer.differences, comparison.truth(question), atol=1e-6
        )


def test_table_figures_are_those_of_the_protocol(model):
    config = DataConfig("shuffled")
    found, full = comparison.table_figures(model, config), evaluate(model, config)
    assert found == {name: pytest.approx(full[name]) for name in comparison.TABLE}


def test_a_model_of_all_angles_is_compared_on_new_digits_of_one_class(model):
    config = DataConfig("continuous", classes=(5, 3), views=8)
    found = comparison.table_figures(model, config)
    assert found["test_mse"] is None
    assert found["test_mse_sampled"] is None
    assert found["extrapolation_mse"] == task_mse(model, data.extrapolation((3,)))
    assert comparison.table_label((5, 8)) == 5


def test_mse_by_views_is_the_extrapolation_task_at_each_number_of_views(model):
    shares = []
    errors = comparison.mse_by_views(model, views=(1, 11), progress=shares.append)
    assert errors == {n: task_mse(model, data.extrapolation(views=n)) for n in (1, 11)}
    assert shares == [0.5, 1.0]


def test_a_joint_gp_answers_for_its_training_digits_only():
    views = data.shuffled((8, 3))[torch.arange(360, 380)]  # twenty threes, ids from 400 on
    model = build(model_config("gpvae", digit_rank=2))
    model.prepare(lambda: views)
    model.condition(lambda: views)
    model.eval()
    with pytest.raises(UserError, match="training digits only"):
        comparison.answer(model, Question(UNSEEN), (8, 3))
    with pytest.raises(UserError, match="class 5"):
        comparison.answer(model, Question(TRAINING, label=5), (8, 3))
    with pytest.raises(UserError):  # only twenty of the 270 are known to it
        comparison.answer(model, Question(TRAINING), (8, 3))


def test_own_objects_may_have_different_numbers_of_views():
    images = np.random.default_rng(0).integers(0, 256, (90, 6, 8), np.uint8)
    index, view = np.repeat(np.arange(40), 2), np.tile([0.0, 5.0], 40)
    index, view = np.r_[index, np.arange(10)], np.r_[view, np.full(10, 4.0)]
    objects = Objects(images, index, view, tuple(map(str, range(40))))
    collection = Own(objects, objects.track(0.0), 0)
    config = presets.for_objects(objects, "some", 0.0, None)
    model = build(config.model).eval()
    first, *others = comparison.compared(collection)
    last = len(first.w) - 1
    assert any(len(each.w) != len(first.w) for each in others)
    answers = [comparison.subject_answer(model, collection, 1, last)]
    answers += comparison.subject_references(collection, 1, last).values()
    truth = np.stack([each.images[-1] for each in (first, *others)])
    for answer in answers:
        np.testing.assert_allclose(answer.images - answer.differences, truth, atol=1e-6)
