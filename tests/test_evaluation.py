"""Scores of a model, answers that need no model, and what the Gaussian process adds."""

import math

import numpy as np
import pytest
import torch
from scipy.ndimage import rotate as scipy_rotate

from fgpvae import data, models
from fgpvae.data import ANGLES, embedded
from fgpvae.evaluation import baselines, latents, protocol
from fgpvae.models import CVAE, FGPVAE, FGPVAEConfig, ModelConfig
from fgpvae.networks.standard import NetworkConfig
from fgpvae.runs import checkpoints
from fgpvae.training.configs import DataConfig, RunConfig


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    network = NetworkConfig("dense", widths=(8,))
    return models.build(FGPVAEConfig(latents=4, local=2, network=network)).eval()


def test_the_error_is_the_mean_over_all_pixels_of_all_images(model, monkeypatch):
    monkeypatch.setattr(protocol, "CHUNK", 7)
    task = data.one_view()[:10]
    total = []
    for row in range(10):
        context = task.context[[row]]
        for k, angle in enumerate(task.at[row]):
            image = model.generate(context.images, context.angles, angle.view(1, 1))
            difference = image.numpy().astype(float) - task.targets[row, k].numpy()
            total.append((difference**2).mean())
    assert protocol.task_mse(model, task) == pytest.approx(np.mean(total), rel=1e-5)


def test_samples_are_random_but_the_same_for_a_seed(model):
    task = data.extrapolation()[:8]
    drawn = [protocol.task_mse(model, task, sample=True, seed=seed) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] != protocol.task_mse(model, task)


def test_fixed_splits_are_scored_on_the_benchmark():
    tasks = protocol.benchmark_tasks(DataConfig("shuffled"))
    assert {name: (len(task), task.at.shape[1]) for name, task in tasks.items()} == {
        "test_mse": (270, 1),
        "extrapolation_mse": (40, 1),
        "one_view_mse": (40, 15),
    }
    _, test_ids = data.splits.shuffled_rows(3)
    assert sorted(tasks["test_mse"].context.ids.tolist()) == sorted(test_ids)
    for name in ("extrapolation_mse", "one_view_mse"):
        assert sorted(tasks[name].context.ids.tolist()) == list(range(360, 400))
    held_out = torch.tensor(np.radians(157.5))
    for name in ("test_mse", "extrapolation_mse"):
        task = tasks[name]
        assert torch.allclose(task.at, held_out)
        seen = task.context.angles[task.context.observed]
        assert (seen - held_out).abs().min() > 0.1
    assert list(protocol.benchmark_tasks(DataConfig(), new_digits=False)) == ["test_mse"]


def test_a_model_of_the_whole_circle_is_scored_on_the_test_file_only():
    tasks = protocol.benchmark_tasks(DataConfig("continuous", classes=(3, 7)))
    assert list(tasks) == ["extrapolation_mse", "one_view_mse"]
    upright = torch.from_numpy(data.unseen((3, 7)).images)
    assert torch.allclose(tasks["one_view_mse"].context.images[:, 0], upright, atol=1e-5)


def test_figures_that_a_model_cannot_be_asked_for_are_none(model):
    figures = protocol.evaluate(model, DataConfig("continuous", classes=(3,)))
    assert figures["test_mse"] is None
    assert figures["test_mse_sampled"] is None
    assert figures["one_view_mse"] > 0
    assert figures["digits"] == {"extrapolation_mse": 50, "one_view_mse": 50}
    assert figures["parameters"] == sum(p.numel() for p in model.parameters())


def test_what_a_model_was_trained_on_is_found_by_name_or_path(tmp_path):
    config = RunConfig(seed=5, data=DataConfig("shuffled", classes=(1, 2)))
    checkpoints.save_config(config, tmp_path)
    assert checkpoints.config_of(tmp_path) == config
    for name in checkpoints.pretrained_names():
        expected = checkpoints.shipped_config(name)
        assert checkpoints.config_of(name) == expected


def test_the_mean_image_is_the_mean_of_the_rotated_digits():
    upright = embedded((3, 8)).images[390:410]
    each = [
        np.mean([scipy_rotate(image.astype(float), d, reshape=False) for image in upright], axis=0)
        for d in (22.5, 157.5)
    ]
    np.testing.assert_allclose(baselines.mean_image(upright, ANGLES[[1, 7]]), each, atol=1e-6)


def test_trivial_predictors_have_the_verified_figures():
    """The figures of the benchmark: on digits 0..269, but for PCA on those of the shuffled split.

    (On digits 0..269 in-sample PCA has 0.0261 / 0.0177 / 0.0099.)
    """
    upright = embedded((3,)).images
    train = np.arange(360)
    first = baselines.trivial_predictors(upright, train, np.arange(270))
    assert round(first["zeros"], 3) == 0.119
    assert round(first["mean_image"], 4) == 0.0551
    assert round(first["mean_of_neighbours"], 4) == 0.0495
    assert round(first["rotated_neighbour"], 4) == 0.0005
    _, test_ids = data.splits.shuffled_rows(3)
    second = baselines.trivial_predictors(upright, train, test_ids)
    assert [round(second[f"pca_{C}"], 4) for C in (8, 16, 32)] == [0.0264, 0.0179, 0.0100]


def digits() -> data.Views:
    return data.task(data.embedded((3,))[:6], data.ANGLES, data.ANGLES[:1]).context


def small(**settings) -> FGPVAE:
    torch.manual_seed(0)
    network = NetworkConfig("dense", widths=(16,))
    return FGPVAE(FGPVAEConfig(latents=5, local=2, network=network, **settings)).eval()


def test_share_is_the_variance_between_digits_over_that_in_all():
    own, views = small(), digits()
    share = latents.gp_share(own, views)
    w = torch.arange(48, dtype=torch.float64) * (2 * math.pi / 48)
    curves = own.infer(views.images, views.angles).mean(w.expand(6, -1))[..., :2].double()
    between = sum(float(curves[:, s, j].var(correction=0)) for s in range(48) for j in range(2))
    total = sum(float(curves[..., j].flatten().var(correction=0)) for j in range(2))
    assert share == pytest.approx(between / 48 / total)
    assert 0 < share < 1


def test_digits_that_are_alike_or_follow_the_mean_alone_share_everything():
    views = digits()
    same = data.Views(
        *(each[:1].expand(6, *each.shape[1:]) for each in (views.images, views.angles)),
        views.observed,
        views.ids,
        views.labels,
    )
    assert latents.gp_share(small(), same) == pytest.approx(0, abs=1e-12)
    assert latents.gp_share(small(mean_function=True, amplitude=0.001), views) < 1e-3
    assert latents.gp_share(CVAE(ModelConfig()).eval(), views) is None
