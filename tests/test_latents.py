"""What the Latents page computes, against numpy, scikit-learn and the model itself."""

import numpy as np
import pytest
import torch

from fgpvae.data import ANGLES
from fgpvae.data.collections import Digits, views_of
from fgpvae.errors import UserError
from fgpvae.evaluation import latents
from fgpvae.models import FGPVAE, MODELS, build
from fgpvae.networks.standard import NetworkConfig
from tests.configs import model_config

SMALL = NetworkConfig("dense", widths=(32, 16))


def model_of(name: str = "fgpvae", **settings):
    torch.manual_seed(0)
    return build(model_config(name, latents=7, local=3, network=SMALL, **settings)).eval()


def some_digits(new: bool):
    """Five threes and five eights at sixteen angles."""
    every = Digits((3, 8))
    return views_of([digit for label in (3, 8) for digit in every.subjects(new, label)[:5]])


@pytest.fixture(scope="module")
def views():
    return some_digits(new=True)


@pytest.fixture(scope="module")
def model() -> FGPVAE:
    return model_of()


def test_new_digits_are_not_taken_for_training_digits(views):
    known = some_digits(new=False)
    gp, amortised = (model_of(name, digit_rank=2) for name in ("gpvae", "gpvae-amortised"))
    for each in (gp, amortised):
        each.prepare(lambda: known)
        each.condition(lambda: known)
    assert redrawn(gp, known).isfinite().all()
    with pytest.raises(UserError, match="cannot take new digits"):
        redrawn(gp, views)
    without = amortised.generate(views.images, views.angles, views.angles, views.observed)
    assert torch.equal(redrawn(amortised, views), without)


def redrawn(model, views):
    return model.generate(views.images, views.angles, views.angles, views.observed, ids=views.ids)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "deep-svgp"])
def test_every_model_with_an_encoder_can_be_looked_into(name, views):
    model = model_of(name)
    mu, var = latents.encodings(model, views)
    assert mu.shape == var.shape == (10, 16, 7)
    assert (var > 0).all()
    covered = sorted(c for part in model.blocks.values() for c in range(part.start, part.stop))
    assert covered == list(range(7))
    assert (set(model.blocks) == {"local", "global"}) == (name == "fgpvae")


def test_a_style_is_the_product_of_what_the_views_say(model, views):
    mu, var = latents.encodings(model, views)
    # N(0, 1) times N(mu, var): precision 1 + Σ 1/var
    mean = (mu / var).sum(1) / (1 + (1 / var).sum(1))
    np.testing.assert_allclose(latents.own_styles(model, views), mean[:, 3:], atol=1e-9)


def test_projection_agrees_with_the_eigenvectors_of_the_covariance():
    rng = np.random.default_rng(0)
    z = rng.normal(size=(6, 16, 5)) * [5, 3, 1, 0.5, 0.1]
    found = latents.project(z)
    values, vectors = np.linalg.eigh(np.cov(z.reshape(-1, 5).T))
    np.testing.assert_allclose(found.shares, (values / values.sum())[::-1][:3], atol=1e-12)
    expected = (z.reshape(-1, 5) - z.reshape(-1, 5).mean(0)) @ vectors[:, ::-1][:, :3]
    np.testing.assert_allclose(np.abs(found.points.reshape(-1, 3)), np.abs(expected), atol=1e-9)


def test_the_plane_of_the_angle_shows_a_circle_where_pca_folds_the_curve():
    rng = np.random.default_rng(0)
    w = np.linspace(0, 2 * np.pi, 72, endpoint=False)
    harmonics = [f(k * w) * (0.7 if k == 1 else 1) for k in (1, 2, 3) for f in (np.sin, np.cos)]
    curve = np.stack(harmonics, 1) @ np.linalg.qr(rng.normal(size=(6, 6)))[0]
    z = np.repeat(curve[None], 4, 0) + 0.01 * rng.normal(size=(4, 72, 6))
    turned = {}
    for name, angles in (("pca", None), ("angle", w)):
        found = latents.project(z, angles=angles)
        np.testing.assert_allclose(found.onto(z), found.points, atol=1e-12)
        np.testing.assert_allclose(found.directions.T @ found.directions, np.eye(3), atol=1e-9)
        read = np.arctan2(-found.points[..., 0], found.points[..., 1])
        turned[name] = np.abs(np.angle(np.exp(1j * (read - w)))).max()
    assert turned["angle"] < np.radians(5)  # counter-clockwise from the top, as on the dial
    assert turned["pca"] > np.radians(60)


