import numpy as np
import pytest
import torch

from fgpvae import checkpoints, data, evaluation, models
from fgpvae.configs import DataConfig, RunConfig
from fgpvae.models import FGPVAEConfig
from fgpvae.networks import NetworkConfig


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    network = NetworkConfig("dense", widths=(8,))
    return models.build(FGPVAEConfig(latents=4, local=2, network=network)).eval()


def test_the_error_is_the_mean_over_all_pixels_of_all_images(model, monkeypatch):
    monkeypatch.setattr(evaluation, "CHUNK", 7)
    task = data.one_view()[:10]
    total = []
    for row in range(10):
        context = task.context[[row]]
        for k, angle in enumerate(task.at[row]):
            image = model.generate(context.images, context.angles, angle.view(1, 1))
            difference = image.numpy().astype(float) - task.targets[row, k].numpy()
            total.append((difference**2).mean())
    assert evaluation.task_mse(model, task) == pytest.approx(np.mean(total), rel=1e-5)


def test_samples_are_random_but_the_same_for_a_seed(model):
    task = data.extrapolation()[:8]
    drawn = [evaluation.task_mse(model, task, sample=True, seed=seed) for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0] != evaluation.task_mse(model, task)


def test_fixed_splits_are_scored_on_the_benchmark():
    tasks = evaluation.protocol(DataConfig("shuffled"))
    assert {name: (len(task), task.at.shape[1]) for name, task in tasks.items()} == {
        "test_mse": (270, 1),
        "extrapolation_mse": (40, 1),
        "one_view_mse": (40, 15),
    }
    _, test_ids = data.shuffled_rows(3)
    assert sorted(tasks["test_mse"].context.ids.tolist()) == sorted(test_ids)
    for name in ("extrapolation_mse", "one_view_mse"):
        assert sorted(tasks[name].context.ids.tolist()) == list(range(360, 400))
    held_out = torch.tensor(np.radians(157.5))
    for name in ("test_mse", "extrapolation_mse"):
        task = tasks[name]
        assert torch.allclose(task.at, held_out)
        seen = task.context.angles[task.context.observed]
        assert (seen - held_out).abs().min() > 0.1
    assert list(evaluation.protocol(DataConfig(), new_digits=False)) == ["test_mse"]


def test_a_model_of_the_whole_circle_is_scored_on_the_test_file_only():
    tasks = evaluation.protocol(DataConfig("continuous", classes=(3, 7)))
    assert list(tasks) == ["extrapolation_mse", "one_view_mse"]
    upright = torch.from_numpy(data.unseen((3, 7)).images)
    assert torch.allclose(tasks["one_view_mse"].context.images[:, 0], upright, atol=1e-5)


def test_figures_that_a_model_cannot_be_asked_for_are_none(model):
    figures = evaluation.evaluate(model, DataConfig("continuous", classes=(3,)))
    assert figures["test_mse"] is None
    assert figures["test_mse_sampled"] is None
    assert figures["one_view_mse"] > 0
    assert figures["digits"] == {"extrapolation_mse": 50, "one_view_mse": 50}
    assert figures["parameters"] == sum(p.numel() for p in model.parameters())


def test_what_a_model_was_trained_on_is_found_by_name_or_path(tmp_path):
    config = RunConfig(seed=5, data=DataConfig("shuffled", classes=(1, 2)))
    checkpoints.save_config(config, tmp_path)
    assert evaluation.config_of(tmp_path) == config
    for name in checkpoints.pretrained_names():
        expected = checkpoints.shipped_config(name)
        assert evaluation.config_of(name) == expected
