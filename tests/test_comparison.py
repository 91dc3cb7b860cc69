"""The same digits through every model."""

import numpy as np
import pytest
import torch
from scipy import ndimage

from fgpvae import UserError, comparison, data
from fgpvae.comparison import TRAINING, UNSEEN, UPRIGHT, Question
from fgpvae.configs import DataConfig
from fgpvae.data import ANGLES, HELD_OUT_INDEX
from fgpvae.evaluation import evaluate, task_mse
from fgpvae.models import FGPVAEConfig, build
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


def test_upright_question_is_one_column_of_the_one_view_task(model):
    errors = [comparison.answer(model, Question(UPRIGHT, angle=k)).mse for k in range(1, 16)]
    assert np.mean(errors) == pytest.approx(task_mse(model, data.one_view()), rel=1e-6)


def test_references_are_those_of_the_benchmark():
    # verified figures of the benchmark: mean image 0.0551, neighbouring view rotated 0.0005
    found = comparison.references(Question(TRAINING, views=15))
    assert found[comparison.MEAN_IMAGE].mse == pytest.approx(0.0551, abs=1e-4)
    assert found[comparison.ROTATED_VIEW].mse == pytest.approx(0.0005, abs=1e-4)


def test_the_rotated_view_is_the_nearest_one_given():
    question = Question(UNSEEN, views=1)
    context = question.task().context
    image = context.images[3, 0].double().numpy()
    degrees = np.rad2deg(ANGLES[HELD_OUT_INDEX] - float(context.angles[3, 0]))
    turned = ndimage.rotate(image, degrees, reshape=False)
    found = comparison.references(question)[comparison.ROTATED_VIEW].images[3]
    np.testing.assert_allclose(found, turned, atol=1e-5)


def test_digits_turned_all_around_hold_the_answer_at_the_held_out_angle(model):
    truth, images = comparison.turned(model, (8, 3))
    question = Question(UNSEEN)
    np.testing.assert_allclose(truth[:, HELD_OUT_INDEX], comparison.truth(question)[:2], atol=1e-6)
    answer = comparison.answer(model, question).images[:2]
    np.testing.assert_allclose(images[:, HELD_OUT_INDEX], answer, atol=1e-5)


def test_order_by_difference_puts_the_largest_gap_first_whoever_wins():
    first, second = np.array([0.1, 0.5, 0.2, 0.0]), np.array([0.1, 0.1, 0.9, 0.05])
    assert comparison.by_difference(first, second).tolist() == [2, 1, 3, 0]
    assert comparison.by_error(first).tolist() == [1, 2, 0, 3]


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


def test_what_needs_no_model_hardly_depends_on_the_number_of_views():
    found = comparison.reference_by_views(views=(1, 15))
    assert set(found) == {comparison.MEAN_IMAGE, comparison.ROTATED_VIEW}
    assert len(set(found[comparison.MEAN_IMAGE].values())) == 1
    assert max(found[comparison.ROTATED_VIEW].values()) < 0.001


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


def test_ids_count_through_the_classes_of_the_training_set():
    views = data.factorized((8, 3), views=2)
    model = build(model_config("gpvae", digit_rank=2))
    model.prepare(lambda: views)
    model.condition(lambda: views)
    answer = comparison.answer(model.eval(), Question(TRAINING), (8, 3))
    task = data.interpolation(views)
    threes = task[(task.context.labels == 3).nonzero().flatten()]
    assert answer.mse == pytest.approx(task_mse(model, threes), rel=1e-6)


@pytest.mark.parametrize(
    "wrong", [{"kind": "other"}, {"kind": UPRIGHT, "angle": 0}, {"kind": UNSEEN, "angle": 3}]
)
def test_a_question_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(UserError):
        Question(**wrong)