def test_paths_are_laid_over_points_by_one_affine_map():
    rng = np.random.default_rng(0)
    paths = rng.normal(size=(5, 9, 2))
    points = paths @ rng.normal(size=(2, 3)) + rng.normal(size=3)
    np.testing.assert_allclose(latents.laid_over(paths, points), points, atol=1e-12)


def test_product_starts_at_the_prior_and_ends_at_the_posterior(model, views):
    mu, var = (each[1][:, 3:] for each in latents.encodings(model, views))
    mean, sd = latents.product(mu, var)
    assert mean.shape == sd.shape == (17, 4)
    np.testing.assert_array_equal(mean[0], 0)
    np.testing.assert_array_equal(sd[0], 1)
    assert (np.diff(sd, axis=0) < 0).all()  # each view makes it surer
    for n in (1, 5, 16):
        precision = 1 + (1 / var[:n]).sum(0)
        np.testing.assert_allclose(sd[n] ** -2, precision, rtol=1e-9)
        np.testing.assert_allclose(mean[n], (mu[:n] / var[:n]).sum(0) / precision, atol=1e-9)


def test_traversal_moves_one_channel(model):
    code = np.linspace(-1, 1, 7)
    images = latents.traverse(model, code, [4, 6], np.array([-2.0, 0.5]))
    assert images.shape == (2, 2, 28, 28)
    moved = code.copy()
    moved[6] = 0.5
    expected = model.decode(torch.tensor(moved)).detach().numpy()
    np.testing.assert_allclose(images[1, 1], expected, atol=1e-6)
    assert np.abs(images[0, 0] - images[0, 1]).max() > 1e-5


def test_effect_of_a_channel_that_the_decoder_ignores_is_zero():
    model = model_of()
    linear = next(m for m in model.decoder.modules() if isinstance(m, torch.nn.Linear))
    with torch.no_grad():
        linear.weight[:, 5] = 0
    effects = latents.effects(model, np.zeros((2, 7)), range(7))
    assert effects[5] == 0
    assert (np.delete(effects, 5) > 0).all()


def test_channel_correlation_is_numpys():
    z = np.random.default_rng(2).normal(size=(5, 16, 4)).cumsum(-1)
    expected = np.corrcoef(z.reshape(-1, 4).T)
    np.testing.assert_allclose(latents.channel_correlation(z), expected, atol=1e-12)
    z[..., 2] = 7
    assert not latents.channel_correlation(z)[2].any()


def test_draws_from_the_prior_correlate_as_the_kernel_says():
    model = model_of(amplitude=0.4, length_scale=0.8, mean_function=True)
    w = torch.as_tensor(ANGLES)
    factor = torch.linalg.cholesky(model.kernel.gram(w, w) + 1e-10 * torch.eye(16)).detach()
    noise = np.random.default_rng(3).normal(size=(800, 3, 16))
    z = (noise @ factor.numpy().T).transpose(0, 2, 1)  # [P, Q, J]
    z = z + model.mean_function(w).detach().numpy()
    measured = latents.angle_correlation(latents.about_prior_mean(model, z))
    np.testing.assert_allclose(measured, latents.prior_gram(model), atol=0.08)


@pytest.mark.parametrize("name", ["fgpvae", "cvae"])
def test_styles_of_digits_have_the_mean_and_covariance_of_their_posteriors(name):
    model = model_of(name)
    views = Digits((3,)).training_views(count=20)
    assert views.images.shape == (20, 4, 28, 28)
    with torch.no_grad():
        own = model.infer(views.images, views.angles, views.observed).style()[0]
    own = own.double().numpy()
    found = latents.styles(latents.own_styles(model, views))
    np.testing.assert_allclose(found.mean, own.mean(0), atol=1e-6)
    np.testing.assert_allclose(found.factor.T @ found.factor, np.cov(own.T), atol=1e-6)
    random = np.random.default_rng(0)
    row = random.integers(len(own), size=40_000)
    drawn = found.draw(row, random.normal(size=(40_000, len(found.factor))))
    n, near, spread = len(own), latents.NEAR, np.sqrt(np.diag(np.cov(own.T)))
    share = (1 - near**2) * (n - 1) / n + near**2  # the rows are drawn from n, not fewer by one
    error = (np.cov(drawn.T) - share * np.cov(own.T)) / np.outer(spread, spread)
    assert np.abs(error).max() < 0.03
    # near the digit itself, drawn a little towards the mean
    first, own = (drawn[row == 0].mean(0) - found.mean) / spread, (own[0] - found.mean) / spread
    np.testing.assert_allclose(first, np.sqrt(1 - near**2) * own, atol=0.03)
