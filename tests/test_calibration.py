import dataclasses

import numpy as np
import pytest
import torch

from fgpvae import data
from fgpvae.errors import UserError
from fgpvae.evaluation import calibration
from fgpvae.evaluation.protocol import BY_VIEWS, views_task
from fgpvae.models import FGPVAE, Calibration, FGPVAEConfig
from fgpvae.networks.standard import NetworkConfig
from fgpvae.runs.checkpoints import load_model, load_pretrained, save_model

KNOWN = Calibration(
    0.01, (1, 4, 16), (0.5, 0.6, 0.8), (1.5, 1.7, 2.1), (2.0, 0.1, 0.5), (3.0, 0.02)
)


def told() -> FGPVAE:
    torch.manual_seed(0)
    network = NetworkConfig("dense", widths=(32, 16), gated=True, harmonics=4)
    return FGPVAE(FGPVAEConfig(latents=8, local=3, mean_function=True, network=network)).eval()


def test_fitted_bands_hold_what_they_say():
    model, digits = told(), calibration.kept_back((3, 7))[::4]
    model.calibration = calibration.fit(model, digits)
    for views in BY_VIEWS:
        error, variance = calibration.residuals(model, views_task(digits, views))
        sd = np.sqrt(variance + model.calibration.pixel_variance)
        for level in (50, 90):
            held = np.mean(np.abs(error) <= model.calibration.band(level, views) * sd)
            assert held == pytest.approx(level / 100, abs=0.01)


def test_a_fitted_belief_gives_true_angles_no_less_than_chance():
    model, digits = told(), calibration.kept_back((3, 7))[::4]
    model.calibration = calibration.fit(model, digits)
    images, true = calibration.turned(digits, seed=1)
    grid = torch.arange(120, dtype=torch.float64) * (2 * torch.pi / 120)
    belief = model.orientation(images, grid)
    torch.testing.assert_close(belief.sum(-1), torch.ones(len(digits), dtype=torch.float64))
    nearest = (true / (2 * torch.pi) * 120).round().long() % 120
    likelihood = belief[torch.arange(len(digits)), nearest].log().mean()
    assert likelihood >= np.log(1 / 120) - 1e-6


def test_scores_of_angles_are_those_of_views_at_each_angle():
    model, digits = told(), data.embedded((3,))[:2]
    views = model.given(torch.from_numpy(digits.images)[:, None], torch.zeros(2, 1))
    grid = torch.tensor([0.0, 1.0, 4.0], dtype=torch.float64)
    error, divergence, _ = model.angle_scores(views, grid)
    for p in range(2):
        for g, w in enumerate(grid):
            at = w.view(1, 1)
            image = views.images[p : p + 1]
            made = model.generate(image, at, at)
            assert float(-error[p, g]) == pytest.approx(float((made - image).square().sum()), 1e-4)
            mean, var = model.infer(image, at).style()
            kl = torch.distributions.kl_divergence(
                torch.distributions.Normal(mean, var.sqrt()), torch.distributions.Normal(0, 1)
            )
            assert float(-divergence[p, g]) == pytest.approx(float(kl.sum()), 1e-4)


def test_fitted_doubt_is_the_error_of_pictures():
    """Errors that follow a line in the variance are stated as they are, at every size."""
    model, digits = told(), calibration.kept_back((3, 7))[::4]
    views = data.task(digits, data.ANGLES, data.ANGLES[:1]).context
    slope, floor = calibration.fit_doubt(model, views, (1, 4))
    for count in (1, 4):
        variance, error = calibration.picture_doubt(model, views, count)
        given = np.isnan(error).sum(1)
        assert (given == count).all()
        stated = np.nanmean(slope * variance + floor)
        assert stated == pytest.approx(np.nanmean(error), rel=0.1)


@pytest.mark.parametrize("name", ["best", "cubes", "paper", "wide"])
def test_every_shipped_model_that_states_a_doubt_is_calibrated(name):
    """More variance is more doubt, and none states less than it errs at best."""
    known = load_pretrained(name).calibration
    assert known is not None
    assert known.picture_sd(0.0) > 0.01
    assert known.picture_sd(0.02) >= known.picture_sd(0.001)


def test_a_calibration_is_kept_with_the_weights(tmp_path):
    model = told()
    model.calibration = KNOWN
    save_model(model, tmp_path / "model.safetensors")
    assert load_model(tmp_path / "model.safetensors").calibration == KNOWN


@pytest.mark.parametrize(
    "wrong", [{"half": (0.5,)}, {"pixel_variance": -1.0}, {"views": (0, 4, 16)}]
)
def test_a_calibration_that_cannot_be_is_refused(wrong):
    with pytest.raises(UserError):
        dataclasses.replace(KNOWN, **wrong)
